#include "airy/integrate.h"
#include "airy/stack.h"
#include "golden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Input images of a case; all malloc'ed. */
struct inputs {
    void *image, *chunk;
    airy_dtype dtype;
    size_t shape[2], chunk_size;
    float *dark, *flat, *absorption, *variance;
    uint8_t *mask;
};

static void free_inputs(struct inputs *in)
{
    free(in->image);
    free(in->chunk);
    free(in->dark);
    free(in->flat);
    free(in->absorption);
    free(in->variance);
    free(in->mask);
}

static bool read_floats(struct golden *g, hid_t file, const json_t *args, const char *name,
                        float **out)
{
    const char *value = json_string_value(json_object_get(args, name));
    if (!value)
        return true;
    char path[128];
    snprintf(path, sizeof path, "inputs/%s", value + 1);
    *out = golden_floats(g, file, path);
    return *out != NULL;
}

static bool read_inputs(struct golden *g, hid_t file, const json_t *item, struct inputs *in)
{
    const json_t *args = json_object_get(item, "args");
    char path[128];
    snprintf(path, sizeof path, "inputs/%s", json_string_value(json_object_get(item, "image")));
    in->image = golden_pixels(g, file, path, &in->dtype, in->shape);
    strcat(path, "_bslz4");
    in->chunk = golden_chunk(file, path, &in->chunk_size);
    /* An explicit mask replaces the detector's. */
    const char *mask = json_object_get(args, "mask") ? "inputs/mask" : "inputs/detector_mask";
    if (H5Lexists(file, mask, H5P_DEFAULT) > 0) {
        airy_dtype dtype;
        in->mask = golden_pixels(g, file, mask, &dtype, NULL);
        if (!in->mask || dtype != AIRY_DTYPE_U8)
            return false;
    }
    return in->image && read_floats(g, file, args, "dark", &in->dark) &&
           read_floats(g, file, args, "flat", &in->flat) &&
           read_floats(g, file, args, "absorption", &in->absorption) &&
           read_floats(g, file, args, "variance", &in->variance);
}

static void get_pair(const json_t *args, const char *name, bool *has, double out[2])
{
    const json_t *pair = json_object_get(args, name);
    if (!pair)
        return;
    *has = true;
    out[0] = json_number_value(json_array_get(pair, 0));
    out[1] = json_number_value(json_array_get(pair, 1));
}

static bool get_number(const json_t *args, const char *name, double *out)
{
    const json_t *value = json_object_get(args, name);
    if (json_is_number(value))
        *out = json_number_value(value);
    return json_is_number(value);
}

/* "split-method", "split-method-unw", or "split-method-python" for what wrote it. */
static bool set_method(struct golden *g, airy_integrator_params *p, const char *text)
{
    char split[16] = "", method[16] = "", rest[16] = "";
    const int n = sscanf(text, "%15[^-]-%15[^-]-%15s", split, method, rest);
    p->unweighted = n == 3 && strcmp(rest, "unw") == 0;
    if (n < 2 || (n == 3 && !p->unweighted && strcmp(rest, "python") != 0)) {
        golden_complain(g, "method '%s' is not understood", text);
        return false;
    }
    return golden_ok(g, "airy_split_parse", airy_split_parse(&p->split, split)) &&
           golden_ok(g, "airy_method_parse", airy_method_parse(&p->method, method));
}

static bool check_args(struct golden *g, const json_t *args)
{
    static const char *const known[] = {"npt",
                                        "npt_rad",
                                        "npt_azim",
                                        "unit",
                                        "error_model",
                                        "polarization_factor",
                                        "dark",
                                        "flat",
                                        "absorption",
                                        "mask",
                                        "dummy",
                                        "variance",
                                        "normalization_factor",
                                        "delta_dummy",
                                        "chi_disc",
                                        "radial_range",
                                        "azimuth_range",
                                        "correctSolidAngle",
                                        "thres",
                                        "max_iter",
                                        "percentile"};
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)args, name, value)
    {
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            found = found || strcmp(name, known[k]) == 0;
        if (!found) {
            golden_complain(g, "argument '%s' is not understood", name);
            return false;
        }
    }
    return true;
}

