/* Patterns as columns of text, one file a frame or group of frames. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/gaps.h"
#include "cli/number_text.h"
#include "images/image_util.h"
#include "integrate/integrate.h"
#include "result/patterns.h"

static const char *const suffixes[] = {".xye", ".xy", ".chi", ".dat"};

bool ascii_name(const char *path)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (tool_has_suffix(path, suffixes[i]))
            return true;
    return false;
}

/* A run that writes text. */
struct text_run {
    const struct integration *job;
    struct ascii_result *result; /* with lock */
    struct progress progress;
    char *head;       /* of every file */
    char *radial;     /* [bins][RADIAL]: the first column of every file */
    double gap_least; /* largest pixels from here on are those of gaps */
    pthread_mutex_t lock;
    enum row_state { MISSING, WITHOUT_FILE, WRITTEN } * states; /* [rows], with lock */
    size_t refused; /* the first row whose file cannot be
                                                                  written; with lock */
    /* Of --one-table. */
    float *table, *errors; /* [rows][bins]; errors NULL: it has none */
    bool *columns;         /* [rows] which have a column */
};

enum { RADIAL = 24 }; /* bytes of a number of the axis with its end */

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

static void run_close(struct text_run *run)
{
    pthread_mutex_destroy(&run->lock);
    free(run->head);
    free(run->radial);
    free(run->states);
    free(run->table);
    free(run->errors);
    free(run->columns);
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

static void write_header(FILE *file, const struct integration *job, const struct text_run *run,
                         const char *name)
{
    const struct integrate_params *p = job->params;
    fprintf(file, "# Made by airy %s\n", airy_version());
    if (run->head)
        write_comment(file, run->head);
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

static bool has_point(const airy_run_row *row, size_t bin, bool errors)
{
    return isfinite(row->intensity[bin]) && (!errors || isfinite(row->sem[bin]));
}

static size_t put_value(char *text, float value)
{
    text[0] = text[1] = ' ';
    return 2 + number_text(text + 2, value);
}

/* Rows without pixels are left out where a word is not read. */
static void write_points(FILE *file, const struct text_run *run, const airy_run_row *row,
                         bool errors, bool all)
{
    char lines[1 << 15]; /* more than the file's buffer, for fewer calls to the system */
    size_t length = 0;
    for (size_t i = 0; i < row->bins; i++) {
        const char *radial = run->radial + i * RADIAL;
        if (!all && !has_point(row, i, errors))
            continue;
        if (sizeof(lines) - length < RADIAL + 2 * (2 + NUMBER_TEXT)) {
            fwrite(lines, 1, length, file);
            length = 0;
        }
        memcpy(lines + length, radial, strlen(radial));
        length += strlen(radial);
        /* 9 digits read back as the same float. */
        length += put_value(lines + length, row->intensity[i]);
        if (errors)
            length += put_value(lines + length, row->sem[i]);
        lines[length++] = '\n';
    }
    fwrite(lines, 1, length, file);
}

static airy_status write_file(const struct text_run *run, const airy_run_row *row, const char *path)
{
    const struct integration *job = run->job;
    struct tool_file text;
    const bool errors = with_errors(job, path), all = !for_refinement(path);
    char where[1100];
    const airy_status status = tool_file_open(&text, job->common, path);
    if (status != AIRY_OK)
        return status;
    if (tool_has_suffix(path, ".chi")) {
        size_t points = 0;
        for (size_t i = 0; i < row->bins; i++)
            points += has_point(row, i, errors);
        write_chi_header(text.file, job, row->number, points);
    } else if (!all) {
        write_short_header(text.file, job, row->number, row->frames, errors);
    } else {
        write_header(text.file, job, run, last_part(path));
        source_of(where, job, row->number);
        write_name(text.file, "Source: ", where);
        if (group_of(job) > 1)
            fprintf(text.file, "# Frames: %zu, their %s\n", row->frames,
                    airy_merge_name(job->run.merge));
        fprintf(text.file, "# Normalization factor: %.9g\n", normalization_of(job, row->number));
        write_columns(text.file, job, errors);
    }
    write_points(text.file, run, row, errors, all);
    return tool_file_close(&text, false);
}

/* What the columns of a table are, with the sources of all rows where the header may be long. */
static void write_table_header(FILE *file, const struct integration *job,
                               const struct text_run *run)
{
    const char *path = job->params->output, *unit = airy_unit_name(job->params->pattern.unit);
    const size_t rows = ascii_rows(job);
    char where[1100], shown[TOOL_SHOWN];
    if (for_refinement(path))
        fprintf(file, "# Made by airy %s\n", airy_version());
    else
        write_header(file, job, run, last_part(path));
    for (size_t k = 0; k < rows && !for_refinement(path); k++) {
        source_of(where, job, k);
        fprintf(file, "# Source: %s, normalization factor %.9g\n", tool_shown(shown, where),
                normalization_of(job, k));
    }
    size_t columns = 0;
    for (size_t k = 0; k < rows; k++)
        columns += run->columns[k];
    fprintf(file, "# Columns: %s, then of each of %zu %s%s its intensity%s\n# %-16s",
            unit_text(job->params->pattern.unit), columns,
            group_of(job) > 1 ? airy_merge_name(job->run.merge) : "frame", tool_s(columns),
            run->errors ? " and standard error of the mean" : "", unit);
    for (size_t k = 0; k < rows; k++) {
        if (!run->columns[k])
            continue;
        const size_t index = index_of(job, k * group_of(job));
        fprintf(file, " I_%zu", index);
        if (run->errors)
            fprintf(file, " sigma_%zu", index);
    }
    fputc('\n', file);
}

static bool has_cell(const struct text_run *run, size_t bins, size_t k, size_t bin)
{
    return isfinite(run->table[k * bins + bin]) &&
           (!run->errors || isfinite(run->errors[k * bins + bin]));
}

/* Where no word may stand among the numbers, a row without any has no column; how many there are. */
static size_t choose_columns(struct text_run *run, const struct integration *job, bool all)
{
    const size_t bins = airy_integrator_bins(job->integrator), rows = ascii_rows(job);
    size_t columns = 0;
    for (size_t k = 0; k < rows; k++) {
        run->columns[k] = all;
        for (size_t i = 0; i < bins && !run->columns[k]; i++)
            run->columns[k] = has_cell(run, bins, k, i);
        columns += run->columns[k];
    }
    return columns;
}

/* In how many columns this bin has a value. */
static size_t count_cells(const struct text_run *run, size_t bin, size_t bins, size_t rows)
{
    size_t cells = 0;
    for (size_t k = 0; k < rows; k++)
        cells += run->columns[k] && has_cell(run, bins, k, bin);
    return cells;
}

static void write_bin(FILE *file, const struct text_run *run, size_t bin, size_t bins, size_t rows)
{
    for (size_t k = 0; k < rows; k++) {
        if (!run->columns[k])
            continue;
        fprintf(file, " %15.8e", (double)run->table[k * bins + bin]);
        if (run->errors)
            fprintf(file, " %15.8e", (double)run->errors[k * bins + bin]);
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
static int write_table(struct text_run *run)
{
    const struct integration *job = run->job;
    struct tool_file text;
    const size_t bins = airy_integrator_bins(job->integrator), rows = ascii_rows(job);
    const bool all = !for_refinement(job->params->output);
    const size_t columns = choose_columns(run, job, all);
    const int begun = tool_file_begin(&text, job->common, job->params->output);
    if (begun != AIRY_EXIT_OK)
        return begun;
    write_table_header(text.file, job, run);
    size_t left_out = 0;
    for (size_t i = 0; i < bins; i++) {
        const size_t cells = count_cells(run, i, bins, rows);
        left_out += !all && cells && cells < columns;
        if (!all && (cells < columns || !columns))
            continue;
        fputs(run->radial + i * RADIAL, text.file);
        write_bin(text.file, run, i, bins, rows);
    }
    say_left_out(job, columns, left_out);
    return tool_file_end(&text, false);
}

/* Room for all rows. */
static int open_table(struct text_run *run)
{
    const struct integration *job = run->job;
    const size_t bins = airy_integrator_bins(job->integrator), rows = ascii_rows(job);
    size_t cells;
    if (__builtin_mul_overflow(rows, bins, &cells) ||
        !(run->table = calloc(cells, sizeof(float))) ||
        !(run->columns = calloc(rows, sizeof(bool))) ||
        (with_errors(job, job->params->output) && !(run->errors = calloc(cells, sizeof(float)))))
        return tool_fail(job->common, "--one-table: out of memory for %zu patterns of %zu bins",
                         rows, bins);
    return AIRY_EXIT_OK;
}

/* "out.xye" for one pattern, "out_000012.xye" in a series, by the number of its first frame. */
static bool file_name(char name[4200], const struct integration *job, size_t row)
{
    const char *output = job->params->output, *dot = strrchr(output, '.');
    const size_t index = index_of(job, row * group_of(job));
    const int n =
        ascii_rows(job) == 1 || job->params->one_table
            ? snprintf(name, 4200, "%s", output)
            : snprintf(name, 4200, "%.*s_%06zu%s", (int)(dot - output), output, index, dot);
    return n > 0 && n < 4200;
}

/* Before anything is read: no file of the series is an input, or would replace one unasked. */
static int check_names(const struct integration *job)
{
    const struct common *common = job->common;
    const size_t files = job->params->one_table ? 1 : ascii_rows(job);
    char name[4200];
    int code = AIRY_EXIT_OK;
    for (size_t row = 0; row < files && code == AIRY_EXIT_OK; row++) {
        if (!file_name(name, job, row))
            return tool_fail(common, "the output's name is longer than 4199 bytes");
        if (!tool_exists(name))
            continue;
        code = tool_keep_inputs(common, name);
        if (code == AIRY_EXIT_OK)
            code = tool_keep_stack(common, name, job->stack);
        if (code == AIRY_EXIT_OK && !common->force)
            code = tool_exists_already(common, name);
    }
    return code;
}

/* An airy_row_fn: write the file of a row. Several threads, each with its own row. */
static airy_status put_row(void *user, const airy_run_row *row)
{
    struct text_run *run = user;
    struct ascii_result *result = run->result;
    char name[4200] = "";
    const bool file = row->frames > 0 && !run->table;
    airy_status status = AIRY_OK;
    if (file && file_name(name, run->job, row->number))
        status = write_file(run, row, name);
    pthread_mutex_lock(&run->lock);
    if (status != AIRY_OK)
        run->refused = row->number < run->refused ? row->number : run->refused;
    else
        run->states[row->number] = file ? WRITTEN : WITHOUT_FILE;
    if (status == AIRY_OK && row->frames > 0 && row->stats.max >= run->gap_least &&
        (result->gaps.count++ == 0 || row->number < result->gaps.first))
        result->gaps.first = row->number;
    pthread_mutex_unlock(&run->lock);
    return status;
}

static bool show_progress(void *user, size_t done, size_t total)
{
    struct text_run *run = user;
    return progress_step(&run->progress, done, total);
}

/* An airy_log_fn: frames that were left out; with --verbose also what was chosen. */
static void show_message(void *user, airy_log_level level, const char *message)
{
    const struct text_run *run = user;
    if (level <= AIRY_LOG_WARN || run->job->common->verbose)
        tool_say(run->job->common, "%s", message);
}

/* Files behind the row where a next run begins would be in its way. */
static void remove_behind(const struct text_run *run, size_t row)
{
    char name[4200];
    for (size_t k = row; k < ascii_rows(run->job); k++)
        if (!run->job->common->force && run->states[k] == WRITTEN && file_name(name, run->job, k))
            (void)unlink(name);
}

/*
 * The frames from a row on, as --frames takes them. A run of one row alone would not number its file:
 * the last one is given the name.
 */
static const char *rest_of(char text[4400], const struct integration *job, size_t row)
{
    const size_t index = index_of(job, row * group_of(job));
    char name[4200];
    if (row + 1 == ascii_rows(job) && file_name(name, job, row))
        snprintf(text, 4400, "%zu:%zu:%zu -o %s", index, job->run.last, job->run.step, name);
    else if (job->run.step == 1 && job->run.last == job->info.frames)
        snprintf(text, 4400, "%zu:", index);
    else
        snprintf(text, 4400, "%zu:%zu:%zu", index, job->run.last, job->run.step);
    return text;
}

/* What is to be done after a run that failed; a next one begins with the first row that is missing. */
static int run_failed(const struct text_run *run, airy_status status)
{
    const struct integration *job = run->job;
    const size_t rows = ascii_rows(job);
    size_t row = 0;
    while (row < rows && run->states[row] != MISSING)
        row++;
    const size_t frames = row < rows ? row * group_of(job) : job->frames;
    const size_t index = index_of(job, frames);
    char text[4400];
    remove_behind(run, row);
    if (status == AIRY_ERR_CANCELLED && run->table)
        return tool_fail(job->common, "stopped after %zu of %zu frames; '%s' is not written",
                         frames, job->frames, job->params->output);
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(job->common, "stopped after %zu of %zu frames; go on with --frames %s",
                         frames, job->frames, rest_of(text, job, row));
    if (airy_status_is_of_frame(status) && run->refused != row)
        return tool_fail(job->common, "%s; --on-error skip --frames %zu:%zu:%zu goes on without it",
                         airy_last_error(), index, job->run.last, job->run.step);
    return tool_failed(job->common, status);
}

/* First and last file, as the report names them. */
static void name_files(const struct text_run *run)
{
    const struct integration *job = run->job;
    struct ascii_result *result = run->result;
    const size_t rows = ascii_rows(job);
    size_t first = 0, last = rows;
    const bool one = job->params->one_table;
    while (first < rows && !one && run->states[first] != WRITTEN)
        first++;
    while (last > first + 1 && !one && run->states[last - 1] != WRITTEN)
        last--;
    if (first == rows || !file_name(result->first, job, first))
        return;
    (void)file_name(result->last, job, last - 1);
}

static int run_rows(struct text_run *run, airy_run_info *info)
{
    const struct integration *job = run->job;
    airy_run_params params = job->run;
    const airy_row_arrays arrays = {
        .rows = ascii_rows(job), .intensity = run->table, .sem = run->errors};
    params.row = put_row;
    params.row_user = run;
    params.arrays = run->table ? &arrays : NULL;
    params.progress = show_progress;
    params.message = show_message;
    params.user = run;
    progress_begin(&run->progress, job->common, "frames");
    const airy_status status = airy_integrate_stack(NULL, job->stack, job->team.integrators,
                                                    job->team.count, &params, info);
    progress_end(&run->progress);
    if (status != AIRY_OK)
        return run_failed(run, status);
    name_files(run);
    return AIRY_EXIT_OK;
}

static int run_open(struct text_run *run)
{
    const struct integration *job = run->job;
    const size_t bins = airy_integrator_bins(job->integrator);
    const double *radial = airy_integrator_radial(job->integrator);
    run->head = make_head(job);
    run->states = calloc(ascii_rows(job), sizeof(run->states[0]));
    run->radial = calloc(bins, RADIAL);
    if (!run->states || !run->radial)
        return tool_fail(job->common, "out of memory for %zu patterns", ascii_rows(job));
    /* 13 digits are more than any axis needs. */
    for (size_t i = 0; i < bins; i++)
        snprintf(run->radial + i * RADIAL, RADIAL, "%18.12e", radial[i]);
    return job->params->one_table ? open_table(run) : AIRY_EXIT_OK;
}

int ascii_run(struct integration *job, airy_run_info *info, struct ascii_result *result)
{
    const struct common *common = job->common;
    struct text_run run = {.job = job,
                           .result = result,
                           .gap_least = airy_gap_least(job->info.dtype),
                           .refused = SIZE_MAX};
    if (for_refinement(job->params->output) && job->params->pattern.unit != AIRY_UNIT_TTH_DEG)
        tool_say(common,
                 "output '%s' is in %s: programs that refine powder patterns take the first column "
                 "of such a file for degrees of 2 theta; --unit 2th_deg writes them",
                 job->params->output, airy_unit_name(job->params->pattern.unit));
    int code = check_names(job);
    if (code == AIRY_EXIT_OK)
        code = integrate_check_memory(job);
    if (code != AIRY_EXIT_OK)
        return code;
    result->gaps.known = !isinf(run.gap_least);
    pthread_mutex_init(&run.lock, NULL);
    code = run_open(&run);
    if (code == AIRY_EXIT_OK)
        code = run_rows(&run, info);
    if (code == AIRY_EXIT_OK && job->params->one_table)
        code = write_table(&run);
    run_close(&run);
    return code;
}
