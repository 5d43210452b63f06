#include "jobs/groups.h"

#include <stdlib.h>
#include <string.h>

static bool parse_size(uint64_t *size, const char *text, size_t length, uint64_t least)
{
    char digits[24];
    if (length == 0 || length >= sizeof(digits) || strspn(text, "0123456789") < length)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    *size = strtoull(digits, NULL, 10);
    return *size >= least && *size < UINT64_MAX;
}

static const char *parse_raw(void *field, const char *text)
{
    static const char wrong[] = "expected WIDTHxHEIGHT,DTYPE[,OFFSET][,little|big], such as "
                                "2070x2167,uint32,512";
    const char *parts[5] = {text};
    size_t lengths[5], count = 1;
    uint64_t width, height, offset = 0;
    char name[32];
    for (const char *at = text; count < 5 && (at = strchr(at, ',')); count++)
        parts[count] = ++at;
    for (size_t i = 0; i < count; i++)
        lengths[i] = strcspn(parts[i], ",");
    const char *x = memchr(text, 'x', lengths[0]);
    if (count < 2 || count > 4 || !x || lengths[1] >= sizeof(name) ||
        !parse_size(&width, text, (size_t)(x - text), 1) ||
        !parse_size(&height, x + 1, lengths[0] - (size_t)(x + 1 - text), 1))
        return wrong;
    airy_raw_frames raw = {.height = (size_t)height, .width = (size_t)width};
    snprintf(name, sizeof(name), "%.*s", (int)lengths[1], parts[1]);
    if (airy_dtype_parse(&raw.dtype, name) != AIRY_OK)
        return airy_last_error();
    const char *order = parts[count - 1];
    if (count > 2 && (strcmp(order, "big") == 0 || strcmp(order, "little") == 0)) {
        raw.big_endian = order[0] == 'b';
        count--;
    }
    if (count > 3 || (count == 3 && !parse_size(&offset, parts[2], lengths[2], 0)))
        return wrong;
    raw.offset = offset;
    *(airy_raw_frames *)field = raw;
    return NULL;
}

static void print_raw(char *text, size_t size, const void *field)
{
    const airy_raw_frames *raw = field;
    snprintf(text, size, "%zux%zu,%s,%llu,%s", raw->width, raw->height, airy_dtype_name(raw->dtype),
             (unsigned long long)raw->offset, raw->big_endian ? "big" : "little");
}

static const struct airy_job_record raw_record = {sizeof(airy_raw_frames), parse_raw, print_raw};

#define MEMBER(name) offsetof(struct airy_stack_values, name)
const struct airy_job_row airy_stack_rows[] = {
    {{.name = "stack",
      .type = AIRY_PARAMETER_PATH,
      .list = true,
      .role = AIRY_ROLE_INPUT,
      .argument = "STACK",
      .help = "files or patterns of file names whose frames form one stack, in this order"},
     MEMBER(paths),
     NULL},
    {{.name = "raw",
      .type = AIRY_PARAMETER_RECORD,
      .argument = "WxH,DTYPE[,OFFSET][,big]",
      .help = "reads STACK as files without a header: frames of W x H pixels begin behind OFFSET "
              "bytes and are little-endian unless big is given",
      .section = "Input"},
     MEMBER(raw),
     &raw_record},
    {{.name = "channel",
      .type = AIRY_PARAMETER_TEXT,
      .argument = "NAME|N",
      .fallback = "the first, with a warning",
      .computed = true,
      .help = "selects a channel of a detector that has several, by its name such as threshold_1 "
              "or by its number from 1 on"},
     MEMBER(channel),
     NULL},
    {{0}, 0, NULL}};
#undef MEMBER

airy_status airy_job_open_stack(const airy_job *job, airy_stack **stack,
                                const struct airy_stack_values *values)
{
    const airy_stack_params params = {.raw = airy_job_is_set(job, "raw") ? &values->raw : NULL,
                                      .channel = values->channel};
    return airy_stack_create_with(stack, (const char *const *)values->paths.items,
                                  values->paths.count, &params);
}

static const char *const on_error_words[] = {"stop", "skip", NULL};

