#include "jobs/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "base/word.h"
#include "io/file/format.h"
#include "io/stack/source.h"
#include "jobs/configuration.h"

static const char *parse_raw(void *field, const char *text)
{
    return airy_raw_frames_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static void print_raw(char *text, size_t size, const void *field)
{
    const airy_raw_frames *raw = field;
    snprintf(text, size, "%zux%zu,%s,%llu,%s", raw->width, raw->height, airy_dtype_name(raw->dtype),
             (unsigned long long)raw->offset, raw->big_endian ? "big" : "little");
}

static const struct airy_job_record raw_record = {sizeof(airy_raw_frames), parse_raw, print_raw};

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_stack_values, member, __VA_ARGS__)
#define RECORD_ROW(member, record, ...)                                                            \
    AIRY_JOB_RECORD_ROW(struct airy_stack_values, member, record, __VA_ARGS__)
const struct airy_job_row airy_stack_rows[] = {
    ROW(paths, .name = "stack", .type = AIRY_PARAMETER_PATH, .list = true, .array = true,
        .role = AIRY_ROLE_INPUT, .argument = "STACK",
        .help = "files or patterns of file names whose frames form one stack, in this order"),
    RECORD_ROW(
        raw, &raw_record, .name = "raw", .type = AIRY_PARAMETER_RECORD,
        .argument = "WxH,DTYPE[,OFFSET][,big]",
        .help = "reads STACK as files without a header: frames of W x H pixels begin behind OFFSET "
                "bytes and are little-endian unless big is given",
        .section = "Input"),
    ROW(channel, .name = "channel", .type = AIRY_PARAMETER_TEXT, .argument = "NAME|N",
        .fallback = "the first, with a warning", .computed = true,
        .help = "selects a channel of a detector that has several, by its name such as threshold_1 "
                "or by its number from 1 on"),
    {{0}, 0, NULL}};
#undef RECORD_ROW
#undef ROW

airy_status airy_job_open_stack(const airy_job *job, airy_stack **stack,
                                const struct airy_stack_values *values)
{
    const airy_host_view *view = &values->paths.view;
    const size_t flat[3] = {1, view->shape[0], view->shape[1]};
    if (values->paths.is_array) {
        AIRY_FAIL_ON_IF(view->ndim < 2 || view->ndim > 3, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                        "%s: the array has %d axes, expected 2 (a frame) or 3 (frames)", "stack",
                        view->ndim);
        AIRY_FAIL_ON_IF(airy_job_is_set(job, "raw") || values->channel, AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s describes files, and the stack is an array",
                        values->channel ? "channel" : "raw");
        return airy_stack_create_array(stack, view->data, view->dtype,
                                       view->ndim == 2 ? flat : view->shape);
    }
    const bool raw = airy_job_is_set(job, "raw");
    const airy_stack_params params = {.raw = raw ? &values->raw : NULL,
                                      .growing = values->growing && !raw,
                                      .channel = values->channel};
    return airy_stack_create_with(stack, (const char *const *)values->paths.items,
                                  values->paths.count, &params);
}

airy_status airy_job_read_frames(airy_image *image, const airy_stack *stack, size_t first,
                                 size_t count, size_t step)
{
    airy_stack_info info;
    size_t frame = 0, all = 0;
    AIRY_TRY(airy_stack_get_info(stack, &info));
    const bool large = airy_mul_size(&frame, info.height, info.width) ||
                       airy_mul_size(&frame, frame, airy_dtype_size(info.dtype)) ||
                       airy_mul_size(&all, frame, count);
    *image = (airy_image){.dtype = info.dtype,
                          .ndim = 3,
                          .shape = {count, info.height, info.width},
                          .data = large ? NULL : malloc(all)};
    AIRY_FAIL_IF(!image->data, AIRY_ERR_MEMORY, "out of memory for %zu frame%s of %zu bytes each",
                 count, count == 1 ? "" : "s", frame);
    for (size_t i = 0; i < count; i++)
        AIRY_TRY(airy_stack_read(stack, first + i * step, (char *)image->data + i * frame, frame));
    return AIRY_OK;
}

const char *airy_job_stack_name(const struct airy_stack_values *values)
{
    return values->paths.is_array ? "array" : values->paths.items[0];
}

