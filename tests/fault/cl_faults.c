/*
 * An OpenCL layer (OPENCL_LAYERS names it to the loader) that makes the N-th call of one kind fail.
 *
 *   FAULT_KIND   an entry point such as clEnqueueReadBuffer, or "cl" for all of them together
 *   FAULT_AT     N, from 1; 0 or none: count only
 *   FAULT_HOW    a code by name (CL_OUT_OF_RESOURCES ...), or "late": the call succeeds, but what it began ends with an error,
 *                and whoever waits hears of it: every event, every queue
 *   FAULT_STAYS  set: every later call of any kind fails, too, as on a device that is lost
 *   FAULT_LOG    file that gets the line "fault NAME" for the call that failed, or, of a process that counts, "calls N NAME"
 *                for each entry point that was called, and for "cl"
 *
 * Calls that give back what was taken never fail: nobody can do anything about that. The driver below is not told of anything.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl_layer.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X(name without cl): what may fail, with an error as its value; MAKES: with an error at the address of its last argument. */
#define CALLS(X)                                                                                   \
    X(GetPlatformInfo)                                                                             \
    X(GetDeviceIDs)                                                                                \
    X(GetDeviceInfo)                                                                               \
    X(BuildProgram)                                                                                \
    X(GetProgramInfo)                                                                              \
    X(GetProgramBuildInfo)                                                                         \
    X(SetKernelArg)                                                                                \
    X(GetKernelWorkGroupInfo)                                                                      \
    X(WaitForEvents)                                                                               \
    X(GetEventInfo)                                                                                \
    X(GetEventProfilingInfo)                                                                       \
    X(Flush)                                                                                       \
    X(Finish)                                                                                      \
    X(EnqueueReadBuffer)                                                                           \
    X(EnqueueWriteBuffer)                                                                          \
    X(EnqueueCopyBuffer)                                                                           \
    X(EnqueueReadBufferRect)                                                                       \
    X(EnqueueWriteBufferRect)                                                                      \
    X(EnqueueCopyBufferRect)                                                                       \
    X(EnqueueFillBuffer)                                                                           \
    X(EnqueueUnmapMemObject)                                                                       \
    X(EnqueueNDRangeKernel)                                                                        \
    X(EnqueueMarkerWithWaitList)                                                                   \
    X(EnqueueBarrierWithWaitList)
#define MAKES(X)                                                                                   \
    X(CreateContext)                                                                               \
    X(CreateCommandQueue)                                                                          \
    X(CreateBuffer)                                                                                \
    X(CreateProgramWithSource)                                                                     \
    X(CreateProgramWithBinary)                                                                     \
    X(CreateKernel)                                                                                \
    X(EnqueueMapBuffer)

#define MEMBER(name) name,
enum call { CALLS(MEMBER) MAKES(MEMBER) ANY, CALL_COUNT };
#define NAME(name) "cl" #name,
static const char *const names[CALL_COUNT] = {CALLS(NAME) MAKES(NAME) "cl"};

static const cl_icd_dispatch *below;
static cl_icd_dispatch here;
static enum call wanted = CALL_COUNT;
static cl_int code;
static unsigned long at;
static bool stays, late;
static const char *log_path;
static atomic_ulong calls[CALL_COUNT];
static atomic_bool broken; /* the fault has happened, and it stays, or what was begun fails */

