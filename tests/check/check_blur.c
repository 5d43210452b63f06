/* What a blur keeps to the last bit. */
#include <string.h>

#include "airy/filter.h"
#include "check_filter.h"
#include "core/backend.h"
#include "opencl/cl_device.h"

/*
 * A blur of `from` to `to`; local: bytes of local memory that OpenCL may use, 0: all that there are.
 */
struct constant {
    size_t n[3];
    double sigma[3];
    airy_dtype from, to;
    uint64_t local;
};

/* Elements that a result looks at on either side along an axis. */
static size_t blur_reach(double sigma)
{
    return (size_t)(4 * sigma + 0.5);
}

/*
 * Blur noise in which the elements from `start` on are `value`, and count the results that look at
 * these alone and are something else.
 */
static size_t count_other(struct check *c, const struct constant *t, const size_t start[3],
                          double value, airy_border border)
{
    const size_t count = t->n[0] * t->n[1] * t->n[2], size = count * airy_dtype_size(t->to);
    void *x = check_alloc(c, count * airy_dtype_size(t->from)), *y = check_alloc(c, size);
    check_rand(c, x, t->from, count, t->from == AIRY_DTYPE_U16 ? 0 : -100, 100);
    for (size_t i = 0; i < count; i++)
        if (i / t->n[2] / t->n[1] >= start[0] && i / t->n[2] % t->n[1] >= start[1] &&
            i % t->n[2] >= start[2])
            check_put(x, t->from, i, value);
    if (t->from == AIRY_DTYPE_F32)
        value = (double)(float)value;
    airy_array *src = check_upload(c, t->from, 3, t->n, x), *dst = check_output(c, t->to, 3, t->n);
    const airy_blur_params params = {.sigma = {t->sigma[0], t->sigma[1], t->sigma[2]},
                                     .has_border = true,
                                     .border = border,
                                     .border_value = value};
    if (!CHECK_OK(c, airy_gaussian_blur(c->queue, dst, src, &params)) ||
        !CHECK_OK(c, airy_array_pull(c->queue, y, size, dst)) ||
        !CHECK_OK(c, airy_queue_finish(c->queue)))
        return count;
    size_t other = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at[3] = {i / t->n[2] / t->n[1], i / t->n[2] % t->n[1], i % t->n[2]};
        bool alone = true;
        for (int axis = 0; axis < 3; axis++)
            alone = alone &&
                    (start[axis] == 0 || at[axis] >= start[axis] + blur_reach(t->sigma[axis]));
        other += alone &&
                 (t->to == AIRY_DTYPE_F32 ? (double)((float *)y)[i] : ((double *)y)[i]) != value;
    }
    return other;
}

/* A blur keeps a constant to the last bit, and so does each result that looks at equal elements alone. */
static void check_keeps(struct check *c, const struct constant *t)
{
    static const double values[] = {0.1, 1 / 3., 1e-30, 3e38, 123456.789, 1e-40, -7.3, 65537},
                        integers[] = {1, 3, 7, 1000, 12345, 65535, 41, 641};
    for (int k = 0; k < 8; k++) {
        const double value = t->from == AIRY_DTYPE_U16 ? integers[k] : values[k];
        size_t start[3] = {0}, other = 0;
        for (int border = 0; border < AIRY_BORDER_COUNT; border++)
            if (border != AIRY_BORDER_ZERO && (border + k) % 2 == 0)
                other += count_other(c, t, start, value, (airy_border)border);
        for (int axis = 0; axis < 3; axis++)
            start[axis] = (k + axis) % 3 ? 0 : t->n[axis] / 2;
        other += count_other(c, t, start, value, AIRY_BORDER_REFLECT);
        CHECK(c, other == 0);
    }
}

/* Blur an image whose elements are those of `profile` along an axis. alone: along this axis alone. */
static bool blur_profile(struct check *c, const struct constant *t, void *result, int axis,
                         const double *profile, bool alone)
{
    const size_t count = t->n[0] * t->n[1] * t->n[2];
    void *x = check_alloc(c, count * airy_dtype_size(t->from));
    airy_blur_params params = {.sigma = {t->sigma[0], t->sigma[1], t->sigma[2]}};
    for (size_t i = 0; i < count; i++) {
        const size_t at[3] = {i / t->n[2] / t->n[1], i / t->n[2] % t->n[1], i % t->n[2]};
        check_put(x, t->from, i, profile[at[axis]]);
    }
    for (int i = 0; i < 3 && alone; i++)
        params.sigma[i] = i == axis ? t->sigma[i] : 0;
    airy_array *src = check_upload(c, t->from, 3, t->n, x), *dst = check_output(c, t->to, 3, t->n);
    return CHECK_OK(c, airy_gaussian_blur(c->queue, dst, src, &params)) &&
           CHECK_OK(c, airy_array_pull(c->queue, result, count * airy_dtype_size(t->to), dst)) &&
           CHECK_OK(c, airy_queue_finish(c->queue));
}

/*
 * A blur along axes on which an image is constant changes no bit, whether or not there are runs of
 * equal elements elsewhere: here in the last quarter of the other axis, where results may differ.
 */
