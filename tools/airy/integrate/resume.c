/*
 * May an interrupted run be continued? Compares what it was started with to what is asked for now.
 */
#include <stdlib.h>
#include <string.h>

#include "airy/result.h"
#include "integrate/integrate.h"
#include "integrate/kept_rows.h"
#include "result/patterns.h"

/* Differences as "key: old, new" in one sentence. */
struct differences {
    char text[1024];
    size_t count;
    bool touched; /* a file has another time but the same size */
};

static void add(struct differences *d, const char *key, const char *before, const char *now)
{
    const size_t used = strlen(d->text);
    if (d->count++ < 6)
        snprintf(d->text + used, sizeof(d->text) - used, "%s%s: was %.120s, is %.120s",
                 used ? "; " : "", key, before, now);
}

static void compare_values(struct differences *d, const char *key, const json_t *before,
                           const json_t *now)
{
    if (json_equal(before, now) || !before || !now)
        return;
    char *a = json_dumps(before, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9)),
         *b = json_dumps(now, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    add(d, key, a ? a : "?", b ? b : "?");
    free(a);
    free(b);
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The same content, or for large files the same name and size. */
static bool same_file(struct differences *d, const json_t *before, const json_t *now)
{
    const char *a = text_of(before, "path"), *b = text_of(now, "path");
    const char *dataset_a = strstr(a, "::"), *dataset_b = strstr(b, "::");
    if (strcmp(dataset_a ? dataset_a : "", dataset_b ? dataset_b : "") != 0)
        return false;
    if (json_object_get(before, "sha256") && json_object_get(now, "sha256"))
        return strcmp(text_of(before, "sha256"), text_of(now, "sha256")) == 0;
    if (json_object_get(before, "files") || json_object_get(now, "files"))
        return json_equal(before, now);
    /* An input that was followed grew: its name stands for it. */
    const bool followed = json_object_size(before) == 1 || json_object_size(now) == 1;
    if (followed)
        return strcmp(base_name(a), base_name(b)) == 0;
    d->touched |=
        !json_equal(json_object_get(before, "modified"), json_object_get(now, "modified"));
    const json_t *size_a = json_object_get(before, "bytes"),
                 *size_b = json_object_get(now, "bytes");
    return strcmp(base_name(a), base_name(b)) == 0 &&
           (size_a == size_b || json_equal(size_a, size_b));
}

static void compare_files(struct differences *d, const char *key, const json_t *before,
                          const json_t *now)
{
    if (!before && !now)
        return;
    if (!before || !now)
        add(d, key, before ? text_of(before, "path") : "none", now ? text_of(now, "path") : "none");
    else if (!same_file(d, before, now)) {
        char other[300];
        const char *a = text_of(before, "path"), *b = text_of(now, "path");
        snprintf(other, sizeof(other), "%s%s", b, strcmp(a, b) == 0 ? " with other content" : "");
        add(d, key, a, other);
    }
}

static void compare_inputs(struct differences *d, const json_t *before, const json_t *now)
{
    const size_t a = json_array_size(before), b = json_array_size(now);
    char text[2][32];
    if (strstr(text_of(json_array_get(before, 0), "path"), "://") ||
        strstr(text_of(json_array_get(now, 0), "path"), "://"))
        return; /* a series of a stream may be played again from elsewhere, or read from its file */
    snprintf(text[0], sizeof(text[0]), "%zu", a);
    snprintf(text[1], sizeof(text[1]), "%zu", b);
    if (a != b)
        add(d, "number of inputs", text[0], text[1]);
    for (size_t i = 0; a == b && i < a; i++)
        compare_files(d, "input", json_array_get(before, i), json_array_get(now, i));
}

/*
 * Keys of the configuration, and files compared by content, stand for these; --on-error and limits
 * of lists say nothing about a good row, and bad ones are made again.
 */
static bool compared_otherwise(const char *name)
{
    static const char *const names[] = {
        "bins",     "unit",      "split",          "method",     "error-model", "frames",
        "mask",     "mask-only", "dark",           "flat",       "absorption",  "variance",
        "on-error", "follow",    "follow-timeout", "poll",       "cutoff-pick", "cutoff-peak",
        "noise",    "patch",     "connected",      "max-pixels", "max-peaks"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/*
 * "--name=argument" words as {name: argument}; numbers as numbers, so that 0.9 and 0.90 are the
 * same.
 */
static json_t *option_values(const json_t *words)
{
    json_t *values = json_object();
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        if (!word || strncmp(word, "--", 2) != 0)
            continue;
        char name[64];
        double pair[2];
        const size_t length = strcspn(word + 2, "=");
        snprintf(name, sizeof(name), "%.*s", (int)length, word + 2);
        const char *argument = word[2 + length] ? word + 2 + length + 1 : NULL;
        if (compared_otherwise(name))
            continue;
        /* One that may be given several times counts by its place, too. */
        for (int again = 2; json_object_get(values, name) && again < 100; again++)
            snprintf(name, sizeof(name), "%.*s (%d)", (int)(length < 40 ? length : 40), word + 2,
                     again);
        json_object_set_new(
            values, name,
            !argument                        ? json_true()
            : opt_number(argument, &pair[0]) ? json_pack("o", tool_json_number(pair[0]))
            : opt_two(argument, pair)
                ? json_pack("[o,o]", tool_json_number(pair[0]), tool_json_number(pair[1]))
                : tool_json_string(argument));
        if (!json_object_get(values, name)) /* not a finite number */
            json_object_set_new(values, name, tool_json_string(argument ? argument : ""));
    }
    return values;
}

static void compare_options(struct differences *d, const json_t *before, const json_t *now)
{
    json_t *a = option_values(before), *b = option_values(now), *none = json_string("not given");
    const char *key;
    json_t *value;
    char name[80];
    json_object_foreach(a, key, value)
    {
        const json_t *other = json_object_get(b, key);
        snprintf(name, sizeof(name), "--%s", key);
        compare_values(d, name, value, other ? other : none);
    }
    json_object_foreach(b, key, value)
    {
        snprintf(name, sizeof(name), "--%s", key);
        if (!json_object_get(a, key))
            compare_values(d, name, none, value);
    }
    json_decref(none);
    json_decref(a);
    json_decref(b);
}

/* All that the object `name` of the configuration holds, but for limits of lists. */
static void compare_object(struct differences *d, const char *name, const json_t *before,
                           const json_t *now)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(now, name), key, value)
    {
        if (strncmp(key, "max_", 4) != 0)
            compare_values(d, key, json_object_get(json_object_get(before, name), key), value);
    }
}

