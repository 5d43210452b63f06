/* Patterns as columns of text, one file a frame. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_integrate.h"

static const char *const suffixes[] = {".xye", ".xy", ".chi", ".dat"};

bool ascii_name(const char *path)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (tool_has_suffix(path, suffixes[i]))
            return true;
    return false;
}

/* Buffers of one frame on its way. */
struct lane {
    airy_queue *queue;
    airy_array *frame, *sums, *stats;
    void *pixels;
    double *values; /* [AIRY_SUM_PLANES][bins] */
    float *intensity, *std, *sem;
    size_t pixels_size, sums_size;
    char *head;                  /* of every file */
    float *table, *table_errors; /* [frames][bins], of --one-table */
};

static void lane_close(struct lane *lane)
{
    airy_array_destroy(&lane->stats);
    airy_array_destroy(&lane->sums);
    airy_array_destroy(&lane->frame);
    airy_queue_destroy(&lane->queue);
    free(lane->pixels);
    free(lane->values);
    free(lane->intensity);
    free(lane->std);
    free(lane->sem);
    free(lane->head);
    free(lane->table);
    free(lane->table_errors);
}

static int lane_open(struct lane *lane, const struct integration *job)
{
    const size_t bins = airy_integrator_bins(job->integrator);
    const size_t frame[3] = {1, job->info.height, job->info.width},
                 sums[3] = {1, AIRY_SUM_PLANES, bins};
    const size_t stats[2] = {1, sizeof(airy_frame_stats)};
    memset(lane, 0, sizeof(*lane));
    lane->pixels_size = frame[1] * frame[2] * airy_dtype_size(job->info.dtype);
    lane->sums_size = AIRY_SUM_PLANES * bins * sizeof(double);
    lane->pixels = malloc(lane->pixels_size);
    lane->values = malloc(lane->sums_size);
    lane->intensity = malloc(bins * sizeof(float));
    lane->std = malloc(bins * sizeof(float));
    lane->sem = malloc(bins * sizeof(float));
    if (!lane->pixels || !lane->values || !lane->intensity || !lane->std || !lane->sem)
        return tool_fail(job->common, "out of memory for a frame of %zu bytes", lane->pixels_size);
    airy_status status = airy_queue_create(&lane->queue, job->device);
    if (status == AIRY_OK)
        status = airy_array_create(&lane->frame, job->device, job->info.dtype, 3, frame);
    if (status == AIRY_OK)
        status = airy_array_create(&lane->sums, job->device, AIRY_DTYPE_F64, 3, sums);
    if (status == AIRY_OK)
        status = airy_array_create(&lane->stats, job->device, AIRY_DTYPE_U8, 2, stats);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(job->common, status);
}

static airy_status integrate_one(struct lane *lane, const struct integration *job, size_t index)
{
    airy_status status = airy_stack_read(job->stack, index, lane->pixels, lane->pixels_size);
    if (status == AIRY_OK)
        status = airy_array_push(lane->queue, lane->frame, lane->pixels, lane->pixels_size);
    if (status == AIRY_OK)
        status = airy_integrate(lane->queue, lane->sums, lane->stats, job->integrator, lane->frame);
    if (status == AIRY_OK)
        status = airy_array_pull(lane->queue, lane->values, lane->sums_size, lane->sums);
    if (status == AIRY_OK)
        status = airy_queue_finish(lane->queue);
    if (status == AIRY_OK)
        status = airy_integrator_finish(job->integrator, lane->values,
                                        job->monitor ? job->monitor[index] : 1, lane->intensity,
                                        lane->std, lane->sem);
    return status;
}

/* JSON as comment lines. */
static void write_comment(FILE *file, const char *text)
{
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        fprintf(file, "# %.*s\n", length, text);
        text += length + (text[length] == '\n');
    }
}

/* All that is the same in each file: the configuration but for its inputs. */
static char *make_head(const struct integration *job)
{
    json_t *json = json_loads(job->configuration, 0, NULL);
    json_object_del(json, "inputs");
    char *text = json ? tool_json_text(json) : NULL;
    json_decref(json);
    return text;
}

