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

static void write_header(FILE *file, const struct integration *job, size_t index, const char *name,
                         bool errors)
{
    const struct integrate_params *p = job->params;
    json_t *geometry = geometry_json(&job->geometry);
    char *text = geometry ? tool_json_text(geometry) : NULL, where[512] = "";
    json_decref(geometry);
    if (text)
        write_comment(file, text);
    free(text);
    if (airy_stack_where(job->stack, index, where, sizeof(where)) == AIRY_OK)
        fprintf(file, "# Source: %s\n", where);
    fprintf(file,
            "# Made by airy %s\n# Mask applied: %s\n# Dark current applied: %s\n# Flat field "
            "applied: %s\n",
            airy_version(),
            p->mask_only || p->mask ? "user's"
            : job->meta.has_mask    ? "file's and detector's"
                                    : "detector's",
            p->dark ? p->dark : "False", p->flat ? p->flat : "False");
    if (p->has_polarization)
        fprintf(file, "# Polarization factor: %.9g\n", p->polarization[0]);
    else
        fputs("# Polarization factor: None\n", file);
    fprintf(file, "# Normalization factor: %.9g\n# --> %s\n",
            (p->has_normalization ? p->normalization : 1) *
                (job->monitor ? job->monitor[index] : 1),
            name);
    fprintf(file, "# %-13s %14s", airy_unit_name(p->pattern.unit), "I");
    fprintf(file, errors ? "  %14s\n" : "\n", "sigma");
}

/* The file appears complete or not at all. */
static int write_file(const struct integration *job, const struct lane *lane, size_t index,
                      const char *path)
{
    const struct common *common = job->common;
    const bool errors = job->integrator_params.error_model != AIRY_ERROR_MODEL_NONE &&
                        !tool_has_suffix(path, ".xy");
    const double *radial = airy_integrator_radial(job->integrator);
    const char *name = strrchr(path, '/');
    char partial[4300];
    const int kept =
        tool_keep_inputs(common, path) /* a name of the series may be that of an input */;
    if (kept != AIRY_EXIT_OK)
        return kept;
    if (tool_keep_stack(common, path, job->stack) != AIRY_EXIT_OK)
        return AIRY_EXIT_FAILED;
    if (!common->force && tool_exists(path))
        return tool_exists_already(common, path);
    snprintf(partial, sizeof(partial), "%s.partial", path);
    FILE *file = fopen(partial, "w");
    if (!file)
        return tool_fail(common, "%s: cannot be written (%s); check path and permissions", path,
                         strerror(errno));
    write_header(file, job, index, name ? name + 1 : path, errors);
    for (size_t i = 0; i < airy_integrator_bins(job->integrator); i++) {
        fprintf(file, "%14.6e  %14.6e", radial[i], (double)lane->intensity[i]);
        if (errors)
            fprintf(file, "  %14.6e", (double)lane->sem[i]);
        fputc('\n', file);
    }
    const bool good = fflush(file) == 0 && !ferror(file);
    const int why = errno;
    if ((fclose(file) != 0 || !good) || rename(partial, path) != 0) {
        const int reason = good ? errno : why;
        unlink(partial);
        return tool_fail(common, "%s: cannot be written (%s); check free space", path,
                         strerror(reason));
    }
    return AIRY_EXIT_OK;
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
    progress_begin(&progress, common, "frames");
    for (size_t i = job->run.first; code == AIRY_EXIT_OK && i < job->run.last; i += job->run.step) {
        char name[4200];
        code = file_name(name, job, i);
        if (code != AIRY_EXIT_OK)
            break;
        const airy_status status = integrate_one(&lane, job, i);
        if (status == AIRY_OK) {
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
    lane_close(&lane);
    return code;
}