static void set_rings(airy_integrator_params *p, const json_t *args)
{
    const json_t *percent = json_object_get(args, "percentile");
    p->has_clip = get_number(args, "thres", &p->clip_threshold);
    p->clip_cycles = (unsigned)json_integer_value(json_object_get(args, "max_iter"));
    p->has_quantile = percent != NULL;
    for (size_t k = 0; k < 2; k++)
        p->quantile[k] =
            json_number_value(json_is_array(percent) ? json_array_get(percent, k) : percent) / 100;
}

static bool set_params(struct golden *g, airy_integrator_params *p, const json_t *item,
                       const struct inputs *in)
{
    const json_t *args = json_object_get(item, "args");
    const char *model = json_string_value(json_object_get(args, "error_model"));
    *p = (airy_integrator_params){
        .bins = (size_t)json_integer_value(
            json_object_get(args, json_object_get(args, "npt") ? "npt" : "npt_rad")),
        .azimuth_bins = (size_t)json_integer_value(json_object_get(args, "npt_azim")),
        .compat = AIRY_COMPAT_PYFAI,
        .mask = in->mask,
        .dark = in->dark,
        .flat = in->flat,
        .absorption = in->absorption,
        .variance = in->variance,
        .no_solid_angle = json_is_false(json_object_get(args, "correctSolidAngle")),
        .chi_zero = json_object_get(args, "chi_disc") != NULL};
    p->has_polarization = get_number(args, "polarization_factor", &p->polarization);
    get_number(args, "normalization_factor", &p->normalization);
    p->has_dummy = get_number(args, "dummy", &p->dummy);
    if (p->has_dummy) {
        /* Two dimensions have 0 there all the same. */
        p->has_empty = true;
        p->empty = p->azimuth_bins ? 0 : p->dummy;
    }
    get_number(args, "delta_dummy", &p->delta_dummy);
    get_pair(args, "radial_range", &p->has_radial_range, p->radial_range);
    get_pair(args, "azimuth_range", &p->has_azimuth_range, p->azimuth_range);
    if (in->variance)
        p->error_model = AIRY_ERROR_MODEL_VARIANCE;
    else if (model && !golden_ok(g, "airy_error_model_parse",
                                 airy_error_model_parse(&p->error_model, model)))
        return false;
    set_rings(p, args);
    return check_args(g, args) &&
           set_method(g, p, json_string_value(json_object_get(item, "method"))) &&
           golden_ok(g, "airy_unit_parse",
                     airy_unit_parse(&p->unit, json_string_value(json_object_get(args, "unit"))));
}

/* Sums of one frame from memory, or from its compressed chunk. */
static bool run_frame(struct golden *g, const airy_integrator *it, const struct inputs *in,
                      bool compressed, double *sums)
{
    const size_t bins = airy_integrator_bins(it), shape[3] = {1, in->shape[0], in->shape[1]};
    const size_t sums_shape[3] = {1, AIRY_SUM_PLANES, bins},
                 stats_shape[2] = {1, sizeof(airy_frame_stats)};
    airy_array *d_sums = NULL, *d_stats = NULL, *d_frames = NULL;
    airy_batch *batch = NULL;
    bool good = golden_ok(g, "sums",
                          airy_array_create(&d_sums, g->device, AIRY_DTYPE_F64, 3, sums_shape)) &&
                golden_ok(g, "stats",
                          airy_array_create(&d_stats, g->device, AIRY_DTYPE_U8, 2, stats_shape));
    if (good && compressed) {
        const airy_batch_params params = {.dtype = in->dtype,
                                          .height = in->shape[0],
                                          .width = in->shape[1],
                                          .codec = {.codec = AIRY_CODEC_BSLZ4},
                                          .frames = 1};
        good = golden_ok(g, "airy_batch_create", airy_batch_create(&batch, g->device, &params)) &&
               golden_ok(g, "airy_batch_add", airy_batch_add(batch, in->chunk, in->chunk_size)) &&
               golden_ok(g, "airy_integrate_batch",
                         airy_integrate_batch(g->queue, d_sums, d_stats, it, batch));
    } else if (good) {
        good =
            golden_ok(
                g, "frames",
                airy_array_create_from(&d_frames, g->queue, in->dtype, 3, shape, in->image)) &&
            golden_ok(g, "airy_integrate", airy_integrate(g->queue, d_sums, d_stats, it, d_frames));
    }
    good =
        good &&
        golden_ok(g, "airy_array_pull",
                  airy_array_pull(g->queue, sums, bins * AIRY_SUM_PLANES * sizeof *sums, d_sums)) &&
        golden_ok(g, "airy_queue_finish", airy_queue_finish(g->queue));
    airy_batch_destroy(&batch);
    airy_array_destroy(&d_frames);
    airy_array_destroy(&d_stats);
    airy_array_destroy(&d_sums);
    return good;
}

