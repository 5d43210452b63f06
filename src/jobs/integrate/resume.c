/* What an earlier run has left of an output: in the way, complete, or to be continued. */
#include <stdlib.h>
#include <string.h>

#include "airy/resume.h"
#include "base/memory.h"
#include "integrate/integrator.h"
#include "jobs/configuration.h"
#include "jobs/integrate/kept_rows.h"
#include "jobs/integrate/resume.h"

airy_status airy_integration_read_column(double **values, size_t *rows, const char *path,
                                         const char *name)
{
    airy_result *result = NULL;
    airy_result_plane plane;
    *values = NULL;
    *rows = 0;
    AIRY_TRY(airy_result_open(&result, path));
    airy_status status = airy_result_find_plane(result, name, &plane);
    if (status == AIRY_OK && (!plane.has_rows || plane.cells != 1))
        status = airy_fail(AIRY_ERR_FORMAT, "'%s': %s has not one number a row", path, name);
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)values, plane.rows, sizeof(double), "a column");
    if (status == AIRY_OK)
        status = airy_result_read(result, plane.name, 0, plane.rows, AIRY_DTYPE_F64, *values,
                                  plane.rows * sizeof(double));
    airy_result_close(&result);
    if (status == AIRY_OK) {
        *rows = plane.rows;
        return AIRY_OK;
    }
    free(*values);
    *values = NULL;
    return status;
}

/* ---- the output's place ---- */

static bool is_partial_result(const char *partial)
{
    airy_result *result = NULL;
    airy_result_info info;
    const bool is_one = airy_result_open(&result, partial) == AIRY_OK &&
                        airy_result_get_info(result, &info) == AIRY_OK &&
                        (info.kind == AIRY_RESULT_PATTERNS || info.kind == AIRY_RESULT_SPARSE);
    airy_result_close(&result);
    return is_one;
}

