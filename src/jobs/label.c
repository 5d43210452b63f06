/* Connected components of an image: a label image and a table of measures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "base/memory.h"
#include "io/file/format.h"
#include "jobs/catalog.h"
#include "jobs/image_group.h"

struct values {
    struct airy_image_values image;
    struct airy_bad_values bad;
    struct airy_planes_values planes;
    struct airy_compute_values compute;
    double above, sigma;
    size_t connectivity, min_area, max_area;
    struct airy_image_output output;
    char *table;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(above, .name = "above", .type = AIRY_PARAMETER_REAL, .argument = "T",
        .fallback = "values that are not 0; NaN is background", .computed = true,
        .help = "takes values larger than T as foreground, in the unit of the image; NaN is not",
        .section = "Labels"),
    ROW(sigma, .name = "sigma", .type = AIRY_PARAMETER_REAL, .hi = INFINITY, .argument = "K",
        .help = "sets the T of {above} to K standard deviations of what a kappa-sigma clip leaves; "
                "no background "
                "is subtracted, so that it is for images around 0"),
    ROW(connectivity, .name = "connectivity", .type = AIRY_PARAMETER_WHOLE, .lo = 2, .hi = 26,
        .fallback = "4, in 3-D 6", .computed = true,
        .help = "sets the number of neighbours of a pixel: 4 or 8, in 3-D 6, 18 or 26"),
    ROW(min_area, .name = "min-area", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 4e9,
        .fallback = "1", .help = "leaves out components of fewer pixels"),
    ROW(max_area, .name = "max-area", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 4e9,
        .help = "leaves out components of more pixels"),
    ROW(output.path, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "LABELS",
        .dtypes = 1u << AIRY_DTYPE_I32,
        .help = "writes the labels into this file, an image of 32 bits"),
    ROW(table, .name = "table", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_WRITTEN,
        .affects = AIRY_AFFECTS_WHERE, .argument = "TABLE",
        .help = "writes the measures of each label into this file, .csv, .fits or .vot"),
    ROW(output.force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the outputs"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"image", AIRY_JOB_ARRAY, "output",
     "int32: the labels, made where a file is named or airy_job_want has asked for them"},
    {"table", AIRY_JOB_TABLE, "table",
     "the measures of each label, made where a file is named or airy_job_want has asked for them"},
    {"std", AIRY_JOB_JSON, NULL,
     "sigma: the standard deviation of what the clip leaves; with each a list"},
    {"iterations", AIRY_JOB_JSON, NULL, "sigma: passes of the clip; with each a list"},
    {"above", AIRY_JOB_JSON, NULL, "the threshold; with each and sigma a list"},
    {"labels", AIRY_JOB_JSON, NULL, "the number of labels; with each a list"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is found of an image, or of planes of a cube, which are volumes of one plane. */
struct label {
    airy_job *job;
    const struct values *v;
    struct airy_job_planes planes;
    bool makes_image, makes_table, has_above, has_sigma;
    size_t total;            /* images: one, or planes of all runs */
    bool flat;               /* they are planes, if with an axis of length 1 in front */
    double *above;           /* of each; infinity: nothing is foreground */
    airy_clip_result *clips; /* of each, for sigma */
    size_t *counts;
    airy_region **regions;
    airy_image labels; /* of output */
    airy_image about;  /* of planes of FITS: shape and header of them all, no data */
    bool warned;       /* that values are those of gaps */
    /* arrays of a run */
    airy_array *bits, **foreground; /* 0 and 1, of which the labels are; bits NULL: of the values */
    airy_array *cube, **targets;    /* of labels; cube NULL: not wanted */
    size_t views;                   /* of both lists */
};

static const char *name_of(const struct label *s)
{
    return airy_job_image_name(&s->planes.d);
}

/* A number of each plane as a list, or the one of the image; null where there is none. */
static json_t *numbers_json(const struct label *s, const double *numbers)
{
    if (!s->v->planes.each)
        return airy_json_real(numbers[0]);
    json_t *list = json_array();
    for (size_t i = 0; i < s->total; i++)
        json_array_append_new(list, airy_json_real(numbers[i]));
    return list;
}