struct results {
    double *sums, *intensity, *std, *sem; /* one block */
};

static bool make_results(struct golden *g, struct results *r, const airy_integrator *it,
                         const struct inputs *in, bool compressed)
{
    const size_t n = airy_integrator_bins(it);
    r->sums = calloc((AIRY_SUM_PLANES + 3) * n, sizeof(double));
    float *f = calloc(3 * n, sizeof *f);
    bool good = r->sums && f && run_frame(g, it, in, compressed, r->sums) &&
                golden_ok(g, "airy_integrator_finish",
                          airy_integrator_finish(it, r->sums, 1, f, f + n, f + 2 * n));
    if (good) {
        r->intensity = r->sums + AIRY_SUM_PLANES * n;
        r->std = r->intensity + n;
        r->sem = r->std + n;
        for (size_t i = 0; i < 3 * n; i++)
            r->intensity[i] = (double)f[i];
    }
    free(f);
    return good;
}

/*
 * The tolerance counts from the axis' upper limit, which is twice the largest centre where there
 * is one bin.
 */
static void compare_axis(struct golden *g, const airy_integrator *it, const double *want, size_t n,
                         struct golden_tol tol)
{
    airy_integrator_info info;
    if (!golden_ok(g, "airy_integrator_get_info", airy_integrator_get_info(it, &info)))
        return;
    tol.of_max *= fmax(1, info.upper / want[n - 1]);
    golden_compare(g, "radial", airy_integrator_radial(it), want, n, tol, NULL);
}

struct tolerances {
    struct golden_tol axis, sum, signal, square, count, mean, spread;
};

/*
 * Without splitting pyFAI's positions are doubles, so pixels fall into the same bins; its
 * normalization is a product of up to five floats (5 x 2^-24 = 3e-7), ours is rounded once; some
 * engines return float sums (2^-24). With splitting the corners are the same floats, but
 * coefficients are float quotients of areas accumulated in float: errors of 2^-24 of the largest
 * terms, measured 1e-5 of the maximum, twice that for their squares; axes come from float corners,
 * which may round to the neighbouring float (2^-23 of the largest). Units without a formula for
 * centres go through float corners, too. The azimuthal model's recurrence loses digits where
 * coefficients are tiny: 1e-4. Thin bins divide small differences: 1e-3. Where chi starts at 0,
 * float areas of pixels at its discontinuity cancel: 5e-5.
 */
static struct tolerances tolerances_1d(const airy_integrator_params *p)
{
    const bool no = p->split == AIRY_SPLIT_NO;
    const bool azimuthal = p->error_model == AIRY_ERROR_MODEL_AZIMUTHAL;
    const bool slow_unit = p->unit == AIRY_UNIT_D2_NM || p->unit == AIRY_UNIT_LOG1Q_NM ||
                           p->unit == AIRY_UNIT_QX_NM;
    struct tolerances t = {.axis = {.of_max = slow_unit ? 1e-6
                                              : no      ? 1e-12
                                                        : 1.01 * 0x1p-23},
                           .mean = {.rel = no ? 1e-6 : 1e-5,
                                    .of_max = no            ? 1e-7
                                              : p->chi_zero ? 5e-5
                                                            : 1e-5,
                                    .thin = 1e-3}};
    if (no) {
        t.sum.rel = 3e-7;
        t.square.rel = 6e-7;
    } else {
        t.sum.of_max = t.count.of_max = 1e-5;
        t.square.of_max = 2e-5;
    }
    t.signal = (struct golden_tol){.rel = t.sum.rel, .of_max = fmax(t.sum.of_max, 1e-7)};
    t.spread = azimuthal ? (struct golden_tol){.rel = 1e-4, .of_max = 1e-4, .thin = 1e-3} : t.mean;
    return t;
}

/*
 * Cells near the beam have pixels whose corners are all around it: chi of a corner is a float of a
 * position that is a difference of floats, and errs by 2^-24 of the position over its distance from
 * the beam, about 1e-5 rad for corners of the beam's pixel. Areas of quadrilaterals are piled up in
 * floats altogether: squares of small ones err by 1e-3 (the golden README's figure). The buffer
 * which its sparse engines pile them up in is not cleared before the first pixel, so that this one's
 * cells (2, with its corner on an edge 3) hold anything.
 */