airy_status airy_integration_check_place(const struct airy_integrate_values *v, const char *output)
{
    char partial[AIRY_PARTIAL_PATH];
    AIRY_TRY(airy_job_partial_path(partial, output));
    AIRY_FAIL_ON_IF(!v->force && airy_job_is_there(output), AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", output);
    if (v->resume || !airy_job_is_there(partial))
        return AIRY_OK;
    AIRY_FAIL_HINT_IF(airy_result_is_written(partial), AIRY_ERR_EXISTS, AIRY_HINT_WRITER,
                      AIRY_SUBJECT_FILE, "'%s' is being written by another process", partial);
    AIRY_FAIL_HINT_IF(
        !is_partial_result(partial), AIRY_ERR_EXISTS, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
        "'%s' is there and is no partial result; move it, or name another output", partial);
    AIRY_FAIL_HINT_IF(!v->force, AIRY_ERR_EXISTS, AIRY_HINT_INTERRUPTED, AIRY_SUBJECT_FILE,
                      "'%s' is there from an interrupted run", partial);
    return AIRY_OK;
}

/* ---- complete already ---- */

bool airy_integration_may_be_complete(const struct airy_integrate_values *v)
{
    return airy_job_may_be_complete(v->output, v->resume, v->force);
}

/* A result that lacks rows: they may lie in a file that is gone. */
static airy_status refuse_rows(const char *output)
{
    double *states = NULL;
    size_t rows = 0;
    const airy_status read = airy_integration_read_column(&states, &rows, output, "frame/status");
    free(states);
    if (read == AIRY_OK)
        return airy_fail_on(AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE, "'%s' is there already", output);
    return airy_hinted(AIRY_HINT_ANEW,
                       airy_fail_context(read, "'%s' is there already and cannot be read", output));
}

airy_status airy_integration_check_complete(const struct airy_integration *it, const char *output,
                                            airy_result_info *info)
{
    const airy_status status = airy_resume_complete(output, it->configuration, info);
    return status == AIRY_ERR_EXISTS && info->good + info->bad < info->rows ? refuse_rows(output)
                                                                            : status;
}

airy_status airy_integration_complete(struct airy_integration *it)
{
    const char *output = it->v->output;
    airy_result_info info;
    AIRY_TRY(airy_integration_check_complete(it, output, &info));
    const size_t frames = it->frames ? it->frames : info.rows;
    return airy_job_put_complete(it->job, output, true, frames, info.bad);
}

/* ---- continue ---- */

/* Whether a run took frames until no more came, whose number nobody knew: "A:0:S". */
static bool is_open_ended(const char *configuration)
{
    json_t *json = json_loads(configuration, 0, NULL);
    const char *frames = json_string_value(json_object_get(json, "frames")),
               *colon = frames ? strchr(frames, ':') : NULL;
    const bool is_open = colon && strncmp(colon, ":0:", 3) == 0;
    json_decref(json);
    return is_open;
}

airy_status airy_integration_check_follow(const struct airy_integration *it, const char *partial,
                                          const char *before, bool follows)
{
    const bool open = is_open_ended(before), open_now = is_open_ended(it->configuration);
    AIRY_FAIL_HINT_IF(open && !open_now && follows, AIRY_ERR_FORMAT, AIRY_HINT_ANEW,
                      AIRY_SUBJECT_FILE,
                      "%s was begun when the file did not state how many frames it should have, "
                      "which it states now: it is another file",
                      partial);
    AIRY_FAIL_HINT_IF(
        open && !open_now, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
        "%s was begun with follow=on, when the number of frames was not known: give "
        "follow=on also now; the run takes what is there, and ends when nothing new has "
        "come for follow-timeout=S seconds",
        partial);
    AIRY_FAIL_HINT_IF(
        !open && open_now, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
        "%s was begun without follow=on, for a number of frames that was known: leave "
        "follow=on out",
        partial);
    return AIRY_OK;
}

static airy_status report_other(const struct airy_integration *it,
                                const struct airy_kept_other *other, const char *partial)
{
    const bool several = it->run.group > 1, unread = other->why[0] != '\0';
    const airy_status status =
        airy_fail(AIRY_ERR_FORMAT,
                  "%s %zu of '%s' is another one than when its row was made: the file was "
                  "replaced%s%s; the rows so far are in %s",
                  several ? "the group of frames that begins with frame" : "frame", other->frame,
                  other->path, unread ? " or damaged: " : "", other->why, partial);
    return airy_hinted(AIRY_HINT_ANEW, airy_about(AIRY_SUBJECT_FILE, other->path, status));
}

static airy_status check_rows(const struct airy_integration *it, struct airy_kept_rows *kept,
                              void *pixels, const char *partial)
{
    struct airy_kept_other other;
    const airy_status status = airy_kept_rows_check(kept, it->stack, pixels, &other);
    if (status == AIRY_ERR_CANCELLED)
        return airy_hinted(
            AIRY_HINT_INTERRUPTED,
            airy_fail(status, "cancelled before the first frame; %s is as it was", partial));
    if (airy_status_is_of_frame(status))
        return airy_hinted(AIRY_HINT_ANEW,
                           airy_fail_context(status, "a frame that %s has a row of", partial));
    if (status != AIRY_OK)
        return airy_fail_context(status, "cannot compare rows of %s with their frames", partial);
    return other.found ? report_other(it, &other, partial) : AIRY_OK;
}

/* Arrays differ where the configuration has their shape alone: then rows do, and no frame. */
static airy_status check_values(const struct airy_integration *it, const char *partial)
{
    airy_result *result = NULL;
    char *before = NULL;
    airy_status status = airy_result_open(&result, partial);
    if (status == AIRY_OK)
        status = airy_result_get_text(result, "fingerprint", &before);
    if (status == AIRY_OK)
        status = airy_fingerprint_compare(
            (struct airy_fingerprint_of){before, "the file"},
            (struct airy_fingerprint_of){it->integrators[0]->fingerprint.text, "this run"}, false);
    airy_result_close(&result);
    free(before);
    return status == AIRY_OK
               ? AIRY_OK
               : airy_hinted(AIRY_HINT_SAME_RUN,
                             airy_fail_context(status, "cannot resume '%s'", partial));
}

/* The frames are still those that the rows were made of. */
static airy_status check_frames(const struct airy_integration *it, const char *partial)
{
    const size_t size = it->info.height * it->info.width * airy_dtype_size(it->info.dtype);
    struct airy_kept_rows *kept = NULL;
    void *pixels = NULL;
    airy_status status = airy_kept_rows_open(&kept, it, partial);
    if (status == AIRY_OK && kept)
        status = airy_memory_calloc(&pixels, size, 1, "a frame");
    if (status == AIRY_OK && kept)
        status = check_rows(it, kept, pixels, partial);
    free(pixels);
    airy_kept_rows_close(&kept);
    return status;
}

airy_status airy_integration_prepare_resume(struct airy_integration *it, const char *output,
                                            bool follows)
{
    char partial[AIRY_PARTIAL_PATH], *before = NULL;
    if (!it->v->resume)
        return AIRY_OK;
    AIRY_TRY(airy_job_partial_path(partial, output));
    airy_status status =
        airy_job_check_partial(it->job, &it->run.resume, output, it->configuration, &before);
    const airy_status other = before ? airy_integration_check_follow(it, partial, before, follows)
                                     : AIRY_OK;
    status = other == AIRY_OK ? status : other;
    if (status == AIRY_OK && before)
        status = check_values(it, partial);
    if (status == AIRY_OK && before && it->stack && !follows)
        status = check_frames(it, partial);
    if (status != AIRY_OK || !before) {
        free(before);
        return status;
    }
    /* The same in meaning: the words of the first run stay in the file. */
    free(it->configuration);
    it->run.configuration = it->configuration = before;
    return AIRY_OK;
}