#define MEMBER(name) offsetof(struct airy_frames_values, name)
const struct airy_job_row airy_frames_rows[] = {
    {{.name = "frames",
      .type = AIRY_PARAMETER_RANGE,
      .affects = AIRY_AFFECTS_ROWS,
      .argument = "A:B[:S]",
      .fallback = "all",
      .computed = true,
      .help = "selects the frames from A up to, not including, B in steps of S; one number "
              "selects that frame",
      .section = "Run"},
     MEMBER(frames),
     NULL},
    {{.name = "on-error",
      .type = AIRY_PARAMETER_WORD,
      .affects = AIRY_AFFECTS_ROWS,
      .words = on_error_words,
      .fallback = "stop",
      .help = "skip: leaves out a frame that cannot be read, reports it and ends with exit code 3"},
     MEMBER(on_error),
     NULL},
    {{0}, 0, NULL}};
#undef MEMBER

airy_status airy_job_choose_frames(size_t *count, const struct airy_frames_values *values,
                                   size_t there, const char *path)
{
    const size_t *frames = values->frames, last = frames[1] ? frames[1] : there,
                 step = frames[2] ? frames[2] : 1;
    AIRY_FAIL_IF(there == 0, AIRY_ERR_SHAPE, "%s has no frames", path);
    AIRY_FAIL_HINT_IF(frames[0] >= there || last > there, AIRY_ERR_PARAM, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER, "%s: %s has %zu frame%s, numbered from 0", "frames",
                      path, there, there == 1 ? "" : "s");
    *count = (last - frames[0] - 1) / step + 1;
    return AIRY_OK;
}

#define MEMBER(name) offsetof(struct airy_compute_values, name)
const struct airy_job_row airy_compute_rows[] = {
    {{.name = "device",
      .type = AIRY_PARAMETER_TEXT,
      .affects = AIRY_AFFECTS_HOW,
      .argument = "SPEC",
      .fallback = "AIRY_DEVICE, else the first GPU that works, else cpu",
      .computed = true,
      .help = "computes on this device: cpu, gpu, gpu:N, opencl, opencl:P:D or a part of a name"},
     MEMBER(device),
     NULL},
    {{.name = "threads",
      .type = AIRY_PARAMETER_WHOLE,
      .affects = AIRY_AFFECTS_HOW,
      .lo = 1,
      .hi = 1024,
      .argument = "N",
      .fallback = "what affinity mask and cgroup quota allow",
      .computed = true,
      .help = "sets the number of threads of the CPU's pool"},
     MEMBER(threads),
     NULL},
    {{.name = "memory-limit",
      .type = AIRY_PARAMETER_BYTES,
      .affects = AIRY_AFFECTS_HOW,
      .argument = "SIZE",
      .fallback = "none",
      .computed = true,
      .help = "limits the memory of the host and of each device, in bytes with K, M or G"},
     MEMBER(memory_limit),
     NULL},
    {{.name = "profile",
      .type = AIRY_PARAMETER_FLAG,
      .affects = AIRY_AFFECTS_HOW,
      .help = "records every kernel, parallel loop and copy of the device"},
     MEMBER(profile),
     NULL},
    {{0}, 0, NULL}};
#undef MEMBER

airy_status airy_job_open_device(airy_job *job, airy_device **device,
                                 const struct airy_compute_values *values)
{
    const airy_device_params params = {.threads = (uint32_t)values->threads,
                                       .memory_limit = values->memory_limit,
                                       .profile = values->profile};
    AIRY_TRY(airy_context_device(job->context, device, values->device, &params));
    job->device = *device;
    return AIRY_OK;
}

airy_status airy_job_keep_stack(const airy_stack *stack, const char *output)
{
    char partial[4200];
    snprintf(partial, sizeof(partial), "%s.partial", output);
    const char *const names[] = {output, partial};
    for (size_t i = 0; i < 2; i++)
        AIRY_FAIL_ON_IF(airy_stack_uses(stack, names[i]), AIRY_ERR_PARAM, AIRY_SUBJECT_NONE,
                        "output '%s' is a file that frames are read from; choose another name",
                        names[i]);
    return AIRY_OK;
}