static json_t *counts_json(const struct label *s, const size_t *counts)
{
    if (!s->v->planes.each)
        return json_integer((json_int_t)counts[0]);
    json_t *list = json_array();
    for (size_t i = 0; i < s->total; i++)
        json_array_append_new(list, json_integer((json_int_t)counts[i]));
    return list;
}

/* The number of a plane in the file. */
static size_t plane_number(const struct label *s, size_t i)
{
    return s->planes.whole ? i : s->planes.first + i * s->planes.step;
}

/* One frame or plane was chosen: its labels are an image. */
static bool is_one_frame(const struct label *s)
{
    return !s->planes.whole && s->planes.chosen == 1;
}

/* Thresholds of sigma that are of no use; the first one of planes is named. */
static airy_status warn_thresholds(const struct label *s)
{
    const bool each = s->v->planes.each;
    size_t none = 0, low = 0, first[2] = {0};
    char of[96] = "";
    for (size_t i = s->total; i-- > 0;) {
        const bool has = s->clips[i].kept.count > 0, below = s->above[i] < s->clips[i].kept.median;
        none += !has;
        low += below;
        first[0] = has ? first[0] : i;
        first[1] = below ? i : first[1];
    }
    AIRY_FAIL_HINT_IF(none && !each, AIRY_ERR_PARAM, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "%s: a clip leaves nothing, so there is no standard deviation; give above=T",
                      name_of(s));
    if (none)
        airy_job_message(s->job, AIRY_LOG_WARN,
                         "%s: a clip leaves nothing of %zu plane%s, of which plane %zu is the "
                         "first: no threshold, no labels",
                         name_of(s), none, none == 1 ? "" : "s", plane_number(s, first[0]));
    if (each)
        snprintf(of, sizeof(of), " of %zu plane%s, plane %zu the first,", low, low == 1 ? "" : "s",
                 plane_number(s, first[1]));
    if (low)
        airy_job_message(s->job, AIRY_LOG_WARN,
                         "%s: the threshold%s %.6g lies below the background, whose median is "
                         "%.6g; subtract that first, as sources does, or give above=T",
                         name_of(s), of, s->above[first[1]], s->clips[first[1]].kept.median);
    return AIRY_OK;
}

/* The clip's deviation becomes that of such noise. */
static airy_status measure_coarse(airy_clip_result *clip, airy_queue *queue, const airy_array *src,
                                  const airy_array *mask)
{
    airy_coarse_result few = {0};
    airy_statistics all = clip->kept;
    if (!airy_clip_may_be_coarse(&clip->kept))
        return AIRY_OK;
    if (all.count == 0)
        AIRY_TRY(airy_statistics_get(queue, &all, src, mask, AIRY_STATISTICS_MEDIAN));
    if (all.count)
        AIRY_TRY(airy_coarse_noise(queue, &few, src, mask, all.median));
    if (!few.coarse)
        return AIRY_OK;
    clip->kept.count = few.count;
    clip->kept.median = all.median;
    clip->kept.mean = few.mean;
    clip->kept.std = few.std;
    return AIRY_OK;
}

/* Thresholds of a run's images. Squares of values beyond 1e154 are infinite, and so is what is made
 * of their sum. */
static airy_status find_thresholds(struct label *s)
{
    const struct airy_job_planes *r = &s->planes;
    for (size_t i = 0; i < r->count && !s->has_sigma; i++)
        s->above[r->at + i] = s->v->above;
    if (!s->has_sigma)
        return AIRY_OK;
    AIRY_TRY(airy_clip_each(r->d.queue, s->clips + r->at, (const airy_array *const *)r->srcs,
                            (const airy_array *const *)r->masks, r->count, NULL));
    for (size_t i = 0; i < r->count; i++) {
        airy_clip_result *clip = &s->clips[r->at + i];
        double *above = &s->above[r->at + i];
        AIRY_TRY(measure_coarse(clip, r->d.queue, r->srcs[i], r->masks ? r->masks[i] : NULL));
        *above = clip->kept.count ? s->v->sigma * clip->kept.std : (double)INFINITY;
        if (clip->kept.count && !isfinite(*above))
            return airy_job_image_no_spread(&r->d);
    }
    return AIRY_OK;
}

