#include "integrate/integrator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"
#include "integrate/integrate_fns.h"

/* Of clipping, and those when none are given. */
#define MAX_CYCLES     1000u
#define DEFAULT_CYCLES 5u

static airy_status make_weights(airy_integrator *it)
{
    struct airy_matrix *m = &it->matrix;
    if (!it->params.unweighted) {
        it->weight = m->coef;
        return AIRY_OK;
    }
    AIRY_TRY(airy_memory_alloc((void **)&it->weight, m->entries * sizeof *it->weight));
    for (size_t i = 0; i < m->pixels; i++) {
        for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++)
            it->weight[e] = (float)((double)m->coef[e] / it->norm[i]);
        it->norm[i] = it->valid[i] ? 1 : 0;
    }
    return AIRY_OK;
}

static airy_status check_rings(const airy_integrator_params *p)
{
    const double lower = p->quantile[0], upper = p->quantile[1];
    AIRY_FAIL_IF(p->has_clip && p->has_quantile, AIRY_ERR_PARAM,
                 "clip and quantile are given, expected one of them");
    AIRY_FAIL_ON_IF(p->has_clip && !(p->clip_threshold >= 0 && isfinite(p->clip_threshold)),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %g, expected a finite value >= 0",
                    "clip_threshold", p->clip_threshold);
    AIRY_FAIL_ON_IF(p->has_clip && p->clip_cycles > MAX_CYCLES, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %u, expected <= %u", "clip_cycles",
                    p->clip_cycles, MAX_CYCLES);
    AIRY_FAIL_ON_IF(p->has_quantile && !(lower >= 0 && lower <= upper && upper <= 1),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g to %g, expected 0 <= lower <= upper <= 1", "quantile", lower, upper);
    AIRY_FAIL_IF(p->error_model == AIRY_ERROR_MODEL_HYBRID && !p->has_clip, AIRY_ERR_PARAM,
                 "error model 'hybrid' is azimuthal while clipping and poisson after it, and no "
                 "clipping is asked for: use poisson");
    return AIRY_OK;
}

static airy_status check_values(const airy_integrator_params *p)
{
    AIRY_FAIL_ON_IF((unsigned)p->split >= AIRY_SPLIT_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "split", (int)p->split, AIRY_SPLIT_COUNT - 1);
    AIRY_FAIL_ON_IF((unsigned)p->method >= AIRY_METHOD_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 to %d", "method", (int)p->method,
                    AIRY_METHOD_COUNT - 1);
    AIRY_FAIL_ON_IF((unsigned)p->error_model >= AIRY_ERROR_MODEL_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 to %d", "error_model",
                    (int)p->error_model, AIRY_ERROR_MODEL_COUNT - 1);
    AIRY_FAIL_ON_IF((unsigned)p->compat > AIRY_COMPAT_PYFAI, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 or 1", "compat", (int)p->compat);
    AIRY_FAIL_ON_IF((p->error_model == AIRY_ERROR_MODEL_VARIANCE) != (p->variance != NULL),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s '%s' %s", "error model",
                    airy_error_model_name(p->error_model),
                    p->variance ? "takes no variance image" : "needs a variance image");
    AIRY_FAIL_ON_IF(!isfinite(p->normalization), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected a finite value", "normalization", p->normalization);
    AIRY_FAIL_IF(p->has_polarization && !(fabs(p->polarization) <= 1), AIRY_ERR_PARAM,
                 "polarization factor = %g, expected -1 to 1", p->polarization);
    AIRY_FAIL_IF(p->has_polarization && !(fabs(p->polarization_offset_deg) <= 3600), AIRY_ERR_PARAM,
                 "polarization offset = %g deg, expected -3600 to 3600",
                 p->polarization_offset_deg);
    AIRY_FAIL_ON_IF(p->has_dummy && !(p->delta_dummy >= 0 && isfinite(p->delta_dummy)),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %g, expected >= 0", "delta_dummy",
                    p->delta_dummy);
    AIRY_TRY(check_rings(p));
    AIRY_FAIL_IF(p->has_saturation && isnan(p->saturation), AIRY_ERR_PARAM,
                 "saturation is not a number");
    return AIRY_OK;
}

static void set_defaults(airy_integrator_params *p)
{
    if (p->bins == 0)
        p->bins = 1000;
    if (p->normalization == 0)
        p->normalization = 1;
    p->azimuth_unit = airy_azimuth_unit(p->azimuth_unit);
    if (!p->has_empty) {
        p->has_empty = true;
        p->empty = p->compat == AIRY_COMPAT_PYFAI ? 0 : NAN;
    }
    if (p->clip_cycles == 0)
        p->clip_cycles = DEFAULT_CYCLES;
}

static airy_ring_rule ring_rule(const airy_integrator_params *p)
{
    static const airy_u32 plane[AIRY_ERROR_MODEL_COUNT] = {
        [AIRY_ERROR_MODEL_NONE] = AIRY_RING_ZERO,
        [AIRY_ERROR_MODEL_POISSON] = AIRY_RING_POISSON,
        [AIRY_ERROR_MODEL_AZIMUTHAL] = AIRY_RING_SPREAD,
        [AIRY_ERROR_MODEL_VARIANCE] = AIRY_RING_GIVEN,
        [AIRY_ERROR_MODEL_HYBRID] = AIRY_RING_POISSON};
    const bool by_spread = p->error_model == AIRY_ERROR_MODEL_NONE ||
                           p->error_model == AIRY_ERROR_MODEL_HYBRID;
    return (airy_ring_rule){.kind = p->has_clip       ? AIRY_RING_CLIP
                                    : p->has_quantile ? AIRY_RING_QUANTILE
                                                      : AIRY_RING_NONE,
                            .threshold = p->clip_threshold,
                            .quantile = {p->quantile[0], p->quantile[1]},
                            .cycles = p->clip_cycles,
                            .clips_by = by_spread ? AIRY_RING_SPREAD : plane[p->error_model],
                            .leaves = plane[p->error_model],
                            .compat = p->compat == AIRY_COMPAT_PYFAI};
}

static airy_status make_axis(double **centers, size_t bins, double lower, double upper)
{
    AIRY_TRY(airy_memory_calloc((void **)centers, bins, sizeof **centers, "an axis"));
    const double delta = (upper - lower) / (double)bins;
    for (size_t b = 0; b < bins; b++)
        (*centers)[b] = lower + ((double)b + 0.5) * delta;
    return AIRY_OK;
}

static airy_status make_axes(airy_integrator *it)
{
    const struct airy_matrix_limits *l = &it->limits;
    AIRY_TRY(make_axis(&it->radial, it->params.bins, l->lower, l->upper));
    return it->params.azimuth_bins == 0 ? AIRY_OK
                                        : make_axis(&it->azimuth, it->params.azimuth_bins,
                                                    l->azimuth_lower, l->azimuth_upper);
}

/* As long as the integrator lives. */
static uint64_t host_bytes(const airy_integrator *it)
{
    const struct airy_matrix *m = &it->matrix;
    uint64_t bytes = 0;
    if (m->start)
        bytes += (m->pixels + 1) * sizeof *m->start +
                 m->entries * (sizeof *m->bin + sizeof *m->coef);
    if (m->row)
        bytes += (m->bins + 1) * sizeof *m->row +
                 m->entries * (sizeof *m->pixel + sizeof *m->entry);
    if (it->weight != m->coef)
        bytes += m->entries * sizeof *it->weight;
    bytes += it->pixels *
             ((it->norm ? sizeof *it->norm : 0) + (it->valid ? 1 : 0) +
              (it->dark ? sizeof *it->dark : 0) + (it->variance ? sizeof *it->variance : 0));
    bytes += it->bins * ((2 * AIRY_BASE_PLANES + 1) * sizeof(double) + sizeof *it->base_entries);
    return bytes;
}

/*
 * The CPU has one memory: what is kept on the host, too, counts against the limit. bytes: of all of
 * it, or what it takes at least.
 */
static airy_status book(airy_integrator *it, uint64_t bytes, bool all)
{
    airy_device *device = it->device;
    if (!device->backend->in_place)
        return AIRY_OK;
    if (airy_device_book(device, bytes - it->booked, "the matrix") == AIRY_OK) {
        it->booked = bytes;
        return AIRY_OK;
    }
    airy_memory_info memory;
    AIRY_TRY(airy_device_memory(device, &memory));
    return airy_fail_on(
        AIRY_ERR_MEMORY, AIRY_SUBJECT_DEVICE,
        "out of memory on %s for the matrix of %zu bins and %zu x %zu pixels: it needs "
        "%s%llu bytes, limit %llu, in use %llu",
        device->info.spec, it->bins, it->height, it->width, all ? "" : "more than ",
        (unsigned long long)bytes, (unsigned long long)memory.limit,
        (unsigned long long)(memory.in_use + memory.host_in_use - it->booked));
}

/* What there is of it whatever the pixels hit: seconds of work that cannot fit are not begun. */
static airy_status book_least(airy_integrator *it)
{
    return book(it, it->pixels * (sizeof *it->matrix.start + sizeof *it->norm + 1), false);
}

/*
 * Where the limit is the user's, who wants to know how much there must be, all is booked at the
 * end: tables of the back end take less than there was while the matrix was made.
 */
static airy_status book_matrix(airy_integrator *it)
{
    return it->device->params.memory_limit ? AIRY_OK : book(it, host_bytes(it), false);
}

/*
 * split: by the back end, which then has made corrections and base sums, too. What the host then
 * needs of the corrections is had by airy_corrections_take.
 */
static airy_status make_matrix(airy_integrator *it, const airy_integrator_params *params,
                               bool *split)
{
    const struct airy_integrate_fns *fns = it->device->backend->integrate;
    if (fns->split) {
        AIRY_TRY(airy_matrix_plan(&it->rule, &it->geometry, params));
        AIRY_TRY(fns->split(it, params, split));
    }
    if (*split)
        return AIRY_OK;
    it->rule = (struct airy_split_rule){0};
    if (!it->norm)
        AIRY_TRY(airy_corrections_make(it, params));
    return airy_matrix_build(&it->matrix, &it->limits, &it->geometry, params, it->valid,
                             it->device->pool);
}

static airy_status fill_integrator(airy_integrator *it, const airy_integrator_params *params)
{
    const uint64_t start = airy_clock_ns();
    struct airy_setup_times *times = &it->times;
    bool split = false;
    AIRY_TRY(book_least(it));
    AIRY_TRY(make_matrix(it, params, &split));
    airy_corrections_warn(it);
    AIRY_FAIL_IF(it->matrix.entries == 0, AIRY_ERR_PARAM,
                 "no valid pixel left: none of %zu lies in the range (radial %g to %g %s%s)",
                 it->valid_pixels, it->limits.lower, it->limits.upper, airy_unit_name(params->unit),
                 params->has_azimuth_range ? ", and the azimuth range" : "");
    const uint64_t built = airy_clock_ns();
    if (!split) {
        AIRY_TRY(make_weights(it));
        AIRY_TRY(book_matrix(it));
        AIRY_TRY(airy_base_sums_make(it));
    }
    AIRY_TRY(make_axes(it));
    const uint64_t summed = airy_clock_ns();
    it->params.mask = NULL;
    it->params.dark = it->params.flat = it->params.absorption = it->params.variance = NULL;
    it->geometry.detector.corners = NULL;
    it->geometry.detector.bad = NULL;
    it->engine = it->device->backend->name;
    AIRY_TRY(it->device->backend->integrate->prepare(it));
    AIRY_TRY(book(it, host_bytes(it) + it->state_bytes, true));
    times->matrix = (double)(built - start) * 1e-9 - times->corrections;
    times->sums = (double)(summed - built) * 1e-9;
    times->tables = (double)(airy_clock_ns() - summed) * 1e-9;
    airy_log(AIRY_LOG_DEBUG,
             "integrator: corrections %.1f ms, matrix %.1f ms, sums %.1f ms, on the device %.1f ms",
             1e3 * times->corrections, 1e3 * times->matrix, 1e3 * times->sums, 1e3 * times->tables);
    return AIRY_OK;
}

airy_status airy_integrator_create(airy_integrator **integrator, airy_device *device,
                                   const airy_geometry *geometry,
                                   const airy_integrator_params *params)
{
    AIRY_FAIL_IF(!integrator, AIRY_ERR_PARAM, "airy_integrator_create: integrator is NULL");
    AIRY_FAIL_IF(!device, AIRY_ERR_PARAM, "airy_integrator_create: device is NULL");
    AIRY_FAIL_IF(!geometry, AIRY_ERR_PARAM, "airy_integrator_create: geometry is NULL");
    airy_integrator_params p = params ? *params : (airy_integrator_params){0};
    airy_geometry prepared;
    AIRY_TRY(airy_geometry_prepare(&prepared, geometry, p.sensor_efficiency));
    AIRY_TRY(check_values(&p));
    set_defaults(&p);
    const size_t h = geometry->detector.height, w = geometry->detector.width;
    AIRY_FAIL_IF(h > UINT32_MAX / w, AIRY_ERR_SHAPE,
                 "detector of %zu x %zu pixels, expected fewer than 2^32 pixels", h, w);
    const struct airy_integrate_fns *fns = device->backend->integrate;
    AIRY_FAIL_IF(!fns || !fns->prepare || !fns->integrate, AIRY_ERR_UNSUPPORTED,
                 "back end '%s' does not implement integrate", device->backend->name);
    AIRY_FAIL_IF((p.has_clip || p.has_quantile) && !fns->rings, AIRY_ERR_UNSUPPORTED,
                 "back end '%s' does not implement %s by bin", device->backend->name,
                 p.has_clip ? "sigma clipping" : "quantiles");
    AIRY_FAIL_ON_IF(!device->info.fp64, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DEVICE,
                    "device '%s' has no double precision, which integration needs",
                    device->info.spec);
    airy_integrator *it = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&it, 1, sizeof *it, "the integrator"));
    *it = (airy_integrator){.device = device,
                            .geometry = prepared,
                            .params = p,
                            .ring = ring_rule(&p),
                            .height = h,
                            .width = w,
                            .pixels = h * w,
                            .bins = p.bins * (p.azimuth_bins ? p.azimuth_bins : 1),
                            .has_dark = p.dark != NULL};
    airy_integrator_put_fingerprint(&it->fingerprint, it);
    const airy_status status = fill_integrator(it, &p);
    if (status != AIRY_OK) {
        airy_integrator_destroy(&it);
        return airy_hint_becomes(
            AIRY_HINT_MEMORY, p.split == AIRY_SPLIT_NO ? AIRY_HINT_BINS : AIRY_HINT_MATRIX, status);
    }
    *integrator = it;
    return AIRY_OK;
}

void airy_integrator_destroy(airy_integrator **integrator)
{
    airy_integrator *it = integrator ? *integrator : NULL;
    if (!it)
        return;
    if (it->state && it->device->backend->integrate->release)
        it->device->backend->integrate->release(it);
    airy_device_unbook(it->device, it->booked);
    if (it->weight != it->matrix.coef)
        airy_memory_release(it->weight);
    airy_matrix_free(&it->matrix);
    airy_memory_release(it->norm);
    airy_memory_release(it->dark);
    airy_memory_release(it->variance);
    airy_memory_release(it->valid);
    free(it->base_normalization);
    free(it->base_entries);
    free(it->radial);
    free(it->azimuth);
    free(it);
    *integrator = NULL;
}

airy_status airy_integrator_matrix(struct airy_matrix *matrix, const airy_integrator *it)
{
    struct airy_corrections c;
    AIRY_TRY(airy_corrections_take(&c, it));
    const airy_status status =
        airy_matrix_fill(matrix, &it->rule, it->height, c.valid, it->device->pool);
    airy_corrections_release(&c);
    return status;
}

size_t airy_integrator_bins(const airy_integrator *integrator)
{
    return integrator ? integrator->bins : 0;
}

const double *airy_integrator_azimuth(const airy_integrator *integrator)
{
    return integrator ? integrator->azimuth : NULL;
}

const double *airy_integrator_radial(const airy_integrator *integrator)
{
    return integrator ? integrator->radial : NULL;
}

airy_status airy_integrator_get_info(const airy_integrator *integrator, airy_integrator_info *info)
{
    AIRY_FAIL_IF(!integrator, AIRY_ERR_PARAM, "airy_integrator_get_info: integrator is NULL");
    AIRY_FAIL_IF(!info, AIRY_ERR_PARAM, "airy_integrator_get_info: info is NULL");
    const airy_integrator *it = integrator;
    *info = (airy_integrator_info){
        .pixels = it->pixels,
        .valid_pixels = it->valid_pixels,
        .entries = it->matrix.entries,
        .bins = it->bins,
        .host_bytes = host_bytes(it),
        .device_bytes = it->state_bytes,
        .lower = it->limits.lower,
        .upper = it->limits.upper,
        .engine = it->engine,
        .radial_bins = it->params.bins,
        .azimuth_bins = it->params.azimuth_bins,
        .azimuth_lower = it->limits.azimuth_lower,
        .azimuth_upper = it->limits.azimuth_upper,
        .azimuth_unit = it->params.azimuth_unit,
        .corrections_seconds = it->times.corrections,
        .matrix_seconds = it->times.matrix,
        .sums_seconds = it->times.sums,
        .tables_seconds = it->times.tables,
    };
    return AIRY_OK;
}

bool airy_integrators_agree(const airy_integrator *a, const airy_integrator *b)
{
    return a == b || (a->height == b->height && a->width == b->width && a->bins == b->bins &&
                      a->params.azimuth_unit == b->params.azimuth_unit &&
                      a->params.azimuth_bins == b->params.azimuth_bins &&
                      strcmp(a->fingerprint.text, b->fingerprint.text) == 0 &&
                      memcmp(a->radial, b->radial, a->params.bins * sizeof(double)) == 0 &&
                      (!a->azimuth || memcmp(a->azimuth, b->azimuth,
                                             a->params.azimuth_bins * sizeof(double)) == 0));
}