static struct tolerances tolerances_2d(const airy_integrator_params *p)
{
    struct tolerances t = tolerances_1d(p);
    if (p->split == AIRY_SPLIT_NO)
        return t;
    const bool full = p->split == AIRY_SPLIT_FULL;
    if (p->chi_zero)
        t.axis.of_max = 1e-5;
    t.sum.of_max = t.signal.of_max = t.count.of_max = p->chi_zero ? 1e-4 : 1e-5;
    t.square.of_max = 2 * t.sum.of_max;
    t.square.rel = full ? 1e-3 : 0;
    t.mean.of_max = p->chi_zero ? 2e-4 : 2e-5;
    t.mean.rel = 1e-4;
    t.spread = (struct golden_tol){.rel = 1e-3, .of_max = t.mean.of_max, .thin = 1e-2};
    if (full && p->method != AIRY_METHOD_HISTOGRAM)
        t.sum.spare = t.signal.spare = t.square.spare = t.count.spare = t.mean.spare =
            t.spread.spare = 3;
    return t;
}

/*
 * Real frames have rings and spots, so that counts of neighbours differ. pyFAI's corners are floats: at
 * the end of an axis of n bins they err by n 2^-24 of a bin, at both ends of the part of a pixel that is
 * in a bin, and a pixel is 0.3 bins wide or more (16M). Squares of shares err by twice that.
 */