static void compare(struct differences *d, const json_t *before, const json_t *now)
{
    static const char *const keys[] = {"command",     "version",   "frames", "bins",
                                       "unit",        "azimuthal", "split",  "method",
                                       "error_model", "file_mask"};
    static const char *const files[] = {"mask", "mask-only",  "dark",
                                        "flat", "absorption", "variance"};
    compare_inputs(d, json_object_get(before, "inputs"), json_object_get(now, "inputs"));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        compare_values(d, keys[i], json_object_get(before, keys[i]), json_object_get(now, keys[i]));
    compare_object(d, "geometry", before, now);
    compare_object(d, "peaks", before, now);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        compare_files(d, files[i], json_object_get(json_object_get(before, "files"), files[i]),
                      json_object_get(json_object_get(now, "files"), files[i]));
    compare_options(d, json_object_get(before, "options"), json_object_get(now, "options"));
    const json_t *stream_before = json_object_get(before, "stream"),
                 *stream_now = json_object_get(now, "stream");
    compare_values(d, "series_id", json_object_get(stream_before, "series_id"),
                   json_object_get(stream_now, "series_id"));
    compare_values(d, "channel", json_object_get(stream_before, "channel"),
                   json_object_get(stream_now, "channel"));
}

/* --follow of an unknown number of frames: "A:0:S". */
static bool is_open_ended(const json_t *configuration)
{
    const char *colon = strchr(text_of(configuration, "frames"), ':');
    return colon && strncmp(colon, ":0:", 3) == 0;
}

/* What a result says of its run: its configuration, released with free(), and its rows. */
static airy_status read_result(char **configuration, airy_result_info *info, const char *path)
{
    airy_result *result = NULL;
    airy_status status = airy_result_open(&result, path);
    if (status == AIRY_OK)
        status = airy_result_get_info(result, info);
    if (status == AIRY_OK)
        status = airy_result_get_text(result, "configuration", configuration);
    airy_result_close(&result);
    return status;
}

bool resume_is_complete(const struct integrate_params *params)
{
    char partial[4200];
    snprintf(partial, sizeof(partial), "%s.partial", params->output);
    return params->resume && !params->geometry.common.force && tool_exists(params->output) &&
           !tool_exists(partial);
}