/* The thresholds, and what those of sigma were made of. */
static airy_status put_thresholds(const struct label *s)
{
    if (!s->has_sigma)
        return s->has_above ? airy_job_put_json(s->job, "above", airy_json_real(s->v->above))
                            : AIRY_OK;
    double *stds;
    AIRY_TRY(airy_memory_calloc((void **)&stds, 2 * s->total, sizeof(*stds), "planes"));
    size_t *passes = (size_t *)(void *)(stds + s->total);
    for (size_t i = 0; i < s->total; i++) {
        stds[i] = s->clips[i].kept.std;
        passes[i] = (size_t)s->clips[i].iterations;
    }
    json_t *of_stds = numbers_json(s, stds), *of_passes = counts_json(s, passes);
    free(stds);
    airy_status status = airy_job_put_json(s->job, "std", of_stds);
    if (status == AIRY_OK)
        status = airy_job_put_json(s->job, "iterations", of_passes);
    else
        json_decref(of_passes);
    AIRY_TRY(status);
    AIRY_TRY(airy_job_put_json(s->job, "above", numbers_json(s, s->above)));
    return warn_thresholds(s);
}

/* An array of the run's shape, and of each plane a view of it. */
static airy_status open_views(const struct label *s, airy_array **whole, airy_array **views,
                              airy_dtype dtype)
{
    const airy_image *image = &s->planes.d.image;
    AIRY_TRY(
        airy_array_create_uninitialized(whole, s->job->device, dtype, image->ndim, image->shape));
    for (size_t i = 0; i < s->views; i++)
        AIRY_TRY(airy_plane_view(&views[i], *whole, i, s->views));
    return AIRY_OK;
}

static void close_views(struct label *s)
{
    for (size_t i = 0; i < s->views; i++) {
        airy_array_destroy(&s->foreground[i]);
        airy_array_destroy(&s->targets[i]);
    }
    airy_array_destroy(&s->bits);
    airy_array_destroy(&s->cube);
    free(s->foreground);
    free(s->targets);
    s->foreground = s->targets = NULL;
    s->views = 0;
}

/* 1 where a number is not 0, as airy_label has it: NaN, which is unlike itself, is none. */
static airy_status make_not_zero(airy_queue *queue, airy_array *to, const airy_array *src)
{
    if (!airy_dtype_is_float(airy_array_dtype(src)))
        return airy_combine_value(queue, to, src, AIRY_NOT_EQUAL, 0);
    AIRY_TRY(airy_combine(queue, to, src, AIRY_EQUAL, src));
    return airy_combine(queue, to, to, AIRY_AND, src);
}

/* Where values are foreground and pixels not bad. */
static airy_status make_foreground(struct label *s)
{
    const struct airy_job_planes *r = &s->planes;
    airy_queue *queue = r->d.queue;
    AIRY_TRY(open_views(s, &s->bits, s->foreground, AIRY_DTYPE_U8));
    for (size_t i = 0; i < r->count; i++) {
        airy_array *to = s->foreground[i];
        AIRY_TRY(s->has_above ? airy_threshold(queue, to, r->srcs[i], s->above[r->at + i])
                              : make_not_zero(queue, to, r->srcs[i]));
        if (r->masks) /* of 0 and 1, too */
            AIRY_TRY(airy_combine(queue, to, to, AIRY_GREATER, r->masks[i]));
    }
    return AIRY_OK;
}

/* Measures of labels of the foreground, from the values. */
static airy_status measure_images(struct label *s)
{
    const struct airy_job_planes *r = &s->planes;
    for (size_t i = r->at; i < r->at + r->count; i++)
        AIRY_TRY(airy_memory_calloc((void **)&s->regions[i], s->counts[i] + 1,
                                    sizeof(*s->regions[i]), "labels"));
    return airy_measure_each(r->d.queue, s->regions + r->at, s->counts + r->at,
                             (const airy_array *const *)s->targets,
                             (const airy_array *const *)r->srcs, r->count);
}