static const char *mask_words(const struct integration *job)
{
    const struct integrate_params *p = job->params;
    return p->mask_only || p->mask ? "user's"
           : job->meta.has_mask    ? "file's and detector's"
                                   : "detector's";
}

static void write_header(FILE *file, const struct integration *job, const struct lane *lane,
                         const char *name)
{
    const struct integrate_params *p = job->params;
    fprintf(file, "# Made by airy %s\n", airy_version());
    if (lane->head)
        write_comment(file, lane->head);
    fprintf(file, "# Mask applied: %s\n# Dark current applied: %s\n# Flat field applied: %s\n",
            mask_words(job), p->dark ? p->dark : "False", p->flat ? p->flat : "False");
    if (p->has_polarization)
        fprintf(file, "# Polarization factor: %.9g\n", p->polarization[0]);
    else
        fputs("# Polarization factor: None\n", file);
    fprintf(file, "# --> %s\n", name);
}

static double normalization_of(const struct integration *job, size_t index)
{
    const struct integrate_params *p = job->params;
    return (p->has_normalization ? p->normalization : 1) * (job->monitor ? job->monitor[index] : 1);
}

/* What the columns are, in words and in their order. */
static void write_columns(FILE *file, const struct integration *job, bool errors)
{
    const airy_unit unit = job->params->pattern.unit;
    fprintf(file, "# Columns: %s, intensity%s\n", airy_unit_label(unit),
            errors ? ", standard error of the mean" : "");
    fprintf(file, "# %-16s %16s", airy_unit_name(unit), "I");
    fprintf(file, errors ? "  %16s\n" : "\n", "sigma");
}

/* Fit2D's four lines: title, axis, intensity, number of points. */
static void write_chi_header(FILE *file, const struct integration *job, size_t index)
{
    char where[512] = "";
    (void)airy_stack_where(job->stack, index, where, sizeof(where));
    json_t *geometry = geometry_json(&job->geometry);
    char *text = geometry ? json_dumps(geometry, JSON_COMPACT) : NULL;
    fprintf(file, "%s: airy %s, %s splitting, normalization %.9g, %s\n%s\nIntensity\n%12zu\n",
            where, airy_version(), airy_split_name(job->params->pattern.split),
            normalization_of(job, index), text ? text : "",
            airy_unit_label(job->params->pattern.unit), airy_integrator_bins(job->integrator));
    free(text);
    json_decref(geometry);
}

/* A file that appears complete or not at all. */
struct text_file {
    FILE *file;
    const char *path;
    char partial[4300];
};

static int text_begin(struct text_file *text, const struct integration *job, const char *path)
{
    const struct common *common = job->common;
    const int kept =
        tool_keep_inputs(common, path) /* a name of the series may be that of an input */;
    if (kept != AIRY_EXIT_OK)
        return kept;
    if (tool_keep_stack(common, path, job->stack) != AIRY_EXIT_OK)
        return AIRY_EXIT_FAILED;
    if (!common->force && tool_exists(path))
        return tool_exists_already(common, path);
    text->path = path;
    snprintf(text->partial, sizeof(text->partial), "%s.partial", path);
    text->file = fopen(text->partial, "w");
    return text->file ? AIRY_EXIT_OK
                      : tool_fail(common, "%s: cannot be written (%s); check path and permissions",
                                  path, strerror(errno));
}