static void check_local(struct check *c, const struct constant *t)
{
    const size_t count = t->n[0] * t->n[1] * t->n[2], elem = airy_dtype_size(t->to);
    char *want = check_alloc(c, count * elem), *got = check_alloc(c, count * elem),
         *far = check_alloc(c, count * elem);
    for (int axis = 0; axis < 3; axis++) {
        const size_t n = t->n[axis], end = n - n / 4, reach = blur_reach(t->sigma[axis]);
        double *profile = check_alloc(c, n * sizeof(double));
        check_rand(c, profile, AIRY_DTYPE_F64, n, 0, 30000);
        if (t->sigma[axis] == 0 || !blur_profile(c, t, want, axis, profile, true) ||
            !blur_profile(c, t, got, axis, profile, false))
            continue;
        for (size_t i = end; i < n; i++)
            profile[i] = 7;
        if (!blur_profile(c, t, far, axis, profile, false))
            continue;
        size_t other = 0, changed = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t at[3] = {i / t->n[2] / t->n[1], i / t->n[2] % t->n[1], i % t->n[2]};
            other += memcmp(got + i * elem, want + i * elem, elem) != 0;
            changed += at[axis] + reach < end && memcmp(far + i * elem, got + i * elem, elem) != 0;
        }
        CHECK(c, other == 0);
        CHECK(c, changed == 0);
    }
}

/*
 * A check of blurs, with OpenCL by the kernels for few results and by those for many, as of a device
 * of one unit.
 */
static void check_blur_kernels(struct check *c, const struct constant *t, const char *name,
                               void (*fn)(struct check *, const struct constant *))
{
    if (!check_case(c, "blur_%s_%s_%s_%zux%zux%zu_%g_%g_%g", name, airy_dtype_name(t->from),
                    airy_dtype_name(t->to), t->n[0], t->n[1], t->n[2], t->sigma[0], t->sigma[1],
                    t->sigma[2]))
        return;
    struct airy_cl_device *device = c->is_cpu ? NULL : airy_cl_device(c->device);
    const struct airy_device_info info = c->device->info;
    const size_t results = device ? device->exact_results : 0;
    if (device && t->local)
        c->device->info.local_mem = t->local;
    for (int many = 0; many < (device ? 2 : 1); many++) {
        if (device) {
            device->exact_results = many ? 1 : SIZE_MAX;
            c->device->info.units = 1;
        }
        fn(c, t);
    }
    c->device->info = info;
    if (device)
        device->exact_results = results;
}

void check_blur_constants(struct check *c)
{
    static const struct constant cases[] = {
        /* convolve_tile, high and low; convolve_xy */
        {{1, 50, 212}, {0, 1, 1}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        {{1, 150, 212}, {0, 0.3, 1.8}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        /* convolve_slide */
        {{1, 50, 211}, {0, 1, 1}, AIRY_DTYPE_U16, AIRY_DTYPE_F32, 0},
        {{1, 60, 301}, {0, 0.3, 5}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        /* convolve_xy */
        {{1, 50, 211}, {0, 0.3, 7}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        {{1, 50, 211}, {0, 3, 0.3}, AIRY_DTYPE_U16, AIRY_DTYPE_F64, 0},
        /* convolve_x */
        {{1, 4, 900}, {0, 0, 3}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        {{1, 4, 900}, {0, 0, 0.3}, AIRY_DTYPE_F64, AIRY_DTYPE_F64, 0},
        /* convolve_quads, convolve_march */
        {{1, 60, 300}, {0, 2, 0}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        {{1, 60, 300}, {0, 0.3, 0}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        {{1, 60, 300}, {0, 1.5, 0}, AIRY_DTYPE_F64, AIRY_DTYPE_F64, 0},
        /* convolve_quads_x */
        {{1, 140, 300}, {0, 5, 4.5}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        /* convolve_run */
        {{1, 90, 40}, {0, 10, 0}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 8 << 10},
        {{1, 90, 40}, {0, 10, 0}, AIRY_DTYPE_F64, AIRY_DTYPE_F64, 8 << 10},
        /* convolve_xy and convolve_march, apart */
        {{1, 90, 300}, {0, 10, 10}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 16 << 10},
        /* convolve_sweep */
        {{1, 50, 212}, {0, 1.8, 1}, AIRY_DTYPE_F64, AIRY_DTYPE_F64, 0},
        {{1, 50, 211}, {0, 0.3, 0.6}, AIRY_DTYPE_F64, AIRY_DTYPE_F64, 0},
        /* convolve_volume */
        {{12, 20, 60}, {1, 0.5, 0.3}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        /* along z in place and from scratch */
        {{30, 20, 64}, {2, 0.5, 1}, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        {{30, 20, 33}, {0.8, 0.5, 0}, AIRY_DTYPE_F64, AIRY_DTYPE_F64, 0}};
    const bool fp64 = c->device->info.fp64;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (fp64 || (cases[i].from != AIRY_DTYPE_F64 && cases[i].to != AIRY_DTYPE_F64)) {
            check_blur_kernels(c, &cases[i], "constant", check_keeps);
            check_blur_kernels(c, &cases[i], "local", check_local);
        }
}