static const char *const on_error_words[] = {"stop", "skip", NULL};

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_frames_values, member, __VA_ARGS__)
const struct airy_job_row airy_frames_rows[] = {
    ROW(frames, .name = "frames", .type = AIRY_PARAMETER_RANGE, .affects = AIRY_AFFECTS_ROWS,
        .argument = "A:B[:S]", .fallback = "all", .computed = true,
        .help = "selects the frames from A up to, not including, B in steps of S; one number "
                "selects that frame",
        .section = "Run"),
    ROW(on_error, .name = "on-error", .type = AIRY_PARAMETER_WORD, .affects = AIRY_AFFECTS_ROWS,
        .words = on_error_words, .fallback = "stop",
        .help =
            "skip: leaves out a frame that cannot be read or made, reports it and ends with exit "
            "code 3"),
    {{0}, 0, NULL}};
#undef ROW

airy_status airy_job_choose_frames(size_t *count, const struct airy_frames_values *values,
                                   size_t there, const char *path)
{
    const size_t *frames = values->frames, last = frames[1] ? frames[1] : there,
                 step = frames[2] ? frames[2] : 1;
    char text[AIRY_RANGE_TEXT];
    AIRY_FAIL_IF(there == 0, AIRY_ERR_SHAPE, "%s has no frames", path);
    AIRY_FAIL_HINT_IF(frames[0] >= there || last > there, AIRY_ERR_PARAM, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER, "%s %s: %s has %zu frame%s, numbered from 0",
                      "frames", airy_range_text(text, frames), path, there, there == 1 ? "" : "s");
    *count = (last - frames[0] - 1) / step + 1;
    return AIRY_OK;
}

airy_status airy_job_warn_left_out(const airy_job *job, size_t bad, size_t frames, const char *also,
                                   const char *first_error)
{
    if (bad == 0)
        return AIRY_OK;
    airy_job_message(job, AIRY_LOG_WARN, "%zu of %zu frame%s %s left out%s; the first: %s", bad,
                     frames, frames == 1 ? "" : "s", bad == 1 ? "is" : "are", also, first_error);
    return AIRY_PARTLY;
}

airy_status airy_job_plan_stack(airy_job *job, const airy_stack_info *info,
                                const struct airy_frames_values *values)
{
    char frames[80];
    size_t count = 0;
    AIRY_TRY(airy_job_choose_frames(&count, values, info->frames, info->dataset));
    json_t *stack = json_pack(
        "{s:s%, s:I, s:I, s:I, s:s, s:s}", "dataset", info->dataset,
        airy_is_utf8(info->dataset, strlen(info->dataset)) ? strlen(info->dataset) : (size_t)0,
        "frames", (json_int_t)info->frames, "height", (json_int_t)info->height, "width",
        (json_int_t)info->width, "dtype", airy_dtype_name(info->dtype), "filters", info->filters);
    airy_job_put_plan(job, "stack", stack);
    airy_job_put_plan(job, "frames", json_integer((json_int_t)count));
    snprintf(frames, sizeof(frames), "0:%zu", info->frames);
    return airy_job_compute(job, "frames", frames);
}

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_compute_values, member, __VA_ARGS__)
const struct airy_job_row airy_device_rows[] = {
    ROW(device, .name = "device", .type = AIRY_PARAMETER_TEXT, .affects = AIRY_AFFECTS_HOW,
        .argument = "SPEC", .fallback = "AIRY_DEVICE, else the first GPU that works, else cpu",
        .computed = true,
        .help = "computes on this device: cpu, gpu, gpu:N, opencl, opencl:P:D or a part of a name"),
    {{0}, 0, NULL}};

const struct airy_job_row airy_host_rows[] = {
    ROW(threads, .name = "threads", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_HOW,
        .lo = 1, .hi = 1024, .argument = "N",
        .fallback = "what affinity mask and cgroup quota allow", .computed = true,
        .help = "sets the number of threads of the CPU's pool"),
    ROW(memory_limit, .name = "memory-limit", .type = AIRY_PARAMETER_BYTES,
        .affects = AIRY_AFFECTS_HOW, .argument = "SIZE", .fallback = "none", .computed = true,
        .help = "limits the memory of the host and of each device, in bytes with K, M or G"),
    ROW(profile, .name = "profile", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_HOW,
        .help = "records every kernel, parallel loop and copy of the device"),
    {{0}, 0, NULL}};
#undef ROW

const struct airy_job_row airy_threads_rows[] = {
    {{.name = "threads",
      .type = AIRY_PARAMETER_WHOLE,
      .affects = AIRY_AFFECTS_HOW,
      .lo = 1,
      .hi = 1024,
      .fallback = "what affinity mask and cgroup quota allow",
      .computed = true,
      .help = "sets the number of threads"},
     0,
     NULL},
    {{0}, 0, NULL}};