static void write_log(const char *word, const char *name)
{
    FILE *file = log_path ? fopen(log_path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s %s\n", word, name);
    fclose(file);
}

/* Whoever waits, and for what. */
static bool waits(enum call call)
{
    return call == WaitForEvents || call == Finish;
}

/* CL_SUCCESS, or what this call shall give. */
static cl_int hit(enum call call)
{
    const unsigned long of_call = atomic_fetch_add(&calls[call], 1) + 1,
                        of_any = atomic_fetch_add(&calls[ANY], 1) + 1;
    if (at == 0)
        return CL_SUCCESS;
    if (atomic_load(&broken))
        return !late         ? code
               : waits(call) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                             : CL_SUCCESS;
    if ((wanted == ANY ? of_any : wanted == call ? of_call : 0) != at)
        return CL_SUCCESS;
    write_log("fault", names[call]);
    atomic_store(&broken, stays || late);
    return late && !waits(call) ? CL_SUCCESS : code;
}

/*
 * Take the place of a call below that answers with a code. One that waits has waited when it fails: what a device was doing has
 * ended, whether it was lost or not.
 */
#define REPLACE(name, parameters, ...)                                                             \
    static cl_int CL_API_CALL do_##name parameters                                                 \
    {                                                                                              \
        const cl_int result = hit(name);                                                           \
        const cl_int below_result =                                                                \
            result == CL_SUCCESS || waits(name) ? below->cl##name(__VA_ARGS__) : CL_SUCCESS;       \
        return result != CL_SUCCESS ? result : below_result;                                       \
    }

REPLACE(GetPlatformInfo,
        (cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *needed),
        platform, what, size, value, needed)
REPLACE(GetDeviceIDs,
        (cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *ids,
         cl_uint *count),
        platform, type, room, ids, count)
REPLACE(GetDeviceInfo,
        (cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed),
        device, what, size, value, needed)
REPLACE(BuildProgram,
        (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
         void(CL_CALLBACK *notify)(cl_program, void *), void *user),
        program, count, devices, options, notify, user)
REPLACE(GetProgramInfo,
        (cl_program program, cl_program_info what, size_t size, void *value, size_t *needed),
        program, what, size, value, needed)
REPLACE(GetProgramBuildInfo,
        (cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
         void *value, size_t *needed),
        program, device, what, size, value, needed)
REPLACE(SetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value), kernel,
        index, size, value)
REPLACE(GetKernelWorkGroupInfo,
        (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
         void *value, size_t *needed),
        kernel, device, what, size, value, needed)
REPLACE(WaitForEvents, (cl_uint count, const cl_event *events), count, events)
REPLACE(GetEventProfilingInfo,
        (cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed), event,
        what, size, value, needed)
REPLACE(Flush, (cl_command_queue queue), queue)
REPLACE(Finish, (cl_command_queue queue), queue)
REPLACE(EnqueueReadBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset, size_t size,
         void *host, cl_uint count, const cl_event *events, cl_event *event),
        queue, buffer, blocks, offset, size, host, count, events, event)
REPLACE(EnqueueWriteBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset, size_t size,
         const void *host, cl_uint count, const cl_event *events, cl_event *event),
        queue, buffer, blocks, offset, size, host, count, events, event)
REPLACE(EnqueueCopyBuffer,
        (cl_command_queue queue, cl_mem src, cl_mem dst, size_t from, size_t to, size_t size,
         cl_uint count, const cl_event *events, cl_event *event),
        queue, src, dst, from, to, size, count, events, event)
REPLACE(EnqueueReadBufferRect,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocks, const size_t *origin,
         const size_t *other, const size_t *region, size_t row, size_t slice, size_t other_row,
         size_t other_slice, void *host, cl_uint count, const cl_event *events, cl_event *event),
        queue, buffer, blocks, origin, other, region, row, slice, other_row, other_slice, host,
        count, events, event)
REPLACE(EnqueueWriteBufferRect,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocks, const size_t *origin,
         const size_t *other, const size_t *region, size_t row, size_t slice, size_t other_row,
         size_t other_slice, const void *host, cl_uint count, const cl_event *events,
         cl_event *event),
        queue, buffer, blocks, origin, other, region, row, slice, other_row, other_slice, host,
        count, events, event)
REPLACE(EnqueueCopyBufferRect,
        (cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *origin, const size_t *other,
         const size_t *region, size_t row, size_t slice, size_t other_row, size_t other_slice,
         cl_uint count, const cl_event *events, cl_event *event),
        queue, src, dst, origin, other, region, row, slice, other_row, other_slice, count, events,
        event)
REPLACE(EnqueueFillBuffer,
        (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t length, size_t offset,
         size_t size, cl_uint count, const cl_event *events, cl_event *event),
        queue, buffer, pattern, length, offset, size, count, events, event)
REPLACE(EnqueueUnmapMemObject,
        (cl_command_queue queue, cl_mem buffer, void *host, cl_uint count, const cl_event *events,
         cl_event *event),
        queue, buffer, host, count, events, event)
REPLACE(EnqueueNDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
         const size_t *global, const size_t *local, cl_uint count, const cl_event *events,
         cl_event *event),
        queue, kernel, dims, offset, global, local, count, events, event)
REPLACE(EnqueueMarkerWithWaitList,
        (cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event), queue,
        count, events, event)
REPLACE(EnqueueBarrierWithWaitList,
        (cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event), queue,
        count, events, event)

static cl_int CL_API_CALL do_GetEventInfo(cl_event event, cl_event_info what, size_t size,
                                          void *value, size_t *needed)
{
    cl_int result = hit(GetEventInfo);
    if (result == CL_SUCCESS)
        result = below->clGetEventInfo(event, what, size, value, needed);
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && value && late && atomic_load(&broken))
        *(cl_int *)value = CL_OUT_OF_RESOURCES;
    return result;
}