static airy_status label_images(struct label *s)
{
    const struct airy_job_planes *r = &s->planes;
    /* In a volume of one plane 6 and 18 neighbours are 4 and 8. */
    const int in_volumes = s->v->connectivity == 8 ? 18 : 6;
    const airy_label_params params = {
        .connectivity = s->flat && r->d.image.ndim == 3 ? in_volumes : (int)s->v->connectivity,
        .has_above = s->has_above && !s->bits,
        .above = s->above[r->at],
        .min_count = s->v->min_area,
        .max_count = s->v->max_area};
    airy_array **from = s->bits ? s->foreground : r->srcs;
    return airy_label_each(r->d.queue, s->cube ? s->targets : NULL, (const airy_array *const *)from,
                           r->count, &params, s->counts + r->at,
                           s->makes_table && !s->bits ? s->regions + r->at : NULL);
}

/* Labels of the run to their place in the label image. */
static airy_status keep_labels(struct label *s)
{
    const struct airy_job_planes *r = &s->planes;
    const size_t size = airy_array_size(s->cube), plane = size / r->count;
    AIRY_TRY(airy_array_pull(r->d.queue, (char *)s->labels.data + r->at * plane, size, s->cube));
    return airy_queue_finish(r->d.queue);
}

/* All of a run but what is said of the images together. */
static airy_status label_run(struct label *s)
{
    const struct airy_job_planes *r = &s->planes;
    AIRY_TRY(find_thresholds(s));
    AIRY_TRY(airy_memory_calloc((void **)&s->foreground, r->count, sizeof(airy_array *), "planes"));
    AIRY_TRY(airy_memory_calloc((void **)&s->targets, r->count, sizeof(airy_array *), "planes"));
    s->views = r->count;
    if (r->masks || (s->has_sigma && r->count > 1))
        AIRY_TRY(make_foreground(s));
    if (s->makes_image || (s->makes_table && s->bits))
        AIRY_TRY(open_views(s, &s->cube, s->targets, AIRY_DTYPE_I32));
    AIRY_TRY(label_images(s));
    if (s->makes_image)
        AIRY_TRY(keep_labels(s));
    return s->makes_table && s->bits ? measure_images(s) : AIRY_OK;
}

/* Room for what is found. */
static airy_status open_found(struct label *s)
{
    const size_t total = s->total = s->planes.total;
    AIRY_TRY(airy_memory_calloc((void **)&s->above, total, sizeof(*s->above), "planes"));
    AIRY_TRY(airy_memory_calloc((void **)&s->clips, total, sizeof(*s->clips), "planes"));
    AIRY_TRY(airy_memory_calloc((void **)&s->counts, total, sizeof(*s->counts), "planes"));
    AIRY_TRY(airy_memory_calloc((void **)&s->regions, total, sizeof(airy_region *), "planes"));
    if (!s->makes_image)
        return AIRY_OK;
    s->labels = s->planes.d.image;
    s->labels.header = NULL;
    s->labels.data = NULL;
    s->labels.dtype = AIRY_DTYPE_I32;
    if (!s->planes.whole)
        s->labels.shape[0] = s->planes.chosen;
    return airy_memory_calloc(&s->labels.data, airy_shape_count(s->labels.shape, s->labels.ndim),
                              sizeof(int32_t), "labels");
}

/* Of planes with their numbers. */
static airy_status add_regions(const struct label *s, struct airy_catalog *catalog,
                               const airy_region *all)
{
    if (s->v->planes.each)
        return airy_catalog_add_planes(catalog, all, s->counts, s->total, plane_number(s, 0),
                                       s->planes.whole ? 1 : s->planes.step);
    AIRY_TRY(airy_catalog_add_regions(catalog, all));
    if (s->planes.d.image.ndim == 3 && !s->flat)
        airy_catalog_add_depth(catalog, all);
    return AIRY_OK;
}

static airy_status fill_table(const struct label *s, struct airy_catalog *catalog)
{
    const struct airy_catalog_output output = {.path = s->v->table,
                                               .force = s->v->output.force,
                                               .name = "LABELS",
                                               .description = s->v->planes.each
                                                                  ? "Connected components of planes"
                                                                  : "Connected components"};
    airy_region *all;
    for (size_t i = 0; i < s->total; i++)
        catalog->rows += s->counts[i];
    AIRY_TRY(airy_memory_calloc((void **)&all, catalog->rows + 1, sizeof(*all), "labels"));
    for (size_t i = 0, at = 0; i < s->total; at += s->counts[i++])
        if (s->counts[i] > 0)
            memcpy(all + at, s->regions[i], s->counts[i] * sizeof(*all));
    airy_status status = add_regions(s, catalog, all);
    if (status == AIRY_OK)
        status = airy_catalog_put(catalog, s->job, "table", &output);
    free(all);
    return status;
}

