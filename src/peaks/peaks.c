#include "airy/peaks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "peaks/peaks_fns.h"

enum { MOST_PATCH = 31, MOST_PEAKS = 4096, MOST_FRAMES = 65535 };

static airy_status check_cutoff(const char *name, double value)
{
    AIRY_FAIL_ON_IF(!(value > 0 && value <= 1e6), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected above 0 and at most 1e6", name, value);
    return AIRY_OK;
}

/* Defaults, and what is out of range. */
static airy_status settle_params(airy_peak_params *p, size_t pixels)
{
    p->noise = p->noise == 0 ? 1 : p->noise;
    p->cutoff_pick = p->cutoff_pick == 0 ? 3 : p->cutoff_pick;
    p->cutoff_peak = p->cutoff_peak == 0 ? 3 : p->cutoff_peak;
    p->patch = p->patch == 0 ? 3 : p->patch;
    p->connected = p->connected == 0 ? 2 : p->connected;
    p->max_pixels = p->max_pixels == 0 ? (pixels + 3) / 4 : p->max_pixels;
    p->max_peaks = p->max_peaks == 0 ? airy_min_size(MOST_PEAKS, pixels) : p->max_peaks;
    /* Squares of these and of what they are compared with stay within f32. */
    AIRY_FAIL_ON_IF(!(p->noise >= 1e-15 && p->noise <= 1e15), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected 1e-15 to 1e15", "noise", p->noise);
    AIRY_TRY(check_cutoff("cutoff_pick", p->cutoff_pick));
    AIRY_TRY(check_cutoff("cutoff_peak", p->cutoff_peak));
    AIRY_FAIL_ON_IF(p->patch < 3 || p->patch > MOST_PATCH || p->patch % 2 == 0, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %zu, expected an odd number from 3 to %d",
                    "patch", p->patch, MOST_PATCH);
    AIRY_FAIL_ON_IF(p->connected > p->patch * p->patch, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most the %zu pixels of the patch", "connected",
                    p->connected, p->patch * p->patch);
    AIRY_FAIL_ON_IF(p->max_pixels > pixels, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most the %zu pixels of a frame", "max_pixels",
                    p->max_pixels, pixels);
    AIRY_FAIL_ON_IF(p->max_peaks > pixels, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most the %zu pixels of a frame", "max_peaks",
                    p->max_peaks, pixels);
    return AIRY_OK;
}

static airy_status check_integrator(const airy_integrator *it)
{
    const airy_integrator_params *p = &it->params;
    AIRY_FAIL_IF(p->azimuth_bins > 0, AIRY_ERR_UNSUPPORTED,
                 "the integrator has %zu bins of chi; peaks need one dimension", p->azimuth_bins);
    AIRY_FAIL_IF(p->error_model == AIRY_ERROR_MODEL_NONE, AIRY_ERR_UNSUPPORTED,
                 "the integrator has no error model; peaks need the standard deviation of a ring");
    AIRY_FAIL_IF(p->unweighted, AIRY_ERR_UNSUPPORTED,
                 "the integrator is unweighted; peaks need the weighted mean");
    AIRY_FAIL_IF(it->pixels > INT32_MAX, AIRY_ERR_UNSUPPORTED,
                 "frames of %zu pixels, expected fewer than 2^31", it->pixels);
    return AIRY_OK;
}

/* Bits that a place between two bins has: the bin in front of them, in 32 bits. */
static uint32_t place_bits(size_t bins)
{
    uint32_t bits = 0;
    while (((size_t)1 << bits) < bins)
        bits++;
    return bits > 9 ? 32 - bits : 23; /* all of them in a float */
}

/* Where every pixel lies between bin centres, and what its raw value is multiplied by. */
static airy_status place_pixels(airy_peak_finder *f)
{
    const airy_integrator *it = f->integrator;
    const struct airy_corrections *c = &f->corrections;
    const size_t bins = it->bins;
    const double first = it->radial[0],
                 step = bins > 1 ? (it->radial[bins - 1] - first) / (double)(bins - 1) : 1,
                 unit = (double)((uint32_t)1 << f->geom.shift);
    double *radius;
    AIRY_TRY(airy_memory_alloc((void **)&radius, it->pixels * sizeof(*radius)));
    airy_status status = airy_geometry_centers(&it->geometry, it->params.unit, radius);
    const bool ranged = it->params.has_radial_range;
    for (size_t i = 0; status == AIRY_OK && i < it->pixels; i++) {
        const bool inside = isfinite(radius[i]) &&
                            (!ranged || (radius[i] >= it->params.radial_range[0] &&
                                         radius[i] < it->params.radial_range[1]));
        const double at = fmin(fmax((radius[i] - first) / step, 0), (double)(bins - 1));
        f->scale[i] = inside && c->valid[i] ? (float)(1 / (double)c->norm[i]) : 0;
        f->place[i] = f->scale[i] != 0 ? (uint32_t)(at * unit + 0.5) : 0;
    }
    airy_memory_release(radius);
    return status;
}

static void fill_geom(airy_peak_finder *f)
{
    const airy_integrator *it = f->integrator;
    const airy_peak_params *p = &f->params;
    airy_peaks_geom *g = &f->geom;
    g->width = (uint32_t)it->width;
    g->height = (uint32_t)it->height;
    g->pixels = (uint32_t)it->pixels;
    g->bins = (uint32_t)it->bins;
    g->chunks = (g->pixels + AIRY_PEAKS_CHUNK - 1) / AIRY_PEAKS_CHUNK;
    g->words = g->chunks * AIRY_PEAKS_WORDS;
    g->shift = place_bits(it->bins);
    g->step = 1.0f / (float)((uint32_t)1 << g->shift);
    g->reach = (uint32_t)(p->patch / 2);
    g->connected = (uint32_t)p->connected;
    g->max_pixels = (uint32_t)p->max_pixels;
    g->max_peaks = (uint32_t)p->max_peaks;
    g->strict = it->params.compat == AIRY_COMPAT_PYFAI;
    g->noise = (float)p->noise;
    g->noise2 = (float)(p->noise * p->noise);
    g->pick2 = (float)(p->cutoff_pick * p->cutoff_pick);
    g->peak2 = (float)(p->cutoff_peak * p->cutoff_peak);
}

static airy_status make(airy_peak_finder *f, const airy_integrator *it,
                        const airy_peak_params *params)
{
    f->device = it->device;
    f->integrator = it;
    f->params = params ? *params : (airy_peak_params){.noise = 0};
    AIRY_TRY(check_integrator(it));
    AIRY_TRY(settle_params(&f->params, it->pixels));
    AIRY_TRY(airy_corrections_take(&f->corrections, it));
    fill_geom(f);
    for (int d = 0; d < AIRY_DTYPE_COUNT; d++) {
        const airy_dtype dtype = (airy_dtype)d;
        f->takes[d] = dtype != AIRY_DTYPE_I64 && dtype != AIRY_DTYPE_U64;
        if (f->takes[d])
            AIRY_TRY(airy_pixel_test_make(&f->test[d], it, dtype));
    }
    AIRY_TRY(airy_memory_calloc((void **)&f->place, it->pixels, sizeof(*f->place),
                                "places of pixels between bins"));
    AIRY_TRY(airy_memory_calloc((void **)&f->scale, it->pixels, sizeof(*f->scale),
                                "normalizations of pixels"));
    AIRY_TRY(place_pixels(f));
    const struct airy_peaks_fns *fns = it->device->backend->peaks;
    AIRY_FAIL_IF(!fns || !fns->find, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement peaks",
                 it->device->backend->name);
    return fns->prepare ? fns->prepare(f) : AIRY_OK;
}

airy_status airy_peak_finder_create(airy_peak_finder **finder, const airy_integrator *integrator,
                                    const airy_peak_params *params)
{
    airy_peak_finder *f;
    AIRY_FAIL_IF(!finder || !integrator, AIRY_ERR_PARAM, "airy_peak_finder_create: %s is NULL",
                 finder ? "integrator" : "finder");
    AIRY_TRY(airy_memory_calloc((void **)&f, 1, sizeof(*f), "a peak finder"));
    const airy_status status = make(f, integrator, params);
    if (status != AIRY_OK) {
        airy_peak_finder_destroy(&f);
        return status;
    }
    *finder = f;
    return AIRY_OK;
}

void airy_peak_finder_destroy(airy_peak_finder **finder)
{
    if (!finder || !*finder)
        return;
    airy_peak_finder *f = *finder;
    const struct airy_peaks_fns *fns = f->device->backend->peaks;
    if (fns && fns->release)
        fns->release(f);
    airy_corrections_release(&f->corrections);
    free(f->place);
    free(f->scale);
    free(f);
    *finder = NULL;
}

airy_status airy_peak_finder_get_params(const airy_peak_finder *finder, airy_peak_params *params)
{
    AIRY_FAIL_IF(!finder || !params, AIRY_ERR_PARAM, "airy_peak_finder_get_params: %s is NULL",
                 finder ? "params" : "finder");
    *params = finder->params;
    return AIRY_OK;
}

airy_status airy_peak_finder_images(const airy_peak_finder *finder, float *radius,
                                    float *normalization)
{
    AIRY_FAIL_IF(!finder, AIRY_ERR_PARAM, "airy_peak_finder_images: finder is NULL");
    const airy_integrator *it = finder->integrator;
    double *centers;
    AIRY_TRY(airy_memory_alloc((void **)&centers, it->pixels * sizeof(*centers)));
    const airy_status status = airy_geometry_centers(&it->geometry, it->params.unit, centers);
    for (size_t i = 0; status == AIRY_OK && i < it->pixels; i++) {
        const bool counts = finder->scale[i] != 0;
        if (radius)
            radius[i] = counts ? (float)centers[i] : NAN;
        if (normalization)
            normalization[i] = counts ? finder->corrections.norm[i] : 0;
    }
    airy_memory_release(centers);
    return status;
}

static airy_status check_list(const airy_queue *queue, const airy_array *array, const char *name,
                              airy_dtype dtype, int ndim, const size_t *shape)
{
    char text[96];
    AIRY_FAIL_IF(!array, AIRY_ERR_PARAM, "airy_find_peaks: %s is NULL", name);
    AIRY_TRY(airy_check_device(queue, array, name));
    AIRY_FAIL_ON_IF(array->dtype != dtype, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                    "%s is %s, expected %s", name, airy_array_describe(array, text),
                    airy_dtype_name(dtype));
    bool fits = array->ndim == ndim && airy_array_is_tight(array);
    for (int k = 0; fits && k < ndim; k++)
        fits = array->shape[k] == shape[k];
    char wanted[64];
    int used = snprintf(wanted, sizeof(wanted), "%zu", shape[0]);
    for (int k = 1; k < ndim; k++)
        used += snprintf(wanted + used, sizeof(wanted) - (size_t)used, ", %zu", shape[k]);
    AIRY_FAIL_ON_IF(!fits, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s is %s, expected [%s] without gaps", name, airy_array_describe(array, text),
                    wanted);
    return AIRY_OK;
}

static airy_status check_arrays(const airy_queue *queue, const airy_peak_lists *lists,
                                const airy_peak_finder *f, const airy_array *sums,
                                const airy_array *frames)
{
    const size_t n = frames->shape[0], bins = f->integrator->bins;
    size_t pixels, peaks;
    AIRY_FAIL_IF(airy_mul_size(&pixels, n, f->params.max_pixels) ||
                     airy_mul_size(&peaks, n, f->params.max_peaks) || pixels >= UINT32_MAX ||
                     peaks >= UINT32_MAX,
                 AIRY_ERR_SHAPE,
                 "lists of %zu frames of %zu pixels and %zu peaks, expected fewer "
                 "than 2^32 in all",
                 n, f->params.max_pixels, f->params.max_peaks);
    const size_t shapes[][3] = {
        {n, AIRY_PEAK_COUNTS},     {n, 2, bins}, {pixels}, {pixels}, {peaks, sizeof(airy_peak)},
        {n, AIRY_SUM_PLANES, bins}};
    const struct {
        const airy_array *array;
        const char *name;
        airy_dtype dtype;
        int ndim;
    } rows[] = {{lists->counts, "counts", AIRY_DTYPE_U32, 2},
                {lists->curves, "curves", AIRY_DTYPE_F32, 3},
                {lists->index, "index", AIRY_DTYPE_U32, 1},
                {lists->intensity, "intensity", frames->dtype, 1},
                {lists->peaks, "peaks", AIRY_DTYPE_U8, 2},
                {sums, "sums", AIRY_DTYPE_F64, 3},
                {frames, "frames", frames->dtype, 3}};
    enum { ARRAYS = sizeof(rows) / sizeof(rows[0]), OUTPUTS = 5 };
    for (int i = 0; i < ARRAYS - 1; i++)
        AIRY_TRY(
            check_list(queue, rows[i].array, rows[i].name, rows[i].dtype, rows[i].ndim, shapes[i]));
    for (int i = 0; i < OUTPUTS; i++)
        for (int k = i + 1; k < ARRAYS; k++)
            AIRY_FAIL_IF(airy_array_overlaps(rows[i].array, rows[k].array), AIRY_ERR_PARAM,
                         "%s and %s overlap", rows[i].name, rows[k].name);
    return AIRY_OK;
}

static airy_status check_frames(const airy_queue *queue, const airy_peak_finder *f,
                                const airy_array *frames)
{
    char text[96];
    AIRY_TRY(airy_check_device(queue, frames, "frames"));
    AIRY_FAIL_IF(frames->ndim != 3 || frames->shape[1] != f->geom.height ||
                     frames->shape[2] != f->geom.width || frames->shape[0] > MOST_FRAMES ||
                     !airy_array_is_tight(frames),
                 AIRY_ERR_SHAPE, "frames is %s, expected [n, %u, %u] without gaps, n <= %d",
                 airy_array_describe(frames, text), f->geom.height, f->geom.width, MOST_FRAMES);
    AIRY_FAIL_IF(!f->takes[frames->dtype], AIRY_ERR_DTYPE,
                 "frames of %s, expected integers of at most 32 bits or floats",
                 airy_dtype_name(frames->dtype));
    return AIRY_OK;
}

/* The test for raw values: integers in 32 bits, which all dtypes taken fit. */
static void set_test(airy_peaks_geom *g, const airy_pixel_test *test, airy_dtype dtype)
{
    const int64_t least = airy_dtype_is_signed(dtype) ? INT32_MIN : 0,
                  most = least + (int64_t)UINT32_MAX;
    const bool wraps = airy_dtype_is_signed(dtype) && test->hi > most;
    const int64_t lo = test->lo > least ? test->lo : least,
                  hi = test->hi < most || wraps ? test->hi : most;
    g->float_lo = test->float_lo;
    g->float_hi = test->float_hi;
    g->has_invalid = lo <= hi;
    g->lo = g->has_invalid ? (uint32_t)(lo - least) : 0;
    g->span = g->has_invalid ? (uint32_t)(hi - lo) : 0;
}

airy_status airy_find_peaks(airy_queue *queue, const airy_peak_lists *lists,
                            const airy_peak_finder *finder, const airy_array *sums,
                            const airy_array *frames)
{
    AIRY_FAIL_IF(!queue, AIRY_ERR_PARAM, "airy_find_peaks: queue is NULL");
    AIRY_FAIL_IF(!lists, AIRY_ERR_PARAM, "airy_find_peaks: lists is NULL");
    AIRY_FAIL_IF(!finder, AIRY_ERR_PARAM, "airy_find_peaks: finder is NULL");
    AIRY_FAIL_IF(!sums, AIRY_ERR_PARAM, "airy_find_peaks: sums is NULL");
    AIRY_FAIL_IF(!frames, AIRY_ERR_PARAM, "airy_find_peaks: frames is NULL");
    AIRY_FAIL_IF(finder->device != airy_queue_device(queue), AIRY_ERR_DEVICE,
                 "finder belongs to device '%s', the queue to '%s'", finder->device->info.spec,
                 airy_queue_device(queue)->info.spec);
    AIRY_TRY(check_frames(queue, finder, frames));
    AIRY_TRY(check_arrays(queue, lists, finder, sums, frames));
    struct airy_peaks_plan plan = {.finder = finder,
                                   .lists = lists,
                                   .sums = sums,
                                   .frames = frames,
                                   .dtype = frames->dtype,
                                   .geom = finder->geom};
    plan.geom.frames = (uint32_t)frames->shape[0];
    set_test(&plan.geom, &finder->test[frames->dtype], frames->dtype);
    return airy_queue_backend(queue)->peaks->find(queue, &plan);
}