/* And of one that answers with what it made. */
#define REPLACE_MAKER(type, name, parameters, ...)                                                 \
    static type CL_API_CALL do_##name parameters                                                   \
    {                                                                                              \
        const cl_int result = hit(name);                                                           \
        if (result == CL_SUCCESS)                                                                  \
            return below->cl##name(__VA_ARGS__, error);                                            \
        if (error)                                                                                 \
            *error = result;                                                                       \
        return NULL;                                                                               \
    }

REPLACE_MAKER(cl_context, CreateContext,
              (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
               void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
               cl_int *error),
              properties, count, devices, notify, user)
REPLACE_MAKER(cl_command_queue, CreateCommandQueue,
              (cl_context context, cl_device_id device, cl_command_queue_properties properties,
               cl_int *error),
              context, device, properties)
REPLACE_MAKER(cl_mem, CreateBuffer,
              (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error),
              context, flags, size, host)
REPLACE_MAKER(cl_program, CreateProgramWithSource,
              (cl_context context, cl_uint count, const char **texts, const size_t *lengths,
               cl_int *error),
              context, count, texts, lengths)
REPLACE_MAKER(cl_program, CreateProgramWithBinary,
              (cl_context context, cl_uint count, const cl_device_id *devices,
               const size_t *lengths, const unsigned char **binaries, cl_int *states,
               cl_int *error),
              context, count, devices, lengths, binaries, states)
REPLACE_MAKER(cl_kernel, CreateKernel, (cl_program program, const char *kernel, cl_int *error),
              program, kernel)
REPLACE_MAKER(void *, EnqueueMapBuffer,
              (cl_command_queue queue, cl_mem buffer, cl_bool blocks, cl_map_flags flags,
               size_t offset, size_t size, cl_uint count, const cl_event *events, cl_event *event,
               cl_int *error),
              queue, buffer, blocks, flags, offset, size, count, events, event)

static void read_environment(void)
{
    static const struct {
        const char *name;
        cl_int code;
    } known[] = {
#define CODE(name) {#name, name}
        CODE(CL_OUT_OF_RESOURCES),
        CODE(CL_OUT_OF_HOST_MEMORY),
        CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        CODE(CL_BUILD_PROGRAM_FAILURE),
        CODE(CL_DEVICE_NOT_AVAILABLE),
        CODE(CL_INVALID_BINARY),
        CODE(CL_MAP_FAILURE),
    };
    const char *kind = getenv("FAULT_KIND"), *manner = getenv("FAULT_HOW"),
               *number = getenv("FAULT_AT");
    for (int i = 0; kind && i < CALL_COUNT; i++)
        if (strcmp(kind, names[i]) == 0)
            wanted = (enum call)i;
    code = CL_OUT_OF_RESOURCES;
    for (size_t i = 0; manner && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(manner, known[i].name) == 0)
            code = known[i].code;
    late = manner && strcmp(manner, "late") == 0;
    at = number && wanted != CALL_COUNT ? strtoul(number, NULL, 10) : 0;
    stays = getenv("FAULT_STAYS") != NULL;
    log_path = getenv("FAULT_LOG");
}

__attribute__((destructor)) static void end(void)
{
    char word[64];
    for (int i = 0; below && at == 0 && i < CALL_COUNT; i++)
        if (atomic_load(&calls[i])) {
            snprintf(word, sizeof(word), "calls %lu", atomic_load(&calls[i]));
            write_log(word, names[i]);
        }
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value,
                                               size_t *needed)
{
    static const char name[] = "faults";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *answer = what == CL_LAYER_NAME ? (const void *)name : &version;
    const size_t length = what == CL_LAYER_NAME ? sizeof(name) : sizeof(version);
    if ((what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION) || (value && size < length))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, length);
    if (needed)
        *needed = length;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target,
                                            cl_uint *made_count, const cl_icd_dispatch **made)
{
    if (!target || !made_count || !made || count < sizeof(here) / sizeof(here.clGetPlatformIDs))
        return CL_INVALID_VALUE;
    read_environment();
    below = target;
    here = *target;
#define TAKE(name) here.cl##name = do_##name;
    CALLS(TAKE)
    MAKES(TAKE)
    *made = &here;
    *made_count = (cl_uint)(sizeof(here) / sizeof(here.clGetPlatformIDs));
    return CL_SUCCESS;
}