static airy_status make_table(const struct label *s)
{
    struct airy_catalog catalog;
    airy_catalog_open(&catalog, s->planes.whole ? &s->planes.d.image : &s->about);
    const airy_status status = fill_table(s, &catalog);
    airy_catalog_close(&catalog);
    return status;
}

/* Planes were read without the file's header, which has the unit of a table and labels' coordinates. */
static void read_about(struct label *s)
{
    const char *input = s->v->image.image.path, *output = s->v->output.path;
    const bool wanted = s->makes_table || (output && airy_name_is_fits(output));
    if (!wanted || s->planes.whole || !input || !airy_image_is_fits(input))
        return;
    if (airy_fits_read_planes(&s->about, input, 0, 0, 1) != AIRY_OK)
        s->about = (airy_image){.data = NULL};
    airy_job_warn_cards(&s->planes.d, &s->about);
}

/* Labels of planes of FITS get their axes and header; false: these are not known, or cannot follow. */
static bool add_header(struct label *s, airy_image *labels)
{
    const struct airy_job_planes *r = &s->planes;
    const char *output = s->v->output.path;
    airy_image *about = &s->about;
    if (!output || !airy_name_is_fits(output) || about->ndim == 0 ||
        airy_image_choose_planes(about, r->first, r->chosen, r->step) != AIRY_OK ||
        airy_shape_count(about->shape, about->ndim) !=
            airy_shape_count(labels->shape, labels->ndim))
        return false;
    about->dtype = labels->dtype;
    about->data = labels->data;
    *labels = *about;
    *about = (airy_image){.data = NULL};
    return true;
}

