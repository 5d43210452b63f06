/* Text files of an integration: which ones, what is in their way, and how a run goes on that failed. */
#include "jobs/integrate/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/gaps.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/word.h"

enum { NAME = 4200 };

bool airy_integration_is_text(const struct airy_integrate_values *v)
{
    static const char *const suffixes[] = {".xye", ".xy", ".chi", ".dat"};
    for (size_t i = 0; v->output && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (airy_has_suffix(v->output, suffixes[i]))
            return true;
    return false;
}

#define REFUSE_IF(cond, ...)                                                                       \
    AIRY_FAIL_ON_IF(cond, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, __VA_ARGS__)

airy_status airy_integration_check_output(const struct airy_integrate_values *v,
                                          const airy_integrator_params *params)
{
    const char *output = v->output;
    const bool text = airy_integration_is_text(v);
    REFUSE_IF(output && !text && !airy_job_is_hdf5_name(output),
              "%s '%s': expected a name that ends in .h5, .hdf5, .nxs, .xye, .xy, .chi or .dat",
              "output", output);
    REFUSE_IF(v->one_table && !output, "%s goes with output", "one-table");
    REFUSE_IF(v->one_table && (!text || airy_has_suffix(output, ".chi")),
              "%s: output '%s' is none of .xye, .xy or .dat", "one-table", output);
    if (!text)
        return AIRY_OK;
    REFUSE_IF(v->format == FORMAT_NXAZINT, "%s nxazint: output '%s' is no .h5 or .nxs file",
              "format", output);
    REFUSE_IF(v->pattern.bins.azimuth,
              "%s '%s': two dimensions go into .h5, text files hold one dimension", "output",
              output);
    const char *beside = v->roi.count     ? "roi"
                         : v->grid[0]     ? "grid"
                         : v->carry.count ? "carry"
                                          : NULL;
    REFUSE_IF(beside,
              "%s: text files hold patterns alone (also those of average=N and sum=N); write .h5",
              beside);
    REFUSE_IF(v->resume,
              "%s: text files are complete or not there; select what is missing by frames=A:B",
              "resume");
    REFUSE_IF(airy_has_suffix(output, ".xye") && params->error_model == AIRY_ERROR_MODEL_NONE,
              "%s '%s' has a column of errors: give error-model=poisson, or write .xy", "output",
              output);
    return AIRY_OK;
}

/* "out.xye" for one pattern, "out_000012.xye" in a series, by the number of its first frame. */
static bool file_name(char name[NAME], const struct airy_integration *it, size_t row)
{
    const char *output = it->v->output, *dot = strrchr(output, '.');
    const size_t frame = airy_text_frame(it, row * airy_text_group(it));
    const int n =
        it->rows == 1 || it->v->one_table
            ? snprintf(name, NAME, "%s", output)
            : snprintf(name, NAME, "%.*s_%06zu%s", (int)(dot - output), output, frame, dot);
    return n > 0 && n < NAME;
}

/* Before anything is read: no file of the series is an input, or would replace one unasked. */
static airy_status check_names(const struct airy_integration *it)
{
    const size_t files = it->v->one_table ? 1 : it->rows;
    char name[NAME];
    for (size_t row = 0; row < files; row++) {
        AIRY_FAIL_ON_IF(!file_name(name, it, row), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s: the name is longer than %d bytes", "output", NAME - 1);
        if (access(name, F_OK) != 0)
            continue;
        AIRY_TRY(airy_job_keep_inputs(it->job, name));
        AIRY_TRY(airy_job_keep_stack(it->stack, name));
        AIRY_FAIL_ON_IF(!it->v->force, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE, "'%s' is there already",
                        name);
    }
    return AIRY_OK;
}

/* An airy_row_fn: write the file of a row. Several threads, each with its own row. */
static airy_status put_row(void *user, const airy_run_row *row)
{
    struct airy_text_run *run = user;
    struct airy_gap_rows *gaps = &run->it->gaps;
    char name[NAME] = "";
    const bool file = row->frames > 0 && !run->columns;
    airy_status status = AIRY_OK;
    if (file && file_name(name, run->it, row->number))
        status = airy_text_write_row(run, row, name);
    pthread_mutex_lock(&run->lock);
    if (status != AIRY_OK)
        run->refused = airy_min_size(run->refused, row->number);
    else
        run->states[row->number] = file ? AIRY_TEXT_WRITTEN : AIRY_TEXT_WITHOUT_FILE;
    if (status == AIRY_OK && row->frames > 0 && row->stats.max >= run->gap_least &&
        (gaps->count++ == 0 || row->number < gaps->first))
        gaps->first = row->number;
    pthread_mutex_unlock(&run->lock);
    const airy_run_params *next = &run->it->run; /* who takes events takes one at a time */
    return status == AIRY_OK && next->row ? next->row(next->row_user, row) : status;
}

/* Files behind the row where a next run begins would be in its way. */
static void remove_behind(const struct airy_text_run *run, size_t row)
{
    char name[NAME];
    for (size_t k = row; k < run->it->rows; k++)
        if (!run->it->v->force && run->states[k] == AIRY_TEXT_WRITTEN &&
            file_name(name, run->it, k))
            (void)unlink(name);
}

/*
 * The frames from a row on. A run of one row alone would not number its file: the last one is given
 * the name.
 */
static void rest_of(char *text, size_t size, const struct airy_integration *it, size_t row)
{
    const size_t frame = airy_text_frame(it, row * airy_text_group(it));
    char name[NAME];
    if (it->run.step == 1 && it->run.last == it->info.frames && row + 1 < it->rows)
        snprintf(text, size, "frames=%zu:", frame);
    else
        snprintf(text, size, "frames=%zu:%zu:%zu", frame, it->run.last, it->run.step);
    const size_t used = strlen(text);
    if (row + 1 == it->rows && file_name(name, it, row))
        snprintf(text + used, size - used, " output=%s", name);
}

/* What is to be done after a run that failed; a next one begins with the first row that is missing. */
static airy_status fail_run(const struct airy_text_run *run, airy_status status)
{
    const struct airy_integration *it = run->it;
    char rest[NAME + 100];
    size_t row = 0;
    while (row < it->rows && run->states[row] != AIRY_TEXT_MISSING)
        row++;
    const size_t frames = airy_min_size(row * airy_text_group(it), it->frames);
    remove_behind(run, row);
    AIRY_FAIL_HINT_IF(status == AIRY_ERR_CANCELLED && run->columns, status, AIRY_HINT_STATED,
                      AIRY_SUBJECT_NONE, "cancelled after %zu of %zu frames; '%s' is not written",
                      frames, it->frames, it->v->output);
    rest_of(rest, sizeof(rest), it, row);
    AIRY_FAIL_HINT_IF(status == AIRY_ERR_CANCELLED, status, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "cancelled after %zu of %zu frames; go on with %s", frames, it->frames, rest);
    if (!airy_status_is_of_frame(status) || run->refused == row)
        return status;
    return airy_hinted(AIRY_HINT_STATED,
                       airy_fail_more(status,
                                      "; on-error=skip frames=%zu:%zu:%zu goes on without it",
                                      airy_text_frame(it, frames), it->run.last, it->run.step));
}

/* First and last file, as results; none: null. */
static airy_status put_names(const struct airy_text_run *run)
{
    struct airy_integration *it = run->it;
    char name[NAME];
    size_t first = 0, last = it->rows;
    const bool one = it->v->one_table;
    while (first < it->rows && !one && run->states[first] != AIRY_TEXT_WRITTEN)
        first++;
    while (last > first + 1 && !one && run->states[last - 1] != AIRY_TEXT_WRITTEN)
        last--;
    if (first == it->rows || !file_name(name, it, first))
        return airy_job_put_text(it->job, "output", NULL);
    AIRY_TRY(airy_job_put_text(it->job, "output", name));
    return last - 1 > first && !one && file_name(name, it, last - 1)
               ? airy_job_put_text(it->job, "last_output", name)
               : AIRY_OK;
}

/* Room for the rows of a table, unless they are kept as results anyway. */
static airy_status open_table(struct airy_text_run *run)
{
    struct airy_integration *it = run->it;
    airy_row_arrays *m = &it->memory;
    const size_t size = airy_integrator_bins(it->integrators[0]) * sizeof(float);
    if (!m->intensity)
        AIRY_TRY(airy_memory_calloc((void **)&m->intensity, it->rows, size, "a table"));
    if (!m->sem && airy_text_has_errors(it))
        AIRY_TRY(airy_memory_calloc((void **)&m->sem, it->rows, size, "a table"));
    run->intensity = m->intensity;
    run->sem = airy_text_has_errors(it) ? m->sem : NULL;
    return airy_memory_calloc((void **)&run->columns, it->rows, sizeof(bool), "a table");
}

static airy_status run_rows(struct airy_text_run *run, airy_run_info *info)
{
    struct airy_integration *it = run->it;
    airy_run_params params = it->run;
    params.row = put_row;
    params.row_user = run;
    const airy_status status =
        airy_integrate_stack(NULL, it->stack, it->integrators, it->count, &params, info);
    if (status != AIRY_OK)
        return fail_run(run, status);
    if (run->columns)
        AIRY_TRY(airy_text_write_table(run));
    return put_names(run);
}

static airy_status run_text(struct airy_text_run *run, airy_run_info *info)
{
    struct airy_integration *it = run->it;
    AIRY_TRY(check_names(it));
    AIRY_TRY(airy_memory_calloc((void **)&run->states, it->rows, 1, "patterns"));
    AIRY_TRY(airy_text_prepare(run));
    if (it->v->one_table)
        AIRY_TRY(open_table(run));
    it->gaps.known = !isinf(run->gap_least);
    return run_rows(run, info);
}

/* Rows that only the table needed are no result. */
static void drop_table(struct airy_integration *it)
{
    if (!airy_job_keeps(it->job, "intensity")) {
        free(it->memory.intensity);
        it->memory.intensity = NULL;
    }
    if (!airy_job_keeps(it->job, "sem")) {
        free(it->memory.sem);
        it->memory.sem = NULL;
    }
}

airy_status airy_integration_run_text(struct airy_integration *it, airy_run_info *info)
{
    struct airy_text_run run = {
        .it = it, .gap_least = airy_gap_least(it->info.dtype), .refused = SIZE_MAX};
    const uint64_t begun = airy_clock_ns();
    const airy_unit unit = it->params.unit;
    if (airy_text_for_refinement(it->v->output) && unit != AIRY_UNIT_TTH_DEG)
        airy_job_message(it->job, AIRY_LOG_WARN,
                         "output '%s' is in %s: programs that refine powder patterns take the "
                         "first column of such a file for degrees of 2 theta; unit=2th_deg writes "
                         "them",
                         it->v->output, airy_unit_name(unit));
    pthread_mutex_init(&run.lock, NULL);
    const airy_status status = run_text(&run, info);
    pthread_mutex_destroy(&run.lock);
    free(run.head);
    free(run.radial);
    free(run.states);
    free(run.columns);
    drop_table(it);
    info->seconds = (double)(airy_clock_ns() - begun) * 1e-9; /* of the table, too */
    return status;
}