static void widen_for_rings(struct tolerances *t, const airy_integrator_params *p)
{
    const double part = 2 / 0.3 * (double)p->bins * 0x1p-24;
    if (p->split == AIRY_SPLIT_NO)
        return;
    t->sum.of_max = t->signal.of_max = t->count.of_max = part;
    t->mean.rel = t->mean.of_max = t->spread.rel = t->spread.of_max = part;
    t->square.of_max = 2 * part;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The relative difference that a share of the elements exceeds. */
static double difference_of(const double *got, const double *want, size_t n, double share)
{
    double *d = calloc(n, sizeof *d);
    for (size_t b = 0; d && b < n; b++)
        d[b] = got[b] == want[b] ? 0 : fabs(got[b] - want[b]) / fabs(want[b]);
    if (d)
        qsort(d, n, sizeof *d, ascending);
    const double found = d ? d[n - 1 - (size_t)(share * (double)(n - 1))] : INFINITY;
    free(d);
    return found;
}

/*
 * Clip without splitting: means 2e-6, as pyFAI's engines agree among themselves (the golden
 * README's figure; float normalizations, float means); spreads the same against the engine with the
 * same recurrence, 5e-3 against that in Python; counts are pixels, stale where pyFAI clips down to 3
 * or fewer. With splitting its threads decide which bin rejects a pixel first: half of the bins
 * agree to 1e-5, the others to nothing. Quantiles are of floats, whose ties are in any order: a
 * median's value does not care; everything else agrees where there are none, in half of the bins.
 * With splitting it counts entries, not their parts.
 */
static void compare_ring_field(struct golden *g, const char *what, const airy_integrator_params *p,
                               const char *method, const double *got, const double *want, size_t n)
{
    const bool counts = strcmp(what, "count") == 0, no = p->split == AIRY_SPLIT_NO;
    const bool mean = strcmp(what, "intensity") == 0 || strcmp(what, "sum_signal") == 0 ||
                      strcmp(what, "sum_normalization") == 0;
    if (counts && !no && p->has_quantile)
        return;
    const bool value = strcmp(what, "intensity") == 0 && p->quantile[0] == p->quantile[1];
    if (!no || (p->has_quantile && !value)) {
        const double difference = difference_of(got, want, n, 0.5);
        if (!(difference <= 1e-5))
            golden_complain(g, "%s: half of the bins differ by more than %g", what, difference);
        return;
    }
    const double rel = mean || p->has_quantile || strstr(method, "python") == NULL ? 2e-6 : 5e-3;
    for (size_t b = 0; b < n; b++) {
        const bool stale = counts && p->has_clip && want[b] == 3 && got[b] < 3;
        if (!stale && !(fabs(got[b] - want[b]) <= rel * fabs(want[b])))
            golden_complain(g, "%s[%zu] = %.9g, expected %.9g", what, b, got[b], want[b]);
    }
}

static void compare_field(struct golden *g, const char *what, const airy_integrator_params *p,
                          const airy_integrator *it, const struct results *r, const double *want,
                          const double *count)
{
    const size_t n = airy_integrator_bins(it);
    struct tolerances t = p->azimuth_bins ? tolerances_2d(p) : tolerances_1d(p);
    if (strcmp(g->group, "real") == 0)
        widen_for_rings(&t, p);
    const bool azimuthal = p->error_model == AIRY_ERROR_MODEL_AZIMUTHAL;
    const double *s = r->sums;
    if (strcmp(what, "radial") == 0)
        compare_axis(g, it, want, p->bins, t.axis);
    else if (strcmp(what, "azimuthal") == 0)
        golden_compare(g, what, airy_integrator_azimuth(it), want, p->azimuth_bins, t.axis, NULL);
    else if (strcmp(what, "sum_signal") == 0)
        golden_compare(g, what, s + AIRY_SUM_SIGNAL * n, want, n, t.signal, NULL);
    else if (strcmp(what, "sum_variance") == 0)
        golden_compare(g, what, s + AIRY_SUM_VARIANCE * n, want, n, azimuthal ? t.spread : t.square,
                       azimuthal ? count : NULL);
    else if (strcmp(what, "sum_normalization") == 0)
        golden_compare(g, what, s + AIRY_SUM_NORMALIZATION * n, want, n, t.sum, NULL);
    else if (strcmp(what, "sum_normalization2") == 0)
        golden_compare(g, what, s + AIRY_SUM_NORMALIZATION2 * n, want, n, t.square, NULL);
    else if (strcmp(what, "count") == 0)
        golden_compare(g, what, s + AIRY_SUM_COUNT_PLANE * n, want, n, t.count, NULL);
    else if (strcmp(what, "intensity") == 0)
        golden_compare(g, what, r->intensity, want, n, t.mean, count);
    else if (strcmp(what, "std") == 0)
        golden_compare(g, what, r->std, want, n, t.spread, count);
    else if (strcmp(what, "sem") == 0 || strcmp(what, "sigma") == 0)
        golden_compare(g, what, r->sem, want, n, t.spread, count);
    else
        golden_complain(g, "field '%s' is not understood", what);
}

static const double *named_result(const struct results *r, const char *what, size_t n)
{
    static const char *const sums[AIRY_SUM_PLANES] = {
        [AIRY_SUM_SIGNAL] = "sum_signal",
        [AIRY_SUM_VARIANCE] = "sum_variance",
        [AIRY_SUM_NORMALIZATION] = "sum_normalization",
        [AIRY_SUM_NORMALIZATION2] = "sum_normalization2",
        [AIRY_SUM_COUNT_PLANE] = "count"};
    for (size_t k = 0; k < AIRY_SUM_PLANES; k++)
        if (strcmp(what, sums[k]) == 0)
            return r->sums + k * n;
    return strcmp(what, "intensity") == 0 ? r->intensity
           : strcmp(what, "std") == 0     ? r->std
                                          : r->sem;
}

static void compare_fields(struct golden *g, hid_t file, const json_t *item,
                           const airy_integrator_params *p, const airy_integrator *it,
                           const struct results *r)
{
    const size_t bins = airy_integrator_bins(it);
    const double *count = r->sums + AIRY_SUM_COUNT_PLANE * bins;
    const char *what;
    json_t *field;
    json_object_foreach(json_object_get(item, "fields"), what, field)
    {
        /*
         * In this group the beam goes through corners of pixels: whether those on the axis have chi
         * -180 or 180 is decided by how pyFAI's floats round.
         */
        if (p->azimuth_bins && p->split != AIRY_SPLIT_NO && strcmp(g->group, "flatfield") == 0 &&
            strcmp(what, "intensity") != 0 && strcmp(what, "radial") != 0)
            continue;
        const json_t *shape = json_object_get(field, "shape");
        size_t length = 1;
        for (size_t k = 0; k < json_array_size(shape); k++)
            length *= (size_t)json_integer_value(json_array_get(shape, k));
        const size_t n = strcmp(what, "radial") == 0      ? p->bins
                         : strcmp(what, "azimuthal") == 0 ? p->azimuth_bins
                                                          : bins;
        if (length != n) {
            golden_complain(g, "%s has %zu values, the integrator %zu bins", what, length, n);
            continue;
        }
        double *want = golden_results(
            g, file, (size_t)json_integer_value(json_object_get(field, "offset")), n);
        if (want && (p->has_clip || p->has_quantile) && strcmp(what, "radial") != 0)
            compare_ring_field(g, what, p, json_string_value(json_object_get(item, "method")),
                               named_result(r, what, n), want, n);
        else if (want)
            compare_field(g, what, p, it, r, want, count);
        free(want);
    }
}

/* Ends the case; a back end that lacks it skips it. */
static void run_case(struct golden *g, hid_t file, const airy_geometry *geometry,
                     const json_t *item)
{
    struct inputs in = {0};
    airy_integrator_params params;
    airy_integrator *it = NULL;
    airy_status status = AIRY_OK;
    if (read_inputs(g, file, item, &in) && set_params(g, &params, item, &in)) {
        status = airy_integrator_create(&it, g->device, geometry, &params);
        if (status != AIRY_ERR_UNSUPPORTED)
            golden_ok(g, "airy_integrator_create", status);
    }
    if (it) {
        for (int compressed = 0; compressed < (in.chunk ? 2 : 1); compressed++) {
            struct results r = {0};
            if (make_results(g, &r, it, &in, compressed))
                compare_fields(g, file, item, &params, it, &r);
            if (g->complaints && compressed)
                golden_complain(g, "from the compressed chunk");
            free(r.sums);
            if (g->complaints)
                break;
        }
    }
    airy_integrator_destroy(&it);
    free_inputs(&in);
    if (status == AIRY_ERR_UNSUPPORTED)
        golden_skip(g, airy_last_error());
    else
        golden_end(g);
}

void golden_integrate(struct golden *g, const json_t *index)
{
    size_t i, k;
    json_t *group, *item;
    json_array_foreach(json_object_get(index, "groups"), i, group)
    {
        const char *name = json_string_value(json_object_get(group, "name"));
        airy_geometry geometry;
        g->name = g->group = name;
        g->complaints = 0;
        const hid_t file = golden_open(g, json_string_value(json_object_get(group, "file")));
        if (file < 0 || !golden_geometry(g, &geometry, group)) {
            golden_end(g);
            continue;
        }
        json_array_foreach(json_object_get(index, "cases"), k, item)
        {
            if (strcmp(json_string_value(json_object_get(item, "group")), name) != 0 ||
                !golden_begin(g, json_string_value(json_object_get(item, "id"))))
                continue;
            run_case(g, file, &geometry, item);
        }
        H5Fclose(file);
    }
}

/* ---- real frames, of a folder that is not part of the tree ---- */

/* The one frame of a file, its chunk as it is stored, and its mask. */
static bool read_real(struct golden *g, hid_t file, const char *path, struct inputs *in)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    char dataset[4200];
    const char *const name = dataset;
    snprintf(dataset, sizeof dataset, "%s::/data", path);
    bool good = golden_ok(g, "airy_stack_create", airy_stack_create(&stack, &name, 1)) &&
                golden_ok(g, "airy_stack_get_info", airy_stack_get_info(stack, &info));
    if (good) {
        const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
        in->dtype = info.dtype;
        in->shape[0] = info.height;
        in->shape[1] = info.width;
        in->image = malloc(size);
        good = in->image &&
               golden_ok(g, "airy_stack_read", airy_stack_read(stack, 0, in->image, size));
    }
    airy_stack_destroy(&stack);
    in->chunk = golden_chunk(file, "data", &in->chunk_size);
    airy_dtype dtype = AIRY_DTYPE_U8;
    if (good && H5Lexists(file, "detector_mask", H5P_DEFAULT) > 0)
        in->mask = golden_pixels(g, file, "detector_mask", &dtype, NULL);
    return good && dtype == AIRY_DTYPE_U8;
}

