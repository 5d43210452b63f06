/* Patterns as columns of text, one file a frame or group of frames. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/image_util.h"
#include "integrate/frame_sums.h"
#include "result/patterns.h"

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
    struct frame_sums sums;
    void *pixels;
    double *values; /* [AIRY_SUM_PLANES][bins] */
    float *intensity, *std, *sem;
    airy_accumulator *group;     /* NULL: one frame a pattern */
    char *head;                  /* of every file */
    float *table, *table_errors; /* [rows][bins], of --one-table */
    bool *columns;               /* [rows] which have a column of it */
    double gap_least;            /* largest pixels from here on are those of gaps */
};

/* Patterns of a run, and what is one of them. */
static size_t group_of(const struct integration *job)
{
    return job->run.group < 1 ? 1 : job->run.group < job->frames ? job->run.group : job->frames;
}

size_t ascii_rows(const struct integration *job)
{
    return (job->frames - 1) / group_of(job) + 1;
}

/* Frames [*first, *last) of the run that are in a row. */
static void frames_of_row(const struct integration *job, size_t row, size_t *first, size_t *last)
{
    const size_t group = group_of(job);
    *first = row * group;
    *last = job->frames - *first < group ? job->frames : *first + group;
}

/* The number that a frame of the run has in the stack. */
static size_t index_of(const struct integration *job, size_t frame)
{
    return job->run.first + frame * job->run.step;
}

static void lane_close(struct lane *lane)
{
    airy_accumulator_destroy(&lane->group);
    frame_sums_close(&lane->sums);
    free(lane->pixels);
    free(lane->values);
    free(lane->intensity);
    free(lane->std);
    free(lane->sem);
    free(lane->head);
    free(lane->table);
    free(lane->table_errors);
    free(lane->columns);
}

static int lane_open(struct lane *lane, const struct integration *job)
{
    const size_t bins = airy_integrator_bins(job->integrator);
    memset(lane, 0, sizeof(*lane));
    lane->pixels = malloc(job->info.height * job->info.width * airy_dtype_size(job->info.dtype));
    lane->values = malloc(AIRY_SUM_PLANES * bins * sizeof(double));
    lane->intensity = malloc(bins * sizeof(float));
    lane->std = malloc(bins * sizeof(float));
    lane->sem = malloc(bins * sizeof(float));
    if (!lane->pixels || !lane->values || !lane->intensity || !lane->std || !lane->sem)
        return tool_fail(job->common, "out of memory for a frame");
    airy_status status = frame_sums_open(&lane->sums, job, lane->values);
    if (status == AIRY_OK && group_of(job) > 1)
        status = airy_accumulator_create(&lane->group, bins, job->integrator_params.error_model);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(job->common, status);
}

static airy_status sum_frame(struct lane *lane, const struct integration *job, size_t index)
{
    airy_status status = airy_stack_read(job->stack, index, lane->pixels, lane->sums.pixels_size);
    if (status == AIRY_OK)
        status = frame_sums_take(&lane->sums, job, lane->pixels);
    return status;
}

/* No pixel of the frame in values counts. */
static void note_empty(const struct lane *lane, const struct integration *job, size_t index,
                       struct ascii_result *result)
{
    const size_t bins = airy_integrator_bins(job->integrator);
    const double *counts = lane->values + AIRY_SUM_COUNT_PLANE * bins;
    size_t i = 0;
    while (i < bins && counts[i] == 0)
        i++;
    if (i == bins && result->empty++ == 0)
        result->first_empty = index;
}

static double monitor_of(const struct integration *job, size_t index)
{
    return job->monitor ? job->monitor[index] : 1;
}

static bool has_factor(const struct integration *job, size_t index)
{
    return airy_monitor_is_usable(monitor_of(job, index));
}

