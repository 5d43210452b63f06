#include "cli/stack_out.h"

#include <stdlib.h>
#include <string.h>

/* How that went. Exit code. */
static int tell(const struct stack_out *out, airy_status status)
{
    if (status == AIRY_OK)
        return AIRY_EXIT_OK;
    if (status == AIRY_ERR_CANCELLED && out->passing)
        return AIRY_EXIT_FAILED;
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(out->common, "%s, %s; start again", airy_last_error(),
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

/* The files that options name. */
static size_t list_inputs(const char *inputs[OPT_FILES], const struct common *common)
{
    struct opt_file files[OPT_FILES];
    const size_t named = opt_files(common, files);
    size_t count = 0;
    for (size_t i = 0; i < named; i++)
        if (files[i].use == OPT_READ)
            inputs[count++] = files[i].path;
    return count;
}

int stack_out_run(struct stack_out *out)
{
    const struct common *common = out->common;
    struct progress progress;
    airy_device *device = NULL;
    const char *inputs[OPT_FILES];
    const airy_device_params cpu = {.threads = (uint32_t)common->threads, .profile = true};
    airy_stack_write_params params = {.format = out->writer,
                                      .fill = out->fill,
                                      .inputs = inputs,
                                      .input_count = list_inputs(inputs, common),
                                      .message = say_message};
    if (common->profile) {
        const airy_status status = airy_device_create(&device, "cpu", &cpu);
        if (status != AIRY_OK)
            return tool_failed(common, status);
    }
    params.format.force = common->force;
    params.fill.threads = tool_threads(common);
    params.fill.memory_limit = common->memory_limit;
    params.fill.device = device;
    params.fill.progress = progress_step;
    params.fill.message = common->verbose ? say_message : NULL; /* else the first one is reported */
    params.fill.user = &progress;
    tool_catch_interrupts(); /* from here on there are partial files */
    progress_begin(&progress, common, "frames");
    const airy_status status = airy_stack_write_file(out->path, &params, &out->info);
    progress_end(&progress);
    int code = tell(out, status);
    if (code == AIRY_EXIT_OK && device)
        code = tool_profile(common, device);
    airy_device_destroy(&device);
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
    return stack_choose(&out->writer.frames, out->common, frames, there);
}

int stack_out_say_bad(const struct stack_out *out)
{
    const airy_stack_fill_info *info = &out->info.fill;
    if (info->bad)
        tool_say(out->common, "%zu of %zu frames failed, the first: %s", info->bad, info->frames,
                 info->first_error);
    return info->bad ? AIRY_EXIT_PARTLY : AIRY_EXIT_OK;
}

int stack_out_report(const struct stack_out *out)
{
    const airy_stack_writer_params *w = &out->writer;
    const airy_stack_write_info *info = &out->info;
    const double stored = (double)info->fill.stored_bytes, decoded = (double)info->decoded_bytes;
    if (!out->common->json) {
        tool_say(out->common, "%s: %s", out->path, info->summary);
        return AIRY_EXIT_OK;
    }
    return tool_print_json(
        out->common,
        json_pack("{s:o, s:o*, s:I, s:[I,I,I], s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "output",
                  tool_json_string(out->path), "files",
                  info->files ? json_integer((json_int_t)info->files) : NULL, "frames",
                  (json_int_t)w->frames, "shape", (json_int_t)w->frames, (json_int_t)w->height,
                  (json_int_t)w->width, "dtype", airy_dtype_name(w->dtype), "codec",
                  airy_codec_name(w->codec.codec), "stored_bytes", (json_int_t)stored,
                  "decoded_bytes", (json_int_t)decoded, "bytes_per_frame",
                  tool_json_number(stored / (double)w->frames), "ratio",
                  tool_json_number(decoded / stored), "seconds", tool_json_number(info->seconds)));
}
