/* Results of the job oct: into a file that grows, pictures, projections, arrays in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/image.h"
#include "base/size.h"
#include "base/word.h"
#include "jobs/oct/oct.h"

enum { MOST_SORTED = 1 << 20 };

double airy_oct_depth_um(const airy_oct_info *info)
{
    return info->depth_step_m > 0 ? 1e6 * info->depth_step_m : 0;
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

bool airy_oct_limits(const float *values, size_t count, double lo_percent, double hi_percent,
                     double *lo, double *hi)
{
    const size_t step = count / MOST_SORTED + 1;
    float *sorted = malloc((count / step + 1) * sizeof(*sorted));
    size_t n = 0;
    for (size_t i = 0; sorted && i < count; i += step)
        if (isfinite(values[i]))
            sorted[n++] = values[i];
    if (n) {
        qsort(sorted, n, sizeof(*sorted), compare);
        *lo = (double)sorted[(size_t)(lo_percent / 100 * (double)(n - 1))];
        *hi = (double)sorted[(size_t)(hi_percent / 100 * (double)(n - 1))];
        if (!(*hi > *lo))
            *hi = *lo + (*lo != 0 ? fabs(*lo) : 1);
    }
    free(sorted);
    return n > 0;
}

/* The largest of them, NaN left out; -infinity where there is none. */
static float find_largest(const float *values, size_t count)
{
    enum { AT_ONCE = 16 };
    float most[AT_ONCE], largest = -INFINITY;
    size_t i = 0;
    for (size_t k = 0; k < AT_ONCE; k++)
        most[k] = -INFINITY;
    for (; i + AT_ONCE <= count; i += AT_ONCE)
        for (size_t k = 0; k < AT_ONCE; k++)
            most[k] = values[i + k] > most[k] ? values[i + k] : most[k];
    for (size_t k = 0; k < AT_ONCE; k++)
        largest = most[k] > largest ? most[k] : largest;
    for (; i < count; i++)
        largest = values[i] > largest ? values[i] : largest;
    return largest;
}

/* A camera goes on meanwhile: of 4,096 lines, number by number, 16 buffers were full before the end. */
void airy_oct_find_peak(struct oct_peak *peak, const float *values, const airy_oct_info *info,
                        size_t depth_first)
{
    *peak = (struct oct_peak){.value = (double)NAN};
    for (size_t l = 0; l < info->out_lines; l++) {
        const float *line = values + l * info->depth, most = find_largest(line, info->depth);
        if (!(most > -INFINITY) || (double)most <= peak->value)
            continue;
        for (size_t z = 0; z < info->depth; z++)
            if (isfinite(line[z]) && !((double)line[z] <= peak->value))
                *peak = (struct oct_peak){(double)line[z], l, depth_first + z};
    }
}

/* ---- projections ---- */

struct oct_map {
    airy_job *job;
    const char *option;
    const struct oct_map_values *v;
    bool max;
    size_t lines, depth, first, last; /* bins of a result */
    float *values;                    /* [rows][lines], or [lines][depth] */
    size_t rows, room;
};

static const char *set_path(struct oct_map_values *map, const char *text, size_t length)
{
    /* What goes into memory alone has no name: ",4:9". */
    if (!*text || length >= sizeof(map->path))
        return *text ? "expected a shorter name" : "expected the name of a file";
    snprintf(map->path, sizeof(map->path), "%.*s", (int)length, text);
    return NULL;
}

static const char *parse_enface(void *field, const char *text)
{
    static const struct airy_job_row bins = {
        {.name = "bins", .type = AIRY_PARAMETER_RANGE}, 0, NULL};
    struct oct_map_values *map = field;
    const char *comma = strrchr(text, ',');
    size_t range[3];
    *map = (struct oct_map_values){
        .has_bins = comma && comma[1] && strspn(comma + 1, "0123456789:") == strlen(comma + 1)};
    if (!map->has_bins)
        return set_path(map, text, strlen(text));
    if (airy_value_parse(&bins, range, comma + 1) != AIRY_OK || range[2] != 1)
        return "expected Z0 below Z1 in ,Z0:Z1";
    map->bins[0] = range[0];
    map->bins[1] = range[1];
    return set_path(map, text, (size_t)(comma - text));
}

