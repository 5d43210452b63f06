#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/memory_shared.h"
#include "base/size.h"
#include "core/backend.h"
#include "integrate/integrate_fns.h"
#include "integrate/pose.h"

#define PI 3.14159265358979323846

struct make {
    const airy_integrator_params *params;
    struct airy_pose pose;
    size_t width;
    float *norm;
    uint8_t *valid;
    struct airy_losses *losses; /* one a row */
};

static void correct_row(void *arg, size_t y, unsigned worker)
{
    const struct make *c = arg;
    const airy_integrator_params *p = c->params;
    const size_t w = c->width, first = y * w;
    (void)worker;
    struct airy_losses losses = {0};
    enum { PIECE = 512 };
    for (size_t x = 0; x < w; x += PIECE) {
        const size_t n = airy_min_size(PIECE, w - x);
        double angle[PIECE], polarization[PIECE], efficiency[PIECE];
        if (!p->no_solid_angle || c->pose.corners)
            airy_pose_solid_angle(&c->pose, (double)y + 0.5, (double)x + 0.5, n, angle);
        if (p->has_polarization)
            airy_pose_polarization(&c->pose, p->polarization,
                                   p->polarization_offset_deg * (PI / 180), (double)y + 0.5,
                                   (double)x + 0.5, n, polarization);
        if (p->sensor_efficiency)
            airy_pose_efficiency(&c->pose, (double)y + 0.5, (double)x + 0.5, n, efficiency);
        for (size_t k = 0; k < n; k++) {
            const size_t i = first + x + k;
            double norm = p->normalization;
            norm *= p->sensor_efficiency ? efficiency[k] : 1;
            norm *= p->no_solid_angle ? 1 : angle[k];
            norm *= p->has_polarization ? polarization[k] : 1;
            norm *= p->flat ? p->flat[i] : 1;
            norm *= p->absorption ? p->absorption[i] : 1;
            const float f = (float)norm;
            const bool finite = isfinite(f) && (!c->pose.corners || isfinite(angle[k])) &&
                                (!p->dark || isfinite(p->dark[i])) &&
                                (!p->variance || isfinite(p->variance[i]));
            const bool masked = p->mask && p->mask[i];
            losses.masked += masked;
            losses.not_finite += !masked && !finite;
            losses.zero += !masked && finite && f == 0;
            c->valid[i] = !masked && finite && f != 0;
            c->norm[i] = c->valid[i] ? f : 0;
        }
    }
    c->losses[y] = losses;
}

airy_status airy_corrections_count(airy_integrator *it, const struct airy_losses *losses)
{
    it->not_finite_pixels = losses->not_finite;
    it->valid_pixels = it->pixels - losses->masked - losses->not_finite - losses->zero;
    AIRY_FAIL_IF(it->valid_pixels == 0, AIRY_ERR_PARAM,
                 "no valid pixel left of %zu: %zu are masked, %zu have a dark, flat, absorption or "
                 "variance that is not finite, "
                 "%zu have a normalization of 0",
                 it->pixels, losses->masked, losses->not_finite, losses->zero);
    return AIRY_OK;
}

void airy_corrections_warn(const airy_integrator *it)
{
    if (it->not_finite_pixels > 0)
        airy_log(AIRY_LOG_WARN,
                 "%zu pixels are left out: their dark, flat, absorption or variance is not finite",
                 it->not_finite_pixels);
}

/*
 * A copy of a correction image with 0 where the pixel does not count, so that no NaN gets into a
 * sum.
 */
static airy_status copy_valid(float **copy, const float *values, const airy_integrator *it)
{
    if (!values)
        return AIRY_OK;
    AIRY_TRY(airy_memory_alloc((void **)copy, it->pixels * sizeof **copy));
    for (size_t i = 0; i < it->pixels; i++)
        (*copy)[i] = it->valid[i] ? values[i] : 0;
    return AIRY_OK;
}

airy_status airy_corrections_make(airy_integrator *it, const airy_integrator_params *params)
{
    const uint64_t start = airy_clock_ns();
    struct make c = {.params = params, .width = it->width};
    airy_pool *pool = it->device->pool;
    AIRY_TRY(airy_memory_alloc_shared((void **)&it->norm, it->pixels * sizeof *it->norm, pool));
    AIRY_TRY(airy_memory_alloc_shared((void **)&it->valid, it->pixels, pool));
    AIRY_TRY(
        airy_memory_calloc((void **)&c.losses, it->height, sizeof *c.losses, "the corrections"));
    c.norm = it->norm;
    c.valid = it->valid;
    airy_pose_make(&c.pose, &it->geometry);
    c.pose.cosines = params->compat == AIRY_COMPAT_PYFAI;
    airy_pool_run(pool, it->height, correct_row, &c);
    struct airy_losses sum = {0};
    for (size_t y = 0; y < it->height; y++) {
        sum.masked += c.losses[y].masked;
        sum.not_finite += c.losses[y].not_finite;
        sum.zero += c.losses[y].zero;
    }
    free(c.losses);
    AIRY_TRY(airy_corrections_count(it, &sum));
    AIRY_TRY(copy_valid(&it->dark, params->dark, it));
    AIRY_TRY(copy_valid(&it->variance, params->variance, it));
    it->times.corrections = (double)(airy_clock_ns() - start) * 1e-9;
    return AIRY_OK;
}

struct marking {
    const float *norm;
    uint8_t *valid;
    size_t width;
};

static void mark_row(void *arg, size_t y, unsigned worker)
{
    const struct marking *m = arg;
    (void)worker;
    for (size_t i = y * m->width; i < (y + 1) * m->width; i++)
        m->valid[i] = m->norm[i] != 0;
}

airy_status airy_corrections_take(struct airy_corrections *c, const airy_integrator *it)
{
    *c = (struct airy_corrections){.norm = it->norm, .dark = it->dark, .valid = it->valid};
    if (it->norm)
        return AIRY_OK;
    airy_pool *pool = it->device->pool;
    const size_t size = it->pixels * sizeof *c->norm;
    airy_status status;
    c->own = true;
    AIRY_TRY_OR(out, airy_memory_alloc_shared((void **)&c->norm, size, pool));
    AIRY_TRY_OR(out, airy_memory_alloc_shared((void **)&c->valid, it->pixels, pool));
    if (it->has_dark)
        AIRY_TRY_OR(out, airy_memory_alloc_shared((void **)&c->dark, size, pool));
    AIRY_TRY_OR(out, it->device->backend->integrate->pull_corrections(it, c->norm, c->dark));
    airy_pool_run(pool, it->height, mark_row, &(struct marking){c->norm, c->valid, it->width});
out:
    if (status != AIRY_OK)
        airy_corrections_release(c);
    return status;
}

void airy_corrections_release(struct airy_corrections *c)
{
    if (c->own) {
        airy_memory_release(c->norm);
        airy_memory_release(c->dark);
        airy_memory_release(c->valid);
    }
    *c = (struct airy_corrections){.norm = NULL};
}