/* What a pattern was made with, as cases of the index have it. */
static json_t *real_item(struct golden *g, hid_t file, const char *pattern)
{
    json_t *args = golden_attribute_json(g, file, pattern, "args");
    json_t *item =
        args ? json_pack("{s:O, s:O}", "args", args, "method", json_object_get(args, "method"))
             : NULL;
    json_object_del(args, "method");
    json_decref(args);
    return item;
}

/*
 * Slivers of pixels that are alone in a bin: where the square of a share is below 2^-22, a device that
 * sums in fixed point rounds it to a unit or takes it from the share, which has errors of its own
 * (docs/numerics.md). From 2^-19 on, eight units, variances are within a factor of 2, spreads within
 * that, too; nothing is 0 that should not be.
 */
static void pass_slivers(double *want, const double *got, const double *count, size_t n)
{
    for (size_t b = 0; b < n; b++)
        if (count[b] > 0 && count[b] < 0x1p-11 && got[b] > 0 &&
            (count[b] < 0x1p-19 || (got[b] <= 2 * want[b] && want[b] <= 2 * got[b])))
            want[b] = got[b];
}

static void compare_real(struct golden *g, hid_t file, const char *pattern, const json_t *item,
                         const airy_integrator_params *p, const airy_integrator *it,
                         const struct results *r)
{
    const size_t n = airy_integrator_bins(it);
    json_t *fields = golden_attribute_json(g, file, pattern, "fields");
    size_t shape[2] = {0, 0};
    double *want = golden_doubles(g, file, pattern, shape);
    if (want && (shape[0] != json_array_size(fields) || shape[1] != n))
        golden_complain(g, "%s is %zu x %zu, expected %zu x %zu", pattern, shape[0], shape[1],
                        json_array_size(fields), n);
    for (size_t k = 0; want && !g->complaints && k < shape[0]; k++) {
        const char *what = json_string_value(json_array_get(fields, k));
        const bool radial = strcmp(what, "radial") == 0, mean = strcmp(what, "intensity") == 0,
                   spread = !radial && !mean &&
                            (strncmp(what, "sum_", 4) != 0 || strcmp(what, "sum_variance") == 0) &&
                            strcmp(what, "count") != 0;
        if (spread)
            pass_slivers(want + k * n, named_result(r, what, n), r->sums + AIRY_SUM_COUNT_PLANE * n,
                         n);
        if (p->has_clip && spread) /* by recurrence, over thousands */
            golden_compare(g, what, named_result(r, what, n), want + k * n, n,
                           tolerances_1d(p).spread, NULL);
        else if (p->has_clip && !radial)
            compare_ring_field(g, what, p, json_string_value(json_object_get(item, "method")),
                               named_result(r, what, n), want + k * n, n);
        else
            compare_field(g, what, p, it, r, want + k * n, r->sums + AIRY_SUM_COUNT_PLANE * n);
    }
    free(want);
    json_decref(fields);
}