static int text_end(struct text_file *text, const struct common *common)
{
    const bool good = fflush(text->file) == 0 && !ferror(text->file);
    const int why = errno;
    if ((fclose(text->file) != 0 || !good) || rename(text->partial, text->path) != 0) {
        const int reason = good ? errno : why;
        unlink(text->partial);
        return tool_fail(common, "%s: cannot be written (%s); check free space", text->path,
                         strerror(reason));
    }
    return AIRY_EXIT_OK;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Errors have a column where there are any, but for suffixes that stand for two columns. */
static bool with_errors(const struct integration *job, const char *path)
{
    return job->integrator_params.error_model != AIRY_ERROR_MODEL_NONE &&
           !tool_has_suffix(path, ".xy") && !tool_has_suffix(path, ".chi");
}

static int write_file(const struct integration *job, const struct lane *lane, size_t index,
                      const char *path)
{
    struct text_file text;
    const bool errors = with_errors(job, path), chi = tool_has_suffix(path, ".chi");
    const double *radial = airy_integrator_radial(job->integrator);
    char where[512];
    const int begun = text_begin(&text, job, path);
    if (begun != AIRY_EXIT_OK)
        return begun;
    if (chi) {
        write_chi_header(text.file, job, index);
    } else {
        write_header(text.file, job, lane, last_part(path));
        if (airy_stack_where(job->stack, index, where, sizeof(where)) == AIRY_OK)
            fprintf(text.file, "# Source: %s\n", where);
        fprintf(text.file, "# Normalization factor: %.9g\n", normalization_of(job, index));
        write_columns(text.file, job, errors);
    }
    /* 9 digits read back as the same float, 13 are more than any axis needs. */
    for (size_t i = 0; i < airy_integrator_bins(job->integrator); i++) {
        fprintf(text.file, "%18.12e  %16.8e", radial[i], (double)lane->intensity[i]);
        if (errors)
            fprintf(text.file, "  %16.8e", (double)lane->sem[i]);
        fputc('\n', text.file);
    }
    return text_end(&text, job->common);
}

/* Bins down, frames across: an intensity, and an error behind it where there are any. */
static int write_table(const struct integration *job, const struct lane *lane)
{
    struct text_file text;
    const char *path = job->params->output;
    const size_t bins = airy_integrator_bins(job->integrator);
    const double *radial = airy_integrator_radial(job->integrator);
    char where[512];
    const int begun = text_begin(&text, job, path);
    if (begun != AIRY_EXIT_OK)
        return begun;
    write_header(text.file, job, lane, last_part(path));
    for (size_t k = 0; k < job->frames; k++) {
        const size_t index = job->run.first + k * job->run.step;
        if (airy_stack_where(job->stack, index, where, sizeof(where)) == AIRY_OK)
            fprintf(text.file, "# Source: %s, normalization factor %.9g\n", where,
                    normalization_of(job, index));
    }
    fprintf(text.file, "# Columns: %s, then of each of %zu frames its intensity%s\n# %-16s",
            airy_unit_label(job->params->pattern.unit), job->frames,
            lane->table_errors ? " and standard error of the mean" : "",
            airy_unit_name(job->params->pattern.unit));
    for (size_t k = 0; k < job->frames; k++) {
        const size_t index = job->run.first + k * job->run.step;
        fprintf(text.file, " I_%zu", index);
        if (lane->table_errors)
            fprintf(text.file, " sigma_%zu", index);
    }
    fputc('\n', text.file);
    for (size_t i = 0; i < bins; i++) {
        fprintf(text.file, "%18.12e", radial[i]);
        for (size_t k = 0; k < job->frames; k++) {
            fprintf(text.file, " %15.8e", (double)lane->table[k * bins + i]);
            if (lane->table_errors)
                fprintf(text.file, " %15.8e", (double)lane->table_errors[k * bins + i]);
        }
        fputc('\n', text.file);
    }
    return text_end(&text, job->common);
}

/* Room for all frames, not numbers until they are. */
static int open_table(struct lane *lane, const struct integration *job)
{
    const size_t bins = airy_integrator_bins(job->integrator);
    size_t cells;
    const bool errors = with_errors(job, job->params->output);
    if (__builtin_mul_overflow(job->frames, bins, &cells) ||
        !(lane->table = calloc(cells, sizeof(float))) ||
        (errors && !(lane->table_errors = calloc(cells, sizeof(float)))))
        return tool_fail(job->common, "--one-table: out of memory for %zu frames of %zu bins",
                         job->frames, bins);
    for (size_t i = 0; i < cells; i++) {
        lane->table[i] = NAN;
        if (errors)
            lane->table_errors[i] = NAN;
    }
    return AIRY_EXIT_OK;
}

static void keep_row(struct lane *lane, const struct integration *job, size_t k)
{
    const size_t bins = airy_integrator_bins(job->integrator);
    memcpy(lane->table + k * bins, lane->intensity, bins * sizeof(float));
    if (lane->table_errors)
        memcpy(lane->table_errors + k * bins, lane->sem, bins * sizeof(float));
}

/* "out.xye" for one frame, "out_000012.xye" in a series. */
static int file_name(char name[4200], const struct integration *job, size_t index)
{
    const char *output = job->params->output, *dot = strrchr(output, '.');
    const int n = job->frames == 1 ? snprintf(name, 4200, "%s", output)
                                   : snprintf(name, 4200, "%.*s_%06zu%s", (int)(dot - output),
                                              output, index, dot);
    return n > 0 && n < 4200
               ? AIRY_EXIT_OK
               : tool_fail(job->common, "the output's name is longer than 4199 bytes");
}

/* What --on-error skip passes over, as in runs that write HDF5. */
static bool is_bad_frame(airy_status status)
{
    return status == AIRY_ERR_CORRUPT || status == AIRY_ERR_IO || status == AIRY_ERR_FORMAT ||
           status == AIRY_ERR_NOT_FOUND;
}

int ascii_run(struct integration *job, struct ascii_result *result)
{
    const struct common *common = job->common;
    struct lane lane;
    struct progress progress;
    if (tool_has_suffix(job->params->output, ".xye") &&
        job->integrator_params.error_model == AIRY_ERROR_MODEL_NONE)
        return tool_usage(common,
                          "output '%s' has a column of errors: give --error-model, or write .xy",
                          job->params->output);
    int code = lane_open(&lane, job);
    const bool table = job->params->one_table;
    lane.head = make_head(job);
    if (code == AIRY_EXIT_OK && table)
        code = open_table(&lane, job);
    progress_begin(&progress, common, "frames");
    for (size_t i = job->run.first; code == AIRY_EXIT_OK && i < job->run.last; i += job->run.step) {
        char name[4200];
        code = table ? AIRY_EXIT_OK : file_name(name, job, i);
        if (table)
            snprintf(name, sizeof(name), "%s", job->params->output);
        if (code != AIRY_EXIT_OK)
            break;
        const airy_status status = integrate_one(&lane, job, i);
        if (status == AIRY_OK) {
            if (table)
                keep_row(&lane, job, (i - job->run.first) / job->run.step);
            else
                code = write_file(job, &lane, i, name);
            if (code == AIRY_EXIT_OK) {
                snprintf(result->last, sizeof(result->last), "%s", name);
                if (result->written++ == 0)
                    memcpy(result->first, name, sizeof(name));
            }
        } else if (job->run.skip_bad && is_bad_frame(status)) {
            if (result->bad++ == 0)
                snprintf(result->first_error, sizeof(result->first_error), "%s", airy_last_error());
            tool_say(common, "skipped: %s", airy_last_error());
        } else if (status == AIRY_ERR_CORRUPT) {
            code = tool_fail(common, "%s; --on-error skip --frames %zu:%zu:%zu goes on without it",
                             airy_last_error(), i, job->run.last, job->run.step);
        } else {
            code = tool_failed(common, status);
        }
        if (code == AIRY_EXIT_OK &&
            !progress_step(&progress, result->written + result->bad, job->frames) &&
            i + job->run.step < job->run.last)
            code = tool_fail(common, "stopped after %zu of %zu frames; go on with --frames %zu:",
                             result->written + result->bad, job->frames, i + job->run.step);
    }
    progress_end(&progress);
    if (code == AIRY_EXIT_OK && table)
        code = write_table(job, &lane);
    lane_close(&lane);
    return code;
}