int resume_complete(const struct integration *job)
{
    const struct common *common = job->common;
    const char *output = job->params->output;
    char *text = NULL;
    struct differences d = {0};
    airy_result_info info = {.rows = 0};
    if (read_result(&text, &info, output) != AIRY_OK) {
        free(text);
        return tool_exists_already(common, output);
    }
    if (info.good + info.bad < info.rows) {
        airy_image status = {0};
        free(text);
        /* Rows that are not there may lie in a file that is gone. */
        const bool there = patterns_read_column(&status, output, "status") == AIRY_OK;
        airy_image_free(&status);
        return there ? tool_exists_already(common, output)
                     : tool_fail(common,
                                 "'%s' is there already and cannot be read: %s; --force without "
                                 "--resume overwrites it",
                                 output, airy_last_error());
    }
    const size_t bad = info.bad;
    json_t *before = json_loads(text, 0, NULL), *now = json_loads(job->configuration, 0, NULL);
    free(text);
    const bool readable = before && now;
    if (readable)
        compare(&d, before, now);
    json_decref(before);
    json_decref(now);
    if (!readable)
        return tool_exists_already(common, output);
    if (d.count)
        return tool_fail(common,
                         "'%s' is there already and was made otherwise: %s%s; --force without "
                         "--resume overwrites it",
                         output, d.text, d.count > 6 ? "; ..." : "");
    const size_t frames = job->frames ? job->frames : info.rows; /* 0: --follow */
    if (bad)
        tool_say(common, "%s: complete already, %zu of %zu frames failed", output, bad, frames);
    else
        tool_say(common, "%s: complete already", output);
    int code = AIRY_EXIT_OK;
    if (common->json)
        code = tool_print_json(common,
                               json_pack("{s:o, s:b, s:I, s:I}", "output", tool_json_string(output),
                                         "complete_already", 1, "frames", (json_int_t)frames, "bad",
                                         (json_int_t)bad));
    return code == AIRY_EXIT_OK && bad ? AIRY_EXIT_PARTLY : code;
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

int resume_check(struct integration *job, char **configuration)
{
    const struct common *common = job->common;
    char partial[4200], *before = NULL;
    airy_result_info info;
    if ((size_t)snprintf(partial, sizeof(partial), "%s.partial", job->params->output) >=
        sizeof(partial))
        return tool_fail(common, "the output's name is longer than %zu bytes", sizeof(partial) - 1);
    if (!tool_exists(partial)) {
        tool_say(common, "--resume: there is no %s, so it starts from the beginning", partial);
        job->run.resume = false;
        return AIRY_EXIT_OK;
    }
    if (read_result(&before, &info, partial) != AIRY_OK)
        return tool_fail(common, "%s cannot be continued: %s; --force without --resume starts anew",
                         partial, airy_last_error());
    struct differences d = {0};
    json_t *a = json_loads(before, 0, NULL), *b = json_loads(job->configuration, 0, NULL);
    int code = AIRY_EXIT_OK;
    if (!a || !b)
        code = tool_fail(common,
                         "%s cannot be continued: its configuration is not one of this program",
                         partial);
    else if (is_open_ended(a) && !is_open_ended(b) && job->params->follow)
        code = tool_fail(common,
                         "%s was begun when the file did not say how many frames it should have, "
                         "which it says now: it is another file; --force without --resume starts "
                         "anew",
                         partial);
    else if (is_open_ended(a) && !is_open_ended(b))
        code = tool_fail(common,
                         "%s was begun with --follow, when the number of frames was not known: "
                         "give --follow, too; it takes what is there and ends when nothing new has "
                         "come for --follow-timeout",
                         partial);
    else if (!is_open_ended(a) && is_open_ended(b))
        code = tool_fail(common,
                         "%s was begun without --follow, for a number of frames that was known: "
                         "leave --follow out",
                         partial);
    else
        compare(&d, a, b);
    json_decref(a);
    json_decref(b);
    if (d.count)
        code = tool_fail(common,
                         "%s was started otherwise: %s%s; give the same options, or --force "
                         "without --resume to start anew",
                         partial, d.text, d.count > 6 ? "; ..." : "");
    if (code == AIRY_EXIT_OK)
        code = check_frames(job, partial);
    if (code != AIRY_EXIT_OK) {
        free(before);
        return code;
    }
    if (d.touched)
        tool_say(common, "--resume: a file has another time than when the run was started, its "
                         "name and size are the same");
    *configuration = before;
    return AIRY_EXIT_OK;
}

int resume_prepare(struct integration *job)
{
    char *before = NULL;
    const int code = resume_check(job, &before);
    /* The same in meaning: the words of the first run stay in the file. */
    if (before) {
        free(job->configuration);
        job->configuration = before;
        job->run.configuration = before;
    }
    return code;
}