/* A frame that --on-error skip passes over. */
static void skip_frame(const struct integration *job, size_t index, struct ascii_result *result)
{
    char where[512] = "", why[768];
    snprintf(why, sizeof(why), "%s", airy_last_error());
    if (!has_factor(job, index)) {
        (void)airy_stack_where(job->stack, index, where, sizeof(where));
        snprintf(why, sizeof(why), "%s: its monitor is %g, expected a finite number above 0", where,
                 job->monitor[index]);
    }
    if (result->bad++ == 0)
        snprintf(result->first_error, sizeof(result->first_error), "%.511s", why);
    tool_say(job->common, "skipped: %s", why);
}

/*
 * Give the pattern of a row, and in *good of how many frames it is. AIRY_ERR_CANCELLED: interrupted
 * before it was whole.
 */
static airy_status integrate_row(struct lane *lane, const struct integration *job, size_t row,
                                 size_t *good, struct ascii_result *result,
                                 struct progress *progress)
{
    size_t first, last;
    bool gaps = false;
    airy_status status = AIRY_OK;
    frames_of_row(job, row, &first, &last);
    *good = 0;
    if (lane->group)
        airy_accumulator_clear(lane->group);
    for (size_t i = first; i < last && status == AIRY_OK; i++) {
        const size_t index = index_of(job, i);
        status = has_factor(job, index) ? sum_frame(lane, job, index) : AIRY_ERR_CORRUPT;
        if (status == AIRY_OK)
            note_empty(lane, job, index, result);
        if (status == AIRY_OK && lane->group)
            status = airy_accumulator_add(lane->group, lane->values, NULL, monitor_of(job, index));
        if (status == AIRY_ERR_UNWRITTEN ||
            (job->run.skip_bad && airy_status_is_of_frame(status))) {
            skip_frame(job, index, result);
            status = AIRY_OK;
        } else {
            *good += status == AIRY_OK;
            gaps |= status == AIRY_OK && lane->sums.about.max >= lane->gap_least;
        }
        if (status == AIRY_OK && !progress_step(progress, i + 1, job->frames) && i + 1 < last)
            return AIRY_ERR_CANCELLED;
    }
    if (gaps && result->gaps.count++ == 0)
        result->gaps.first = row;
    if (status != AIRY_OK || *good == 0)
        return status;
    if (lane->group)
        status = airy_accumulator_get(lane->group, job->run.merge, lane->values, NULL);
    const double monitor = lane->group ? 1 : monitor_of(job, index_of(job, first));
    return status == AIRY_OK ? airy_integrator_finish(job->integrator, lane->values, monitor,
                                                      lane->intensity, lane->std, lane->sem)
                             : status;
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

/* A comment that ends in the name of a file, which may have line feeds: what follows would be data. */
static void write_name(FILE *file, const char *what, const char *name)
{
    char shown[TOOL_SHOWN];
    fprintf(file, "# %s%s\n", what, tool_shown(shown, name));
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
    return p->mask_only || p->bad.mask ? "user's"
           : job->meta.has_mask        ? "file's and detector's"
                                       : "detector's";
}

static void write_header(FILE *file, const struct integration *job, const struct lane *lane,
                         const char *name)
{
    const struct integrate_params *p = job->params;
    fprintf(file, "# Made by airy %s\n", airy_version());
    if (lane->head)
        write_comment(file, lane->head);
    fprintf(file, "# Mask applied: %s\n", mask_words(job));
    write_name(file, "Dark current applied: ", p->dark ? p->dark : "False");
    write_name(file, "Flat field applied: ", p->flat ? p->flat : "False");
    if (p->has_polarization)
        fprintf(file, "# Polarization factor: %.9g\n", p->polarization[0]);
    else
        fputs("# Polarization factor: None\n", file);
    write_name(file, "--> ", name);
}

/* The factor of a row; of a group with that of its frames' usable monitors on average. */
static double normalization_of(const struct integration *job, size_t row)
{
    const struct integrate_params *p = job->params;
    const double factor = p->has_normalization ? p->normalization : 1;
    size_t first, last;
    frames_of_row(job, row, &first, &last);
    return job->monitor ? factor * airy_monitor_mean(job->monitor + index_of(job, first),
                                                     last - first, job->run.step)
                        : factor;
}

/* "master.h5 frame 3"; of a group its first frame and its last one. */
static void source_of(char text[1100], const struct integration *job, size_t row)
{
    char from[512] = "", to[512] = "";
    size_t first, last;
    frames_of_row(job, row, &first, &last);
    (void)airy_stack_where(job->stack, index_of(job, first), from, sizeof(from));
    if (last - first > 1)
        (void)airy_stack_where(job->stack, index_of(job, last - 1), to, sizeof(to));
    snprintf(text, 1100, "%s%s%s", from, *to ? " to " : "", to);
}

/* The label of a unit, or its name where the label is no ASCII. */
static const char *unit_text(airy_unit unit)
{
    const char *label = airy_unit_label(unit);
    for (const char *at = label; *at; at++)
        if ((unsigned char)*at >= 0x80)
            return airy_unit_name(unit);
    return label;
}

/* What the columns are, in words and in their order. */
static void write_columns(FILE *file, const struct integration *job, bool errors)
{
    const airy_unit unit = job->params->pattern.unit;
    fprintf(file, "# Columns: %s, intensity%s\n", unit_text(unit),
            errors ? ", standard error of the mean" : "");
    fprintf(file, "# %-16s %16s", airy_unit_name(unit), "I");
    fprintf(file, errors ? "  %16s\n" : "\n", "sigma");
}

/*
 * Programs that refine powder patterns read these: few lines in front of the numbers, ASCII, and
 * no word among them.
 */
static bool for_refinement(const char *path)
{
    return tool_has_suffix(path, ".xye") || tool_has_suffix(path, ".xy") ||
           tool_has_suffix(path, ".chi");
}

enum { LONGEST_LINE = 80 };

/* The end of a text where it is longer than a line; printable ASCII alone. */
static void plain_line(char line[LONGEST_LINE + 1], size_t room, const char *text)
{
    const size_t length = strlen(text), kept = length > room ? room : length;
    memcpy(line, text + length - kept, kept);
    line[kept] = 0;
    if (kept < length)
        memcpy(line, "...", 3);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            *at = '?';
}

/* At most five lines. */
static void write_short_header(FILE *file, const struct integration *job, size_t row, size_t good,
                               bool errors)
{
    char where[1100], line[LONGEST_LINE + 1];
    source_of(where, job, row);
    plain_line(line, LONGEST_LINE - 10, where);
    fprintf(file, "# Made by airy %s\n# Source: %s\n", airy_version(), line);
    if (group_of(job) > 1)
        fprintf(file, "# Frames: %zu, their %s\n", good, airy_merge_name(job->run.merge));
    fprintf(file, "# Normalization factor: %.9g\n# %-16s %16s", normalization_of(job, row),
            airy_unit_name(job->params->pattern.unit), "I");
    fprintf(file, errors ? "  %16s\n" : "\n", "sigma");
}

/*
 * Fit2D's four lines: title, axis, intensity, number of points. GSAS-II looks for "2-theta" in
 * them, and takes "q " for the axis of another kind of file.
 */
static void write_chi_header(FILE *file, const struct integration *job, size_t row, size_t points)
{
    char where[1100], line[LONGEST_LINE + 1];
    const airy_unit unit = job->params->pattern.unit;
    source_of(where, job, row);
    plain_line(line, LONGEST_LINE, where);
    for (char *at = line; *at; at++)
        if ((*at == 'q' || *at == 'Q') && at[1] == ' ')
            at[1] = '_';
    fprintf(file, "%s\n%s\nIntensity\n%12zu\n", line,
            unit == AIRY_UNIT_TTH_DEG ? CHI_TWO_THETA : unit_text(unit), points);
}

/* A name of the series may be that of an input. */
static int begin_text(struct tool_file *text, const struct integration *job, const char *path)
{
    const struct common *common = job->common;
    int code = tool_keep_inputs(common, path);
    if (code == AIRY_EXIT_OK)
        code = tool_keep_stack(common, path, job->stack);
    return code == AIRY_EXIT_OK ? tool_file_begin(text, common, path) : code;
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

static bool has_point(const struct lane *lane, size_t bin, bool errors)
{
    return isfinite(lane->intensity[bin]) && (!errors || isfinite(lane->sem[bin]));
}

/* Rows without pixels are left out where a word is not read. */
static void write_points(FILE *file, const struct integration *job, const struct lane *lane,
                         bool errors, bool all)
{
    const double *radial = airy_integrator_radial(job->integrator);
    /* 9 digits read back as the same float, 13 are more than any axis needs. */
    for (size_t i = 0; i < airy_integrator_bins(job->integrator); i++) {
        if (!all && !has_point(lane, i, errors))
            continue;
        fprintf(file, "%18.12e  %16.8e", radial[i], (double)lane->intensity[i]);
        if (errors)
            fprintf(file, "  %16.8e", (double)lane->sem[i]);
        fputc('\n', file);
    }
}

static int write_file(const struct integration *job, const struct lane *lane, size_t row,
                      size_t good, const char *path)
{
    struct tool_file text;
    const bool errors = with_errors(job, path), all = !for_refinement(path);
    char where[1100];
    const int begun = begin_text(&text, job, path);
    if (begun != AIRY_EXIT_OK)
        return begun;
    if (tool_has_suffix(path, ".chi")) {
        size_t points = 0;
        for (size_t i = 0; i < airy_integrator_bins(job->integrator); i++)
            points += has_point(lane, i, errors);
        write_chi_header(text.file, job, row, points);
    } else if (!all) {
        write_short_header(text.file, job, row, good, errors);
    } else {
        write_header(text.file, job, lane, last_part(path));
        source_of(where, job, row);
        write_name(text.file, "Source: ", where);
        if (lane->group)
            fprintf(text.file, "# Frames: %zu, their %s\n", good, airy_merge_name(job->run.merge));
        fprintf(text.file, "# Normalization factor: %.9g\n", normalization_of(job, row));
        write_columns(text.file, job, errors);
    }
    write_points(text.file, job, lane, errors, all);
    return tool_file_end(&text, false);
}

/* What the columns of a table are, with the sources of all rows where the header may be long. */
static void write_table_header(FILE *file, const struct integration *job, const struct lane *lane)
{
    const char *path = job->params->output, *unit = airy_unit_name(job->params->pattern.unit);
    const size_t rows = ascii_rows(job);
    char where[1100], shown[TOOL_SHOWN];
    if (for_refinement(path))
        fprintf(file, "# Made by airy %s\n", airy_version());
    else
        write_header(file, job, lane, last_part(path));
    for (size_t k = 0; k < rows && !for_refinement(path); k++) {
        source_of(where, job, k);
        fprintf(file, "# Source: %s, normalization factor %.9g\n", tool_shown(shown, where),
                normalization_of(job, k));
    }
    size_t columns = 0;
    for (size_t k = 0; k < rows; k++)
        columns += lane->columns[k];
    fprintf(file, "# Columns: %s, then of each of %zu %s%s its intensity%s\n# %-16s",
            unit_text(job->params->pattern.unit), columns,
            lane->group ? airy_merge_name(job->run.merge) : "frame", tool_s(columns),
            lane->table_errors ? " and standard error of the mean" : "", unit);
    for (size_t k = 0; k < rows; k++) {
        if (!lane->columns[k])
            continue;
        const size_t index = index_of(job, k * group_of(job));
        fprintf(file, " I_%zu", index);
        if (lane->table_errors)
            fprintf(file, " sigma_%zu", index);
    }
    fputc('\n', file);
}

static bool has_cell(const struct lane *lane, size_t bins, size_t k, size_t bin)
{
    return isfinite(lane->table[k * bins + bin]) &&
           (!lane->table_errors || isfinite(lane->table_errors[k * bins + bin]));
}

/* Where no word may stand among the numbers, a row without any has no column; how many there are. */
static size_t choose_columns(struct lane *lane, const struct integration *job, bool all)
{
    const size_t bins = airy_integrator_bins(job->integrator), rows = ascii_rows(job);
    size_t columns = 0;
    for (size_t k = 0; k < rows; k++) {
        lane->columns[k] = all;
        for (size_t i = 0; i < bins && !lane->columns[k]; i++)
            lane->columns[k] = has_cell(lane, bins, k, i);
        columns += lane->columns[k];
    }
    return columns;
}

/* In how many columns this bin has a value. */
static size_t count_cells(const struct lane *lane, size_t bin, size_t bins, size_t rows)
{
    size_t cells = 0;
    for (size_t k = 0; k < rows; k++)
        cells += lane->columns[k] && has_cell(lane, bins, k, bin);
    return cells;
}

static void write_bin(FILE *file, const struct lane *lane, size_t bin, size_t bins, size_t rows)
{
    for (size_t k = 0; k < rows; k++) {
        if (!lane->columns[k])
            continue;
        fprintf(file, " %15.8e", (double)lane->table[k * bins + bin]);
        if (lane->table_errors)
            fprintf(file, " %15.8e", (double)lane->table_errors[k * bins + bin]);
    }
    fputc('\n', file);
}

/* What programs that refine would read as another number of columns is left out, and told. */
static void say_left_out(const struct integration *job, size_t columns, size_t bins)
{
    const size_t empty = ascii_rows(job) - columns;
    if (empty)
        tool_say(job->common, "%s: %zu pattern%s without values %s no column", job->params->output,
                 empty, tool_s(empty), empty == 1 ? "has" : "have");
    if (bins)
        tool_say(job->common,
                 "%s: %zu bin%s left out that some patterns have no value in; .dat has all, with "
                 "nan",
                 job->params->output, bins, bins == 1 ? " is" : "s are");
}

/* Bins down, frames across: an intensity, and an error behind it where there are any. */
static int write_table(const struct integration *job, struct lane *lane)
{
    struct tool_file text;
    const size_t bins = airy_integrator_bins(job->integrator), rows = ascii_rows(job);
    const double *radial = airy_integrator_radial(job->integrator);
    const bool all = !for_refinement(job->params->output);
    const size_t columns = choose_columns(lane, job, all);
    const int begun = begin_text(&text, job, job->params->output);
    if (begun != AIRY_EXIT_OK)
        return begun;
    write_table_header(text.file, job, lane);
    size_t left_out = 0;
    for (size_t i = 0; i < bins; i++) {
        const size_t cells = count_cells(lane, i, bins, rows);
        left_out += !all && cells && cells < columns;
        if (!all && (cells < columns || !columns))
            continue;
        fprintf(text.file, "%18.12e", radial[i]);
        write_bin(text.file, lane, i, bins, rows);
    }
    say_left_out(job, columns, left_out);
    return tool_file_end(&text, false);
}

/* Room for all rows, not numbers until they are. */
static int open_table(struct lane *lane, const struct integration *job)
{
    const size_t bins = airy_integrator_bins(job->integrator), rows = ascii_rows(job);
    size_t cells;
    const bool errors = with_errors(job, job->params->output);
    if (__builtin_mul_overflow(rows, bins, &cells) ||
        !(lane->table = calloc(cells, sizeof(float))) ||
        !(lane->columns = calloc(rows, sizeof(bool))) ||
        (errors && !(lane->table_errors = calloc(cells, sizeof(float)))))
        return tool_fail(job->common, "--one-table: out of memory for %zu patterns of %zu bins",
                         rows, bins);
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

/* "out.xye" for one pattern, "out_000012.xye" in a series, by the number of its first frame. */
static int file_name(char name[4200], const struct integration *job, size_t row)
{
    const char *output = job->params->output, *dot = strrchr(output, '.');
    const size_t index = index_of(job, row * group_of(job));
    const int n =
        ascii_rows(job) == 1 || job->params->one_table
            ? snprintf(name, 4200, "%s", output)
            : snprintf(name, 4200, "%.*s_%06zu%s", (int)(dot - output), output, index, dot);
    return n > 0 && n < 4200
               ? AIRY_EXIT_OK
               : tool_fail(job->common, "the output's name is longer than 4199 bytes");
}

/* A row that is done: kept for the table, or its file written. */
static int put_row(struct lane *lane, const struct integration *job, size_t row, size_t good,
                   struct ascii_result *result)
{
    char name[4200];
    int code = file_name(name, job, row);
    if (code == AIRY_EXIT_OK && job->params->one_table)
        keep_row(lane, job, row);
    else if (code == AIRY_EXIT_OK)
        code = write_file(job, lane, row, good, name);
    if (code != AIRY_EXIT_OK)
        return code;
    snprintf(result->last, sizeof(result->last), "%s", name);
    if (result->written == 0)
        memcpy(result->first, name, sizeof(name));
    result->written += good;
    return AIRY_EXIT_OK;
}

/* What is to be done after a row that failed; its first frame is where a next run begins. */
static int row_failed(const struct integration *job, size_t row, airy_status status,
                      const struct ascii_result *result)
{
    const size_t index = index_of(job, row * group_of(job));
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(job->common, "stopped after %zu of %zu frames; go on with --frames %zu:",
                         result->written + result->bad, job->frames, index);
    if (airy_status_is_of_frame(status))
        return tool_fail(job->common, "%s; --on-error skip --frames %zu:%zu:%zu goes on without it",
                         airy_last_error(), index, job->run.last, job->run.step);
    return tool_failed(job->common, status);
}

static int run_rows(struct lane *lane, const struct integration *job, struct ascii_result *result)
{
    struct progress progress;
    int code = AIRY_EXIT_OK;
    const size_t rows = ascii_rows(job);
    progress_begin(&progress, job->common, "frames");
    for (size_t row = 0; row < rows && code == AIRY_EXIT_OK; row++) {
        size_t good;
        airy_status status = integrate_row(lane, job, row, &good, result, &progress);
        if (status == AIRY_OK && good)
            code = put_row(lane, job, row, good, result);
        if (status == AIRY_OK && code == AIRY_EXIT_OK && tool_interrupted() && row + 1 < rows) {
            status = AIRY_ERR_CANCELLED;
            row++;
        }
        if (status != AIRY_OK)
            code = row_failed(job, row, status, result);
    }
    progress_end(&progress);
    return code;
}

int ascii_run(struct integration *job, struct ascii_result *result)
{
    const struct common *common = job->common;
    struct lane lane;
    if (for_refinement(job->params->output) && job->params->pattern.unit != AIRY_UNIT_TTH_DEG)
        tool_say(common,
                 "output '%s' is in %s: programs that refine powder patterns take the first column "
                 "of such a file for degrees of 2 theta; --unit 2th_deg writes them",
                 job->params->output, airy_unit_name(job->params->pattern.unit));
    int code = lane_open(&lane, job);
    lane.gap_least = image_gap_least(job->info.dtype);
    result->gaps.known = !isinf(lane.gap_least);
    lane.head = make_head(job);
    if (code == AIRY_EXIT_OK && job->params->one_table)
        code = open_table(&lane, job);
    if (code == AIRY_EXIT_OK)
        code = run_rows(&lane, job, result);
    if (code == AIRY_EXIT_OK && job->params->one_table)
        code = write_table(job, &lane);
    lane_close(&lane);
    return code;
}