static void run_real(struct golden *g, hid_t file, const char *path, const char *pattern)
{
    struct inputs in = {0};
    airy_integrator_params params = {.bins = 0};
    airy_geometry geometry;
    airy_integrator *it = NULL;
    json_t *group = json_pack("{s:o}", "geometry", golden_attribute_json(g, file, "/", "geometry"));
    json_t *item = real_item(g, file, pattern);
    const bool good = group && item && golden_geometry(g, &geometry, group) &&
                      read_real(g, file, path, &in) && set_params(g, &params, item, &in);
    params.empty = 0; /* of all of these */
    if (good && golden_ok(g, "airy_integrator_create",
                          airy_integrator_create(&it, g->device, &geometry, &params)))
        for (int compressed = 0; compressed < (in.chunk ? 2 : 1) && !g->complaints; compressed++) {
            struct results r = {0};
            if (make_results(g, &r, it, &in, compressed))
                compare_real(g, file, pattern, item, &params, it, &r);
            free(r.sums);
        }
    airy_integrator_destroy(&it);
    free_inputs(&in);
    json_decref(item);
    json_decref(group);
}

void golden_real_frames(struct golden *g)
{
    static const char *const files[] = {"ceo2_pilatus1m", "pixium_03150", "i03_pilatus6m",
                                        "therm_eiger16m"};
    static const char *const patterns[] = {"no-csr", "bbox-csr", "full-csr", "no-csr.clip"};
    const char *folder = getenv("AIRY_REALDATA");
    g->group = "real";
    for (size_t i = 0; i < 16; i++) {
        char name[96], path[4096], pattern[64];
        snprintf(name, sizeof name, "real_%s_%s", files[i / 4], patterns[i % 4]);
        snprintf(pattern, sizeof pattern, "golden/%s", patterns[i % 4]);
        if (!golden_begin(g, name))
            continue;
        if (!folder || !*folder) {
            golden_skip(g, "AIRY_REALDATA is not set");
            continue;
        }
        snprintf(path, sizeof path, "%s/diffraction/%s.h5", folder, files[i / 4]);
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        if (file < 0) {
            golden_skip(g, "the file is not there");
            continue;
        }
        run_real(g, file, path, pattern);
        H5Fclose(file);
        golden_end(g);
    }
}