static void print_enface(char *text, size_t size, const void *field)
{
    const struct oct_map_values *map = field;
    const int n = snprintf(text, size, "%s", map->path);
    if (map->has_bins && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, map->bins[1] ? ",%zu:%zu" : ",%zu:", map->bins[0],
                 map->bins[1]);
}

static const char *parse_mip(void *field, const char *text)
{
    struct oct_map_values *map = field;
    const char *comma = strrchr(text, ',');
    *map = (struct oct_map_values){.along_frames = comma && strcmp(comma, ",frames") == 0};
    const bool along = map->along_frames || (comma && strcmp(comma, ",depth") == 0);
    return set_path(map, text, along ? (size_t)(comma - text) : strlen(text));
}

static void print_mip(char *text, size_t size, const void *field)
{
    const struct oct_map_values *map = field;
    snprintf(text, size, "%s%s", map->path, map->along_frames ? ",frames" : ",depth");
}

const struct airy_job_record airy_oct_enface_record = {sizeof(struct oct_map_values), parse_enface,
                                                       print_enface},
                             airy_oct_mip_record = {sizeof(struct oct_map_values), parse_mip,
                                                    print_mip};

/* PNG holds integers. */
static bool is_png(const char *path)
{
    return path && airy_has_suffix(path, ".png");
}

static airy_status check_map(const airy_job *job, const char *option,
                             const struct oct_map_values *map, const char *more)
{
    const bool named = map->path[0];
    AIRY_FAIL_ON_IF(airy_job_is_set(job, option) && (named ? !airy_image_has_format(map->path)
                                                           : !airy_job_is_wanted(job, option)),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %s: expected the name of an image, such as OUT.npy, with %s behind", option,
                    map->path, more);
    return AIRY_OK;
}

