#include "cli/stack_out.h"

#include <stdlib.h>
#include <string.h>

/*
 * No data file that is written over, or goes with the master that is, is an input, or one that the
 * input links to.
 */
static int keep_inputs(const struct stack_out *out, size_t files, size_t before)
{
    int code = AIRY_EXIT_OK;
    const size_t all = files > before ? files : before;
    for (size_t i = 0; i < all && code == AIRY_EXIT_OK && out->common->force; i++) {
        char *path = NULL;
        const airy_status status = airy_stack_data_path(&path, out->path, i + 1);
        if (status != AIRY_OK)
            return tool_failed(out->common, status);
        if (tool_exists(path)) {
            code = tool_keep_inputs(out->common, path);
            if (code == AIRY_EXIT_OK && out->fill.stack)
                code = tool_keep_stack(out->common, path, out->fill.stack);
        }
        free(path);
    }
    return code;
}

/* Data files that only the stack which is replaced has, numbers `from` to `to`: those there now. */
static size_t count_surplus(char *first, size_t size, const struct stack_out *out, size_t from,
                            size_t to)
{
    size_t count = 0;
    for (size_t number = from; number <= to; number++) {
        char *path = NULL;
        if (airy_stack_data_path(&path, out->path, number) == AIRY_OK && tool_exists(path) &&
            count++ == 0)
            snprintf(first, size, "%s", path);
        free(path);
    }
    return count;
}

/* What became of them; `before` the run they were `had`. */
static void say_surplus(const struct stack_out *out, size_t before, size_t had, const char *first)
{
    char still[1024];
    const size_t left = count_surplus(still, sizeof(still), out, out->files + 1, before);
    if (left < had)
        tool_say(out->common, "removed %zu data file%s that only the stack before had, '%s'%s",
                 had - left, tool_s(had - left), first, had - left > 1 ? " and on" : "");
    if (left)
        tool_say(out->common,
                 "%zu data file%s of the stack before %s, '%s'%s; %s no longer links to %s", left,
                 tool_s(left), left > 1 ? "stay" : "stays", still, left > 1 ? " and on" : "",
                 out->path, left > 1 ? "them" : "it");
}

/* A data file behind those of both stacks, as of one whose master could not be read. */
static void say_others(const struct stack_out *out, size_t before)
{
    char *path = NULL;
    const size_t last = out->files > before ? out->files : before;
    if (airy_stack_data_path(&path, out->path, last + 1) == AIRY_OK && tool_exists(path))
        tool_say(out->common, "'%s' stays, to which the stack before did not link", path);
    free(path);
}

/* How that went. Exit code. */
static int tell(const struct stack_out *out, airy_status status)
{
    if (status == AIRY_OK)
        return AIRY_EXIT_OK;
    if (status == AIRY_ERR_CANCELLED && out->passing)
        return AIRY_EXIT_FAILED;
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(out->common, "%s: stopped after %zu of %zu frames, %s; start again",
                         out->path, out->info.frames, out->writer.frames,
                         tool_left(out->common, out->path));
    return tool_failed(out->common, status);
}

/* An airy_log_fn with a struct progress. */
static void say_message(void *user, airy_log_level level, const char *text)
{
    const struct progress *progress = user;
    if (level <= AIRY_LOG_WARN)
        tool_say(progress->common, "%s", text);
}

/* All frames into the open writer, and the files under their names if that goes well. Exit code. */
static int write_frames(struct stack_out *out, airy_stack_writer *writer)
{
    const struct common *common = out->common;
    struct progress progress;
    airy_device *device = NULL;
    const airy_device_params params = {.threads = (uint32_t)common->threads, .profile = true};
    if (common->profile) {
        const airy_status status = airy_device_create(&device, "cpu", &params);
        if (status != AIRY_OK)
            return tool_failed(common, status);
    }
    progress_begin(&progress, common, "frames");
    airy_stack_fill_params fill = out->fill;
    fill.threads = tool_threads(common);
    fill.memory_limit = common->memory_limit;
    fill.device = device;
    fill.progress = progress_step;
    fill.message = common->verbose ? say_message : NULL; /* else the first one is reported */
    fill.user = &progress;
    airy_status status = airy_stack_writer_fill(writer, &fill, &out->info);
    progress_end(&progress);
    if (status == AIRY_OK)
        status = airy_stack_writer_finish(writer);
    int code = tell(out, status);
    if (code == AIRY_EXIT_OK && device)
        code = tool_profile(common, device);
    airy_device_destroy(&device);
    return code;
}