airy_status airy_job_open_device(airy_job *job, airy_device **device,
                                 const struct airy_compute_values *values)
{
    const airy_device_params params = {.threads = (uint32_t)values->threads,
                                       .memory_limit = values->memory_limit,
                                       .profile = values->profile};
    AIRY_TRY(airy_context_device(job->context, device, values->device, &params));
    job->device = *device;
    airy_device_info info;
    AIRY_TRY(airy_device_get_info(*device, &info));
    airy_job_put_plan(job, "device",
                      json_pack("{s:s, s:s, s:I}", "spec", info.spec, "name", info.name, "units",
                                (json_int_t)info.units));
    return airy_job_compute(job, "device", info.spec);
}

airy_status airy_job_open_devices(airy_job *job, const struct airy_compute_values *values)
{
    const airy_device_params params = {.threads = (uint32_t)values->threads,
                                       .memory_limit = values->memory_limit,
                                       .profile = values->profile,
                                       .background = true};
    AIRY_TRY(airy_context_devices(job->context, &job->devices, &job->device_count, values->device,
                                  &params));
    job->device = job->devices[0];
    const char *wish = getenv("AIRY_DEVICE");
    airy_job_put_plan(job, "chosen_by",
                      json_string(airy_job_is_set(job, "device") ? "device"
                                  : wish && *wish                ? "AIRY_DEVICE"
                                                                 : "default"));
    json_t *plan = json_array(); /* the job's at once, so that no failure leaks it */
    airy_job_put_plan(job, "devices", plan);
    for (size_t i = 0; i < job->device_count; i++) {
        airy_device_info info;
        AIRY_TRY(airy_device_get_info(job->devices[i], &info));
        json_array_append_new(plan, json_pack("{s:s, s:s, s:I}", "spec", info.spec, "name",
                                              info.name, "units", (json_int_t)info.units));
    }
    return AIRY_OK;
}