static airy_status put_labels(struct label *s)
{
    airy_image labels = s->labels;
    s->labels.data = NULL;
    if (!s->planes.whole && !add_header(s, &labels)) {
        airy_job_warn_header(s->job, s->v->output.path, s->v->image.image.path);
        if (is_one_frame(s)) {
            labels.ndim = 2;
            memmove(labels.shape, labels.shape + 1, 2 * sizeof(size_t));
        }
    }
    return airy_job_image_put(&s->planes.d, &labels, "image", &s->v->output);
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    const size_t c = v->connectivity;
    const bool of_planes = c == 4 || c == 8, each = v->planes.each;
    AIRY_FAIL_ON_IF(airy_job_is_set(job, "above") && airy_job_is_set(job, "sigma"), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s and sigma exclude each other", "above");
    AIRY_FAIL_ON_IF(v->max_area && v->min_area > v->max_area, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %zu: expected at most max-area=%zu", "min-area",
                    v->min_area, v->max_area);
    AIRY_FAIL_ON_IF(c && !of_planes && (each || (c != 2 && c != 6 && c != 18 && c != 26)),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s %zu: expected 4 or 8%s",
                    "connectivity", c, each ? " in planes" : ", in 3-D 6, 18 or 26");
    if (v->output.path && airy_image_has_format(v->output.path))
        AIRY_TRY(airy_job_check_format("output", v->output.path, AIRY_DTYPE_I32, 0));
    return airy_catalog_check_name("table", v->table);
}

/* Neighbours are those of a plane, or of what is labelled as a whole. */
static airy_status check_image(const struct label *s)
{
    static const char *const expected[] = {"2", "4 or 8", "6, 18 or 26"};
    const airy_image *image = &s->planes.d.image;
    const size_t c = s->v->connectivity;
    AIRY_FAIL_IF(image->ndim > 3, AIRY_ERR_SHAPE,
                 "%s: has %d dimensions, expected an image or a volume%s", name_of(s), image->ndim,
                 s->v->planes.each ? "" : "; each=on takes its planes");
    const int ndim = s->flat ? 2 : image->ndim;
    const bool known = ndim == 1   ? c == 2
                       : ndim == 2 ? c == 4 || c == 8
                                   : c == 6 || c == 18 || c == 26;
    AIRY_FAIL_ON_IF(c && !known, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                    "%s %zu: expected %s in %d dimension%s", "connectivity", c, expected[ndim - 1],
                    ndim, ndim == 1 ? "" : "s");
    return is_one_frame(s) ? airy_job_check_format("output", s->v->output.path, AIRY_DTYPE_I32, 2)
                           : airy_job_image_check_format(&s->planes.d, "output", s->v->output.path,
                                                         AIRY_DTYPE_I32);
}

/* A stack may have been meant. */
static void warn_volume(const struct label *s)
{
    const airy_image *image = &s->planes.d.image;
    if (!s->flat && !s->v->connectivity && image->ndim == 3 &&
        (s->planes.whole ? image->shape[0] : s->planes.chosen) > 1)
        airy_job_message(s->job, AIRY_LOG_WARN,
                         "the volume is labelled as a whole, across its planes; each=on labels "
                         "each plane by itself");
}

/* All images, and warnings about their values. */
static airy_status label_all(struct label *s)
{
    const double above = s->has_above && !s->has_sigma ? s->v->above : -(double)INFINITY;
    const bool marked = airy_job_warn_mask(&s->planes.d, s->planes.stack);
    for (;;) {
        AIRY_TRY(airy_job_planes_next(&s->planes));
        if (s->planes.count == 0)
            return AIRY_OK;
        AIRY_TRY(label_run(s));
        close_views(s);
        if (!marked && !s->warned)
            s->warned = airy_job_warn_values(&s->planes.d, above);
    }
}

static airy_status run(airy_job *job, void *state)
{
    struct label *s = state;
    const struct values *v = job->values;
    *s = (struct label){
        .job = job,
        .v = v,
        .planes = {.d = {.job = job, .from = &v->image, .bad = &v->bad, .compute = &v->compute},
                   .values = &v->planes},
        .makes_image = v->output.path || airy_job_is_wanted(job, "image"),
        .makes_table = v->table || airy_job_is_wanted(job, "table"),
        .has_sigma = airy_job_is_set(job, "sigma"),
        .has_above = airy_job_is_set(job, "above") || airy_job_is_set(job, "sigma")};
    AIRY_TRY(airy_job_planes_open(&s->planes, s->makes_image));
    s->flat = v->planes.each || is_one_frame(s);
    AIRY_TRY(check_image(s));
    warn_volume(s);
    AIRY_TRY(open_found(s));
    AIRY_TRY(label_all(s));
    AIRY_TRY(airy_job_image_finish(&s->planes.d));
    AIRY_TRY(put_thresholds(s));
    AIRY_TRY(airy_job_put_json(job, "labels", counts_json(s, s->counts)));
    read_about(s);
    if (s->makes_table)
        AIRY_TRY(make_table(s));
    return s->makes_image ? put_labels(s) : AIRY_OK;
}

static void close_label(void *state)
{
    struct label *s = state;
    close_views(s);
    for (size_t i = 0; s->regions && i < s->total; i++)
        airy_regions_free(s->regions[i]);
    airy_image_free(&s->labels);
    airy_image_free(&s->about);
    free(s->above);
    free(s->clips);
    free(s->counts);
    free(s->regions);
    airy_job_planes_close(&s->planes);
}

extern const struct airy_job_kind airy_job_label;
const struct airy_job_kind airy_job_label = {
    .name = "label",
    .summary = "number the connected components of an image, and measure them",
    .details =
        "Labels are 1, 2, ... in the raster order of the components' first pixels, as "
        "scipy.ndimage.label has them. The table has label, npix, sum, mean, peak and its place, "
        "center of mass, box (ends included), second moments about the center weighted by the "
        "values, semi-axes a and b and angle theta (rad, from x towards y), empty where values of "
        "both signs leave no ellipse; of a volume also the places along z, while moments are those "
        "of x and y; coordinates are pixel centres from 0. With each a column 'plane' comes first. "
        "Gives {labels}, with the threshold used; with each labels, and thresholds of sigma, are "
        "lists, as each plane has its own. Bad pixels are background. With each, and no output or "
        "with frames, only some planes of a stack are in memory, and the labels of the output.",
    .groups = {{airy_image_rows, offsetof(struct values, image)},
               {rows, 0},
               {airy_planes_rows, offsetof(struct values, planes)},
               {airy_bad_rows, offsetof(struct values, bad)},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct label),
    .check = check,
    .run = run,
    .close = close_label,
    .together = true,
};