int stack_out_run(struct stack_out *out)
{
    airy_stack_writer_params *params = &out->writer;
    params->force = out->common->force;
    airy_stack_writer *writer = NULL;
    const double start = tool_now();
    size_t before = 0, surplus = 0; /* before: data files of the stack that is replaced */
    char first[1024];
    tool_catch_interrupts(); /* from here on there are partial files */
    airy_status status = airy_stack_writer_create(&writer, out->path, params);
    if (status == AIRY_OK && params->force)
        status = airy_stack_data_count(&before, out->path);
    int code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(out->common, status);
    const size_t each = params->frames_per_file;
    out->files = each && code == AIRY_EXIT_OK ? (params->frames - 1) / each + 1 : 0;
    if (code == AIRY_EXIT_OK && each)
        code = keep_inputs(out, out->files, before);
    if (code == AIRY_EXIT_OK) {
        surplus = count_surplus(first, sizeof(first), out, out->files + 1, before);
        code = write_frames(out, writer);
    }
    if (code == AIRY_EXIT_OK && surplus)
        say_surplus(out, before, surplus, first);
    if (code == AIRY_EXIT_OK && params->force && out->files)
        say_others(out, before);
    airy_stack_writer_destroy(&writer);
    out->seconds = tool_now() - start;
    return code;
}

int stack_out_choose(struct stack_out *out, const struct frames_opt *chosen, size_t there)
{
    const size_t all[3] = {0, 0, 1};
    const size_t *frames = chosen->given ? chosen->frames : all;
    out->fill.first = frames[0];
    out->fill.last = frames[1];
    out->fill.step = frames[2];
    out->fill.skip_bad = chosen->skip_bad;
    out->skips = true;
    return stack_choose(&out->writer.frames, out->common, frames, there);
}

static size_t count_good(const struct stack_out *out)
{
    return out->info.frames - out->info.bad;
}

/*
 * How large the chunks are, beside the plain frames, or where these are plain beside what they were
 * read from.
 */
static void size_text(char text[64], const struct stack_out *out, double decoded)
{
    const bool plain = out->writer.codec.codec == AIRY_CODEC_NONE;
    const double stored = (double)out->info.stored_bytes;
    airy_stack_info from = {.frames = 0};
    double before = decoded;
    if (plain && out->fill.stack && airy_stack_get_info(out->fill.stack, &from) == AIRY_OK)
        before = (double)from.stored_bytes * (double)count_good(out) / (double)from.frames;
    const char *what = plain ? "it was" : "plain";
    if (before >= 1.005 * stored)
        snprintf(text, 64, "%.2fx smaller than %s", before / stored, what);
    else if (before > 0 && stored >= 1.005 * before)
        snprintf(text, 64, "%.2fx larger than %s", stored / before, what);
    else
        snprintf(text, 64, plain ? "plain" : "as large as plain");
}

int stack_out_say_bad(const struct stack_out *out)
{
    if (out->info.bad)
        tool_say(out->common, "%zu of %zu frames failed, the first: %s", out->info.bad,
                 out->info.frames, out->info.first_error);
    return out->info.bad ? AIRY_EXIT_PARTLY : AIRY_EXIT_OK;
}

int stack_out_report(const struct stack_out *out)
{
    const airy_stack_writer_params *w = &out->writer;
    const int code = stack_out_say_bad(out);
    const double good = (double)count_good(out), each = good > 0 ? good : 1,
                 stored = (double)out->info.stored_bytes,
                 decoded = good * (double)w->height * (double)w->width *
                           (double)airy_dtype_size(w->dtype);
    char text[2][32], size[64], files[64] = "";
    if (out->files)
        snprintf(files, sizeof(files), " in %zu file%s", out->files, tool_s(out->files));
    if (out->common->json) {
        const int printed = tool_print_json(
            out->common,
            json_pack("{s:o, s:o*, s:I, s:o*, s:[I,I,I], s:s, s:s, s:I, s:I, s:o, s:o, s:o}",
                      "output", tool_json_string(out->path), "files",
                      out->files ? json_integer((json_int_t)out->files) : NULL, "frames",
                      (json_int_t)w->frames, "bad",
                      out->skips ? json_integer((json_int_t)out->info.bad) : NULL, "shape",
                      (json_int_t)w->frames, (json_int_t)w->height, (json_int_t)w->width, "dtype",
                      airy_dtype_name(w->dtype), "codec", airy_codec_name(w->codec.codec),
                      "stored_bytes", (json_int_t)stored, "decoded_bytes", (json_int_t)decoded,
                      "bytes_per_frame", tool_json_number(stored / each), "ratio",
                      tool_json_number(decoded / stored), "seconds",
                      tool_json_number(out->seconds)));
        return printed == AIRY_EXIT_OK ? code : printed;
    }
    size_text(size, out, decoded);
    tool_say(out->common, "%s: %zu frame%s of %zu x %zu %s%s, %s a frame (%s), %.1f frames/s, %s/s",
             out->path, w->frames, tool_s(w->frames), w->height, w->width,
             airy_dtype_name(w->dtype), files, tool_bytes(text[0], stored / each), size,
             good / out->seconds, tool_bytes(text[1], decoded / out->seconds));
    return code;
}