airy_status airy_job_put_devices(airy_job *job)
{
    char *text;
    size_t used = 0, size = job->device_count * 80;
    AIRY_TRY(airy_memory_calloc((void **)&text, size, 1, "a text"));
    for (size_t i = 0; i < job->device_count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.70s", i ? ", " : "",
                                 airy_device_spec(job->devices[i]));
    const airy_status status = airy_job_put_text(job, "device", text);
    free(text);
    return status;
}

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_output_values, member, __VA_ARGS__)
const struct airy_job_row airy_stack_output_rows[] = {
    ROW(output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT.h5",
        .help = "writes the stack into this file, one chunk a frame", .section = "Output"),
    ROW(frames_per_file, .name = "frames-per-file", .type = AIRY_PARAMETER_WHOLE,
        .affects = AIRY_AFFECTS_WHERE, .lo = 1, .hi = 100000000, .argument = "N",
        .fallback = "all in one file", .computed = true,
        .help =
            "writes N frames each into OUT_data_000001.h5 and so on, side by side by threads, and "
            "links to them into OUT_master.h5; {force} removes data files that only an old master "
            "of this name links to"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};
#undef ROW

const airy_job_result airy_stack_output_results[] = {AIRY_STACK_OUTPUT_RESULTS,
                                                     {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

bool airy_job_is_hdf5_name(const char *path)
{
    static const char *const suffixes[] = {".h5", ".hdf5", ".nxs"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (airy_has_suffix(path, suffixes[i]))
            return true;
    return false;
}

airy_status airy_job_check_output(const struct airy_output_values *values)
{
    AIRY_FAIL_ON_IF(!values->output, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is missing",
                    "output");
    AIRY_FAIL_ON_IF(!airy_job_is_hdf5_name(values->output), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s': expected a name that ends in .h5, .hdf5 or .nxs", "output",
                    values->output);
    return AIRY_OK;
}

/* Texts are kept before there is a file that a lack of memory would leave behind. */
static airy_status put_texts(airy_job *job, const char *path,
                             const airy_stack_writer_params *format)
{
    AIRY_TRY(airy_job_put_text(job, "output", path));
    AIRY_TRY(airy_job_put_text(job, "dtype", airy_dtype_name(format->dtype)));
    return airy_job_put_text(job, "codec", airy_codec_name(format->codec.codec));
}

static void put_numbers(airy_job *job, const airy_stack_writer_params *format,
                        const airy_stack_write_info *info)
{
    const airy_stack_fill_info *fill = &info->fill;
    const double stored = (double)fill->stored_bytes, decoded = (double)info->decoded_bytes,
                 good = (double)(fill->frames - fill->bad),
                 shape[3] = {(double)format->frames, (double)format->height, (double)format->width};
    if (info->files)
        airy_job_put_number(job, "files", (double)info->files);
    airy_job_put_number(job, "frames", shape[0]);
    airy_job_put_numbers(job, "shape", shape, 3);
    airy_job_put_number(job, "stored_bytes", stored);
    airy_job_put_number(job, "decoded_bytes", decoded);
    airy_job_put_number(job, "bytes_per_frame", good > 0 ? stored / good : stored);
    airy_job_put_number(job, "ratio", decoded / stored);
    airy_job_put_number(job, "seconds", info->seconds);
    airy_job_sum_up(job, "%s", info->summary);
}

airy_status airy_job_fill_stack(airy_job *job, airy_stack_write_params *params,
                                const struct airy_output_group *group, airy_stack_write_info *info)
{
    const struct airy_output_values *to = group->output;
    const struct airy_frames_values *from = group->frames;
    const struct airy_compute_values *how = group->compute;
    airy_device *device = NULL;
    if (how->profile) {
        const airy_device_params cpu = {.threads = (uint32_t)how->threads, .profile = true};
        AIRY_TRY(airy_context_device(job->context, &device, "cpu", &cpu));
        job->device = device;
    }
    params->format.force = to->force;
    params->format.frames_per_file = to->frames_per_file;
    if (from) {
        params->fill.first = from->frames[0];
        params->fill.last = from->frames[1];
        params->fill.step = from->frames[2];
        params->fill.skip_bad = from->on_error;
    }
    params->fill.threads = (unsigned)how->threads;
    params->fill.memory_limit = how->memory_limit;
    params->fill.device = device;
    params->fill.progress = airy_job_step;
    params->fill.message = airy_job_frame_message;
    params->fill.user = job;
    params->message = airy_job_pass_message;
    AIRY_TRY(airy_stack_write_file(to->output, params, info));
    return airy_job_warn_left_out(job, info->fill.bad, info->fill.frames, "",
                                  info->fill.first_error);
}

airy_status airy_job_write_stack(airy_job *job, airy_stack_write_params *params,
                                 const struct airy_output_group *group)
{
    airy_stack_write_info info;
    AIRY_TRY(put_texts(job, group->output->output, &params->format));
    const airy_status status = airy_job_fill_stack(job, params, group, &info);
    if (status >= AIRY_OK)
        put_numbers(job, &params->format, &info);
    if (status >= AIRY_OK && group->frames)
        airy_job_put_number(job, "bad", (double)info.fill.bad);
    return status;
}

airy_status airy_job_check_format(const char *parameter, const char *output, airy_dtype dtype,
                                  int ndim)
{
    airy_error error;
    const airy_status status = output ? airy_image_check_format(output, dtype, ndim) : AIRY_OK;
    if (status == AIRY_OK)
        return status;
    (void)airy_about(AIRY_SUBJECT_PARAMETER, parameter, status);
    airy_error_get(&error);
    if (ndim > 2 && airy_image_check_format(output, dtype, 2) == AIRY_OK)
        error.hint = AIRY_HINT_FRAME;
    return airy_error_restore(&error);
}

void airy_job_warn_header(const airy_job *job, const char *output, const char *input)
{
    if (input && output && airy_name_is_fits(output) &&
        (airy_name_is_fits(input) || airy_image_is_fits(input)))
        airy_job_message(job, AIRY_LOG_WARN,
                         "%s: header and coordinates of %s cannot follow what becomes of its "
                         "frames, and are left out",
                         output, input);
}

airy_status airy_job_load_image(airy_image *image, const struct airy_job_source *source)
{
    const airy_host_view *view = &source->view;
    *image = (airy_image){.dtype = AIRY_DTYPE_COUNT};
    if (!source->is_array)
        return airy_image_read(image, source->path);
    *image = (airy_image){.dtype = view->dtype, .ndim = view->ndim, .data = (void *)view->data};
    memcpy(image->shape, view->shape, (size_t)view->ndim * sizeof(view->shape[0]));
    return AIRY_OK;
}

void airy_job_unload_image(airy_image *image, const struct airy_job_source *source)
{
    if (source->is_array)
        *image = (airy_image){.dtype = AIRY_DTYPE_COUNT};
    else
        airy_image_free(image);
}

airy_status airy_job_keep_stack(const airy_stack *stack, const char *output)
{
    char partial[AIRY_PARTIAL_PATH];
    AIRY_TRY(airy_job_partial_path(partial, output));
    AIRY_TRY(airy_stack_keep(stack, output));
    return airy_stack_keep(stack, partial);
}
