/*
 * May an interrupted run be continued? Compares what it was started with to what is asked for now.
 */
#include <stdlib.h>
#include <string.h>

#include "airy/resume.h"
#include "integrate/integrate.h"
#include "integrate/kept_rows.h"
#include "result/patterns.h"

/* --follow of an unknown number of frames: "A:0:S". */
static bool is_open_ended(const json_t *configuration)
{
    const char *frames = json_string_value(json_object_get(configuration, "frames")),
               *colon = frames ? strchr(frames, ':') : NULL;
    return colon && strncmp(colon, ":0:", 3) == 0;
}

bool resume_is_complete(const struct integrate_params *params)
{
    char partial[4200];
    snprintf(partial, sizeof(partial), "%s.partial", params->output);
    return params->resume && !params->geometry.common.force && tool_exists(params->output) &&
           !tool_exists(partial);
}

/* Rows that are not there may lie in a file that is gone. */
static int refuse_rows(const struct common *common, const char *output)
{
    airy_image status = {0};
    const bool there = patterns_read_column(&status, output, "status") == AIRY_OK;
    airy_image_free(&status);
    return there ? tool_exists_already(common, output)
                 : tool_fail(common,
                             "'%s' is there already and cannot be read: %s; --force without "
                             "--resume overwrites it",
                             output, airy_last_error());
}

int resume_complete(const struct integration *job)
{
    const struct common *common = job->common;
    const char *output = job->params->output;
    airy_result_info info;
    const airy_status status = airy_resume_complete(output, job->configuration, &info);
    if (status == AIRY_ERR_EXISTS)
        return info.good + info.bad < info.rows ? refuse_rows(common, output)
                                                : tool_exists_already(common, output);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    const size_t frames = job->frames ? job->frames : info.rows; /* 0: --follow */
    if (info.bad)
        tool_say(common, "%s: complete already, %zu of %zu frames failed", output, info.bad,
                 frames);
    else
        tool_say(common, "%s: complete already", output);
    int code = AIRY_EXIT_OK;
    if (common->json)
        code = tool_print_json(common,
                               json_pack("{s:o, s:b, s:I, s:I}", "output", tool_json_string(output),
                                         "complete_already", 1, "frames", (json_int_t)frames, "bad",
                                         (json_int_t)info.bad));
    return code == AIRY_EXIT_OK && info.bad ? AIRY_EXIT_PARTLY : code;
}

static int check_rows(const struct integration *job, struct kept_rows *kept, void *pixels,
                      const char *partial)
{
    struct kept_other other;
    const airy_status status = kept_rows_check(kept, job->stack, pixels, &other);
    const bool several = job->run.group > 1, unread = other.why[0] != '\0';
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(job->common, "stopped before the first frame; %s is as it was", partial);
    if (airy_status_is_of_frame(status))
        return tool_fail(job->common, "a frame that %s has a row of: %s", partial,
                         airy_last_error());
    if (status != AIRY_OK)
        return tool_fail(job->common, "cannot compare rows of %s with their frames: %s", partial,
                         airy_last_error());
    return !other.found
               ? AIRY_EXIT_OK
               : tool_fail(job->common,
                           "%s %zu of '%s' is another one than when its row was made: the file "
                           "was replaced%s%s; the "
                           "rows so far are in %s, --force without --resume starts anew",
                           several ? "the group of frames that begins with frame" : "frame",
                           other.frame, other.path, unread ? " or damaged: " : "",
                           unread ? other.why : "", partial);
}

/* The frames are still those that the rows were made of; --follow sees to that itself. */
static int check_frames(const struct integration *job, const char *partial)
{
    const size_t size = job->info.height * job->info.width * airy_dtype_size(job->info.dtype);
    struct kept_rows *kept = job->stack && !job->params->follow ? kept_rows_open(job, partial)
                                                                : NULL;
    int code = AIRY_EXIT_OK;
    void *pixels = kept ? malloc(size) : NULL;
    if (kept && !pixels)
        code = tool_fail(job->common, "out of memory for a frame");
    else if (kept)
        code = check_rows(job, kept, pixels, partial);
    free(pixels);
    kept_rows_close(&kept);
    return code;
}

/* A run that follows its input goes on with one that did. Exit code. */
static int check_follow(const struct integration *job, const char *partial, const char *before)
{
    const struct common *common = job->common;
    json_t *a = json_loads(before, JSON_REJECT_DUPLICATES, NULL),
           *b = json_loads(job->configuration, 0, NULL);
    const bool open = is_open_ended(a), open_now = is_open_ended(b);
    json_decref(a);
    json_decref(b);
    if (open && !open_now && job->params->follow)
        return tool_fail(common,
                         "%s was begun when the file did not say how many frames it should have, "
                         "which it says now: it is another file; --force without --resume starts "
                         "anew",
                         partial);
    if (open && !open_now)
        return tool_fail(common,
                         "%s was begun with --follow, when the number of frames was not known: "
                         "give --follow, too; it takes what is there and ends when nothing new has "
                         "come for --follow-timeout",
                         partial);
    if (!open && open_now)
        return tool_fail(common,
                         "%s was begun without --follow, for a number of frames that was known: "
                         "leave --follow out",
                         partial);
    return AIRY_EXIT_OK;
}

int resume_prepare(struct integration *job)
{
    const struct common *common = job->common;
    char partial[4200], *before = NULL;
    airy_configuration_change change;
    if ((size_t)snprintf(partial, sizeof(partial), "%s.partial", job->params->output) >=
        sizeof(partial))
        return tool_fail(common, "the output's name is longer than %zu bytes", sizeof(partial) - 1);
    if (!tool_exists(partial)) {
        tool_say(common, "--resume: there is no %s, so it starts from the beginning", partial);
        job->run.resume = false;
        return AIRY_EXIT_OK;
    }
    const airy_status status = airy_resume_check(partial, job->configuration, &change, &before);
    int code = before ? check_follow(job, partial, before) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK && status != AIRY_OK)
        code = tool_failed(common, status);
    if (code == AIRY_EXIT_OK)
        code = check_frames(job, partial);
    if (code != AIRY_EXIT_OK) {
        free(before);
        return code;
    }
    if (change.touched)
        tool_say(common, "--resume: a file has another time than when the run was started, its "
                         "name and size are the same");
    /* The same in meaning: the words of the first run stay in the file. */
    free(job->configuration);
    job->configuration = before;
    job->run.configuration = before;
    return AIRY_EXIT_OK;
}