/* The bins of a projection, in those of the results. */
static airy_status choose_bins(struct oct_map *m, size_t depth_first)
{
    char text[sizeof(m->v->path) + 64];
    m->last = m->depth;
    if (!m->v->has_bins)
        return AIRY_OK;
    const size_t first = m->v->bins[0], end = depth_first + m->depth,
                 last = m->v->bins[1] ? m->v->bins[1] : end;
    print_enface(text, sizeof(text), m->v);
    AIRY_FAIL_HINT_IF(first < depth_first || last > end || first >= last, AIRY_ERR_PARAM,
                      AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %s: results have the bins %zu:%zu", m->option, text, depth_first, end);
    m->first = first - depth_first;
    m->last = last - depth_first;
    return AIRY_OK;
}

/* An output is none of the inputs, and is not there already. */
static airy_status check_path(const struct oct_results *r, const struct oct_source *from,
                              const char *path, bool exists)
{
    struct stat plan, about;
    if (from->input.stack)
        AIRY_TRY(airy_job_keep_stack(from->input.stack, path));
    AIRY_FAIL_HINT_IF(stat(r->v->plan, &plan) == 0 && stat(path, &about) == 0 &&
                          plan.st_dev == about.st_dev && plan.st_ino == about.st_ino,
                      AIRY_ERR_PARAM, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "output '%s' is the plan, which would be lost; choose another name", path);
    AIRY_FAIL_ON_IF(!exists && !r->v->force && access(path, F_OK) == 0, AIRY_ERR_EXISTS,
                    AIRY_SUBJECT_FILE, "'%s' is there already", path);
    return AIRY_OK;
}

/* A projection or a picture is asked for, in a file or in memory. */
static bool is_asked(const airy_job *job, const char *name)
{
    return airy_job_is_wanted(job, name) || airy_job_is_set(job, name);
}

static airy_status open_map(struct oct_map **map, struct oct_results *r, const char *option,
                            const struct oct_map_values *v, const struct oct_source *from)
{
    if (!is_asked(r->job, option))
        return AIRY_OK;
    struct oct_map *m = *map = calloc(1, sizeof(*m));
    AIRY_FAIL_IF(!m, AIRY_ERR_MEMORY, "out of memory for a projection");
    *m = (struct oct_map){.job = r->job,
                          .option = option,
                          .v = v,
                          .max = option[0] == 'm',
                          .lines = r->info.out_lines,
                          .depth = r->info.depth};
    AIRY_TRY(choose_bins(m, r->plan->depth_first));
    if (!v->path[0])
        return AIRY_OK;
    AIRY_TRY(airy_image_check_format(v->path, is_png(v->path) ? AIRY_DTYPE_U8 : AIRY_DTYPE_F32, 2));
    return check_path(r, from, v->path, false);
}

/* Room for one more row of `width`. */
static float *next_row(struct oct_map *m, size_t width)
{
    if (m->rows == m->room) {
        const size_t room = m->room ? 2 * m->room : 64;
        float *values = realloc(m->values, room * width * sizeof(*values));
        if (!values)
            return NULL;
        m->values = values;
        m->room = room;
    }
    return m->values + m->rows++ * width;
}

static void fold_frames(struct oct_map *m, const float *values)
{
    for (size_t i = 0; i < m->lines * m->depth; i++)
        m->values[i] = fmaxf(m->values[i], values[i]); /* the number, beside NaN */
}

static void fold_depth(const struct oct_map *m, float *row, const float *values)
{
    for (size_t l = 0; l < m->lines; l++) {
        const float *bins = values + l * m->depth;
        float most = bins[m->first];
        double sum = 0;
        for (size_t z = m->first; z < m->last; z++) {
            most = fmaxf(most, bins[z]);
            sum += (double)bins[z];
        }
        row[l] = m->max ? most : (float)(sum / (double)(m->last - m->first));
    }
}

/* Add the values of one result. */
static airy_status add_to_map(struct oct_map *m, const float *values)
{
    const size_t count = m->lines * m->depth;
    const bool whole = m->v->along_frames;
    if (whole && m->values) {
        fold_frames(m, values);
        return AIRY_OK;
    }
    float *row = whole ? m->values = malloc(count * sizeof(*row)) : next_row(m, m->lines);
    AIRY_FAIL_IF(!row, AIRY_ERR_MEMORY, "%s: out of memory for %zu rows", m->option, m->rows + 1);
    if (whole)
        memcpy(row, values, count * sizeof(*row));
    else
        fold_depth(m, row, values);
    return AIRY_OK;
}

/* As PNG from the 1st to the 99.9th percentile. */
static airy_status write_grey(const struct oct_map *m, const airy_image *image, bool force)
{
    const size_t count = image->shape[0] * image->shape[1];
    double lo = 0, hi = 1;
    uint8_t *grey = malloc(count);
    AIRY_FAIL_IF(!grey, AIRY_ERR_MEMORY, "%s: out of memory for %zu pixels", m->v->path, count);
    airy_oct_limits(m->values, count, 1, 99.9, &lo, &hi);
    for (size_t i = 0; i < count; i++)
        grey[i] = (uint8_t)(255 * fmin(fmax(((double)m->values[i] - lo) / (hi - lo), 0), 1));
    airy_job_message(m->job, AIRY_LOG_WARN, "%s: black is %.4g, white %.4g", m->v->path, lo, hi);
    airy_image picture = *image;
    picture.dtype = AIRY_DTYPE_U8;
    picture.data = grey;
    const airy_status status = airy_image_write(&picture, m->v->path, force);
    free(grey);
    return status;
}

/* Write its file, or hand it over. */
static airy_status finish_map(struct oct_map *m, bool force)
{
    const bool whole = m->v->along_frames;
    const airy_host_view view = {
        .dtype = AIRY_DTYPE_F32,
        .ndim = 2,
        .shape = {whole ? m->lines : m->rows, whole ? m->depth : m->lines}};
    const airy_image image = {
        .dtype = view.dtype, .ndim = 2, .shape = {view.shape[0], view.shape[1]}, .data = m->values};
    const char *path = m->v->path;
    if (path[0])
        AIRY_TRY(is_png(path) ? write_grey(m, &image, force)
                              : airy_image_write(&image, path, force));
    if (airy_job_is_wanted(m->job, m->option)) {
        airy_job_put_array(m->job, m->option, &view, m->values);
        m->values = NULL;
    }
    return AIRY_OK;
}

static void close_map(struct oct_map **map)
{
    if (*map)
        free((*map)->values);
    free(*map);
    *map = NULL;
}

/* ---- what is opened ---- */

bool airy_oct_results_is_stack(const struct oct_values *v)
{
    return v->output && !is_png(v->output);
}

airy_status airy_oct_results_check(const airy_job *job)
{
    const struct oct_values *v = job->values;
    AIRY_FAIL_ON_IF(v->output && !is_png(v->output) && !airy_frame_writer_has_format(v->output),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s': expected a name that ends in .h5, .npy%s or .png", "output",
                    v->output, AIRY_HAVE_TIFF ? ", .tif" : "");
    AIRY_FAIL_ON_IF(
        airy_job_is_set(job, "frame") && !is_png(v->output) && !airy_job_is_wanted(job, "picture"),
        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s %zu: it selects the result of a picture, and none is asked for", "frame", v->frame);
    AIRY_TRY(check_map(job, "enface", &v->enface, ",Z0:Z1"));
    return check_map(job, "mip", &v->mip, ",depth or ,frames");
}

airy_status airy_oct_results_adapt(const airy_job *job, airy_oct_params *plan)
{
    const struct oct_values *v = job->values;
    const bool drawn = is_png(v->output) || airy_job_is_wanted(job, "picture") ||
                       is_asked(job, "enface") || is_asked(job, "mip");
    AIRY_FAIL_HINT_IF(plan->output == AIRY_OCT_COMPLEX && drawn, AIRY_ERR_PARAM, AIRY_HINT_STATED,
                      AIRY_SUBJECT_NONE,
                      "complex results have no picture; choose another \"output\" in the plan");
    if (is_png(v->output) && plan->to == AIRY_DTYPE_F32) {
        plan->display = true;
        plan->to = AIRY_DTYPE_U8;
    }
    return AIRY_OK;
}

/* What the numbers of a result are, as the name of a dataset; *unit may be NULL. */
static const char *name_signal(const airy_oct_params *plan, const char **unit)
{
    static const char *const names[] = {"db", "magnitude", "power", "phase", "complex"};
    static const char *const units[] = {"dB", NULL, NULL, "rad", NULL};
    const bool variance = plan->flow == AIRY_OCT_FLOW_VARIANCE;
    *unit = plan->display || variance ? NULL : units[plan->output];
    return plan->display ? "display" : variance ? "variance" : names[plan->output];
}

static airy_status open_writer(struct oct_results *r, const struct airy_oct_results_open *o)
{
    const double step = airy_oct_depth_um(&r->info);
    const uint64_t frames = o->source->frames;
    double *depth = malloc(r->info.depth * sizeof(*depth));
    AIRY_FAIL_IF(!depth, AIRY_ERR_MEMORY, "out of memory for %zu bins", r->info.depth);
    for (size_t i = 0; i < r->info.depth; i++)
        depth[i] = (double)(r->plan->depth_first + i) * (step > 0 ? step : 1);
    airy_frame_writer_params params = {
        .dtype = r->plan->to,
        .height = r->info.out_lines,
        .width = r->info.depth,
        .is_complex = r->plan->output == AIRY_OCT_COMPLEX,
        .complex_as_pairs = r->v->pairs,
        .force = r->v->force,
        .frames = frames == UINT64_MAX ? 0 : frames / r->info.frames_per_result,
        .process = "oct",
        .axis = depth,
        .axis_name = step > 0 ? "depth" : "bin",
        .axis_units = step > 0 ? "um" : NULL,
        .configuration = o->configuration};
    params.signal = name_signal(r->plan, &params.signal_units);
    const airy_status status = airy_frame_writer_create(&r->writer, r->v->output, &params);
    free(depth);
    return status;
}

/* Whether all results stay in memory: these are asked for, or nothing is. */
static bool keeps_all(const airy_job *job)
{
    const struct oct_values *v = job->values;
    const bool others = v->output || airy_job_is_wanted(job, "picture") ||
                        is_asked(job, "enface") || is_asked(job, "mip") || airy_oct_is_live(job);
    return airy_job_is_wanted(job, "profiles") || !others;
}

/* Take memory for results that are kept; of an unknown number it grows. */
static airy_status make_room(struct oct_results *r, uint64_t count)
{
    const uint64_t limit = r->v->compute.memory_limit;
    size_t bytes;
    const bool much = count > SIZE_MAX ||
                      airy_mul_size(&bytes, (size_t)count, r->info.result_bytes);
    AIRY_FAIL_IF(much || (limit && bytes > limit), AIRY_ERR_MEMORY,
                 "%llu results of %zu bytes do not fit the memory; name an output",
                 (unsigned long long)count, r->info.result_bytes);
    char *kept = realloc(r->kept, bytes ? bytes : 1);
    AIRY_FAIL_IF(!kept, AIRY_ERR_MEMORY, "out of memory for %llu results; name an output",
                 (unsigned long long)count);
    r->kept = kept;
    r->room = (size_t)count;
    return AIRY_OK;
}

airy_status airy_oct_results_open(struct oct_results *r, airy_job *job,
                                  const struct airy_oct_results_open *o)
{
    const struct oct_values *v = job->values;
    const size_t count = o->info.out_lines * o->info.depth;
    const uint64_t frames = o->source->frames, each = o->info.frames_per_result;
    *r = (struct oct_results){.job = job,
                              .v = v,
                              .plan = o->plan,
                              .info = o->info,
                              .png = is_png(v->output),
                              .one = frames != UINT64_MAX && frames / each == 1,
                              .peak = {.value = (double)NAN},
                              .has_peak = o->peak != NULL,
                              .keeps = keeps_all(job),
                              .has_picture = airy_job_is_wanted(job, "picture")};
    if (o->peak)
        r->peak = *o->peak;
    r->values = malloc(count * sizeof(*r->values));
    AIRY_FAIL_IF(!r->values, AIRY_ERR_MEMORY, "out of memory for %zu x %zu values",
                 o->info.out_lines, o->info.depth);
    AIRY_TRY(open_map(&r->enface, r, "enface", &v->enface, o->source));
    AIRY_TRY(open_map(&r->mip, r, "mip", &v->mip, o->source));
    if (r->keeps && frames != UINT64_MAX && !v->repeat.times && !(v->repeat.seconds > 0))
        AIRY_TRY(make_room(r, frames / each));
    if (v->output)
        AIRY_TRY(check_path(r, o->source, v->output, true));
    return airy_oct_results_is_stack(v) ? open_writer(r, o) : AIRY_OK;
}

/* ---- results ---- */

/* One result as floats. */
static const float *as_floats(struct oct_results *r, const void *result)
{
    const size_t count = r->info.out_lines * r->info.depth;
    if (r->plan->to == AIRY_DTYPE_F32)
        return result;
    const airy_image image = {
        .dtype = r->plan->to, .ndim = 1, .shape = {count}, .data = (void *)result};
    for (size_t i = 0; i < count; i++)
        r->values[i] = (float)airy_image_value(&image, i);
    return r->values;
}

/* NAME.png, or NAME_0012.png: depth downwards. */
static airy_status write_picture(const struct oct_results *r, const void *result)
{
    char path[4200];
    const char *output = r->v->output;
    const size_t lines = r->info.out_lines, depth = r->info.depth,
                 size = airy_dtype_size(r->plan->to);
    if (r->one || airy_job_is_set(r->job, "frame"))
        snprintf(path, sizeof(path), "%s", output);
    else
        snprintf(path, sizeof(path), "%.*s_%04llu.png", (int)(strlen(output) - 4), output,
                 (unsigned long long)r->frames);
    char *turned = malloc(lines * depth * size);
    AIRY_FAIL_IF(!turned, AIRY_ERR_MEMORY, "%s: out of memory for %zu x %zu pixels", path, depth,
                 lines);
    for (size_t l = 0; l < lines; l++)
        for (size_t z = 0; z < depth; z++)
            memcpy(turned + (z * lines + l) * size, (const char *)result + (l * depth + z) * size,
                   size);
    const airy_image image = {
        .dtype = r->plan->to, .ndim = 2, .shape = {depth, lines}, .data = turned};
    const airy_status status = airy_image_write(&image, path, r->v->force);
    free(turned);
    return status;
}

static airy_status keep_picture(struct oct_results *r, const float *values)
{
    const size_t size = r->info.out_lines * r->info.depth * sizeof(*values);
    r->picture = malloc(size);
    AIRY_FAIL_IF(!r->picture, AIRY_ERR_MEMORY, "out of memory for a picture");
    memcpy(r->picture, values, size);
    return AIRY_OK;
}

static airy_status add_one(struct oct_results *r, const void *result)
{
    const bool chosen = r->frames == r->v->frame, first = r->frames == 0 && !r->has_peak,
               drawn = r->has_picture && chosen;
    if (r->png && (!airy_job_is_set(r->job, "frame") || chosen))
        AIRY_TRY(write_picture(r, result));
    if (r->plan->output == AIRY_OCT_COMPLEX || !(first || drawn || r->enface || r->mip))
        return AIRY_OK;
    const float *values = as_floats(r, result);
    if (first)
        airy_oct_find_peak(&r->peak, values, &r->info, r->plan->depth_first);
    if (drawn)
        AIRY_TRY(keep_picture(r, values));
    if (r->enface)
        AIRY_TRY(add_to_map(r->enface, values));
    return r->mip ? add_to_map(r->mip, values) : AIRY_OK;
}

airy_status airy_oct_results_add(struct oct_results *r, const void *data, size_t count)
{
    const size_t bytes = r->info.result_bytes;
    if (r->writer)
        AIRY_TRY(airy_frame_writer_add(r->writer, data, count));
    if (r->keeps && r->room - r->frames < count)
        AIRY_TRY(make_room(r, 2 * (r->frames + count)));
    if (r->keeps)
        memcpy(r->kept + r->frames * bytes, data, count * bytes);
    for (size_t i = 0; i < count; i++, r->frames++)
        AIRY_TRY(add_one(r, (const char *)data + i * bytes));
    return AIRY_OK;
}

/* Arrays, and what their numbers are. */
static airy_status put_arrays(struct oct_results *r)
{
    const bool complex = r->plan->output == AIRY_OCT_COMPLEX;
    const double range[2] = {r->plan->low, r->plan->high};
    const char *unit, *signal = name_signal(r->plan, &unit);
    const airy_host_view all = {.dtype = r->plan->to,
                                .ndim = complex ? 4 : 3,
                                .shape = {r->frames, r->info.out_lines, r->info.depth, 2}},
                         one = {.dtype = AIRY_DTYPE_F32,
                                .ndim = 2,
                                .shape = {r->info.out_lines, r->info.depth}};
    if (!r->keeps && !r->has_picture)
        return AIRY_OK;
    AIRY_TRY(airy_job_put_text(r->job, "signal", signal));
    if (unit)
        AIRY_TRY(airy_job_put_text(r->job, "unit", unit));
    if (range[0] < range[1])
        airy_job_put_numbers(r->job, "range", range, 2);
    if (r->keeps)
        airy_job_put_array(r->job, "profiles", &all, r->kept);
    if (r->picture)
        airy_job_put_array(r->job, "picture", &one, r->picture);
    r->kept = NULL;
    r->picture = NULL;
    return AIRY_OK;
}

airy_status airy_oct_results_finish(struct oct_results *r)
{
    const struct oct_values *v = r->v;
    AIRY_FAIL_HINT_IF(r->frames == 0, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "%s: too few frames came for one result, which takes %zu",
                      v->raw.path ? v->raw.path : "array", r->info.frames_per_result);
    AIRY_FAIL_HINT_IF(airy_job_is_set(r->job, "frame") && v->frame >= r->frames, AIRY_ERR_PARAM,
                      AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %zu: %s gives %llu result%s, numbered from 0", "frame", v->frame,
                      v->raw.path ? v->raw.path : "array", (unsigned long long)r->frames,
                      r->frames == 1 ? "" : "s");
    if (r->enface)
        AIRY_TRY(finish_map(r->enface, v->force));
    if (r->mip)
        AIRY_TRY(finish_map(r->mip, v->force));
    AIRY_TRY(put_arrays(r));
    return r->writer ? airy_frame_writer_finish(r->writer) : AIRY_OK;
}

void airy_oct_results_close(struct oct_results *r)
{
    airy_frame_writer_destroy(&r->writer);
    close_map(&r->enface);
    close_map(&r->mip);
    free(r->values);
    free(r->picture);
    free(r->kept);
    *r = (struct oct_results){.job = NULL};
}
