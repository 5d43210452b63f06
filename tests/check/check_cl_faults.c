/*
 * Drivers that fail: entry points are replaced by ones that refuse, as NVIDIA's do when memory
 * that was promised is not there.
 */
#include "check_cl_faults.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/pipeline.h"
#include "check_pipeline.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"

/* A platform without a library: what its devices answer. */
static struct {
    cl_int platforms_code, devices_code;
    const char *version;
    cl_bool available, compiler, little_endian;
    cl_device_info silent; /* what it does not tell */
} driver;

static cl_int CL_API_CALL answer(const void *value, size_t have, size_t size, void *param,
                                 size_t *needed)
{
    if (needed)
        *needed = have;
    if (param && size < have)
        return CL_INVALID_VALUE;
    if (param)
        memcpy(param, value, have);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_platform_info(cl_platform_id id, cl_platform_info what, size_t size,
                                             void *value, size_t *needed)
{
    (void)id;
    if (driver.platforms_code != CL_SUCCESS)
        return driver.platforms_code;
    const char *text = what == CL_PLATFORM_VENDOR ? "NVIDIA Corporation" : "Driver of the test";
    return answer(text, strlen(text) + 1, size, value, needed);
}

static cl_int CL_API_CALL fake_device_ids(cl_platform_id id, cl_device_type type, cl_uint room,
                                          cl_device_id *ids, cl_uint *count)
{
    (void)id;
    (void)type;
    if (driver.devices_code != CL_SUCCESS)
        return driver.devices_code;
    if (count)
        *count = 1;
    if (ids && room)
        ids[0] = (cl_device_id)&driver;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_device_info(cl_device_id id, cl_device_info what, size_t size,
                                           void *value, size_t *needed)
{
    (void)id;
    const cl_ulong memory = (cl_ulong)8 << 30, quarter = memory / 4;
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_uint slot = 0, bus = 0xfe; /* where no card is */
    const cl_uint units = 8;
    const size_t group = 256;
    if (what == driver.silent)
        return CL_OUT_OF_RESOURCES;
    switch (what) {
    case CL_DEVICE_VERSION:
        return answer(driver.version, strlen(driver.version) + 1, size, value, needed);
    case CL_DEVICE_AVAILABLE:
        return answer(&driver.available, sizeof(cl_bool), size, value, needed);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return answer(&driver.compiler, sizeof(cl_bool), size, value, needed);
    case CL_DEVICE_ENDIAN_LITTLE:
        return answer(&driver.little_endian, sizeof(cl_bool), size, value, needed);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return answer(&memory, sizeof(memory), size, value, needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return answer(&quarter, sizeof(quarter), size, value, needed);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return answer(&quarter, sizeof(quarter), size, value, needed);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return answer(&units, sizeof(units), size, value, needed);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return answer(&group, sizeof(group), size, value, needed);
    case CL_DEVICE_TYPE:
        return answer(&type, sizeof(type), size, value, needed);
    case CL_DEVICE_EXTENSIONS:
        return answer("cl_khr_fp64 cl_nv_device_attribute_query", 41, size, value, needed);
    case CL_DEVICE_NAME: /* longer than there is room for */
        return answer("A card with a name that does not end, a card with a name that does not end, "
                      "a card with a name "
                      "that does not end, a card with a name that does not end",
                      151, size, value, needed);
    case 0x4008: /* CL_DEVICE_PCI_BUS_ID_NV */
        return answer(&bus, sizeof(bus), size, value, needed);
    case 0x4009: /* CL_DEVICE_PCI_SLOT_ID_NV */
        return answer(&slot, sizeof(slot), size, value, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

static void keep_one(void *user, const airy_device_info *info)
{
    airy_device_info *kept = user;
    *kept = *info;
}

/* The one entry of the list of the platform of the test. */
static airy_device_info list_fake(void)
{
    static const struct airy_cl_api api = {.GetPlatformInfo = fake_platform_info,
                                           .GetDeviceIDs = fake_device_ids,
                                           .GetDeviceInfo = fake_device_info};
    const airy_cl_loader loader = {.platforms = {{(cl_platform_id)&driver, &api}},
                                   .platform_count = 1};
    airy_device_info info = {.units = 0};
    airy_cl_list_of(&loader, true, keep_one, &info);
    return info;
}

static void expect_why(struct check *c, const char *why)
{
    const airy_device_info info = list_fake();
    if (info.usable || !strstr(info.why, why))
        check_failed(c, __FILE__, __LINE__, "why = '%s', expected '%s'", info.why, why);
}

void check_cl_reasons(struct check *c)
{
    if (!check_case(c, "list_reasons"))
        return;
    const __typeof__(driver) good = {CL_SUCCESS, CL_SUCCESS, "OpenCL 3.0 CUDA", CL_TRUE, CL_TRUE,
                                     CL_TRUE,    0};
    driver = good;
    const airy_device_info info = list_fake();
    CHECK(c, info.usable && info.gpu && !info.why[0] && strcmp(info.spec, "opencl:0:0") == 0);
    CHECK(c, info.max_alloc == info.memory && info.memory_free == 0 &&
                 strncmp(info.name, "A card", 6) == 0);
    driver.version = "OpenCL 1.1 old";
    expect_why(c, "OpenCL 1.1 is older than 1.2");
    driver.version = "3.0";
    expect_why(c, "does not report its OpenCL version");
    driver = good;
    driver.available = CL_FALSE;
    expect_why(c, "not available");
    driver = good;
    driver.compiler = CL_FALSE;
    expect_why(c, "no compiler");
    driver = good;
    driver.little_endian = CL_FALSE;
    expect_why(c, "big-endian");
    driver = good;
    driver.silent = CL_DEVICE_GLOBAL_MEM_SIZE;
    expect_why(c, "does not report its memory");
    driver.silent = CL_DEVICE_LOCAL_MEM_SIZE;
    expect_why(c, "does not report its local memory");
    driver.silent = CL_DEVICE_MAX_COMPUTE_UNITS;
    expect_why(c, "does not report its units");
    driver.silent = CL_DEVICE_MAX_WORK_GROUP_SIZE;
    expect_why(c, "does not report its largest work-group");
    driver = good;
    driver.devices_code = CL_DEVICE_NOT_FOUND;
    expect_why(c, "the platform has no device");
    driver.devices_code = CL_OUT_OF_RESOURCES;
    expect_why(c, "clGetDeviceIDs gives CL_OUT_OF_RESOURCES");
    driver.platforms_code = CL_OUT_OF_HOST_MEMORY;
    expect_why(c, "clGetDeviceIDs gives CL_OUT_OF_RESOURCES");
}

/* Entry points that refuse. */
static cl_int CL_API_CALL refuse_fill(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                      size_t pattern_size, size_t offset, size_t size,
                                      cl_uint count, const cl_event *events, cl_event *event)
{
    (void)queue, (void)buffer, (void)pattern, (void)pattern_size, (void)offset, (void)size,
        (void)count, (void)events;
    (void)event;
    return CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

static cl_mem CL_API_CALL refuse_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void *host, cl_int *code)
{
    (void)context, (void)flags, (void)size, (void)host;
    *code = CL_INVALID_BUFFER_SIZE;
    return NULL;
}

static void *CL_API_CALL refuse_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                    cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                                    const cl_event *events, cl_event *event, cl_int *code)
{
    (void)queue, (void)buffer, (void)blocking, (void)flags, (void)offset, (void)size, (void)count,
        (void)events;
    (void)event;
    *code = CL_MAP_FAILURE;
    return NULL;
}

static cl_int CL_API_CALL refuse_queue(cl_command_queue queue)
{
    (void)queue;
    return CL_OUT_OF_RESOURCES;
}

static cl_command_queue CL_API_CALL refuse_create_queue(cl_context context, cl_device_id id,
                                                        cl_command_queue_properties properties,
                                                        cl_int *code)
{
    (void)context, (void)id, (void)properties;
    *code = CL_OUT_OF_HOST_MEMORY;
    return NULL;
}

static cl_int CL_API_CALL refuse_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                        const size_t *offset, const size_t *global,
                                        const size_t *local, cl_uint count, const cl_event *events,
                                        cl_event *event)
{
    (void)queue, (void)kernel, (void)dims, (void)offset, (void)global, (void)local, (void)count,
        (void)events;
    (void)event;
    return CL_OUT_OF_RESOURCES;
}

/* A device of its own, whose entry points the cases replace and restore. */
struct patient {
    airy_device *device;
    airy_queue *queue;
    struct airy_cl_api api, sound;
};

static bool open_patient(struct check *c, struct patient *p)
{
    if (!CHECK_OK(c, airy_device_create(&p->device, c->spec, NULL)))
        return false;
    struct airy_cl_device *impl = airy_cl_device(p->device);
    p->api = p->sound = *impl->cl;
    impl->cl = &p->api;
    return CHECK_OK(c, airy_queue_create(&p->queue, p->device));
}

static void close_patient(struct patient *p)
{
    airy_queue_destroy(&p->queue);
    airy_device_destroy(&p->device);
}

static void check_nothing_held(struct check *c, const struct patient *p)
{
    airy_memory_info memory;
    CHECK_OK(c, airy_device_memory(p->device, &memory));
    CHECK(c, memory.in_use == 0 && memory.count == 0 && memory.host_in_use == 0);
}

/* All works again when the driver does. */
static void check_recovered(struct check *c, struct patient *p)
{
    p->api = p->sound;
    check_nothing_held(c, p);
    const size_t count = 1000;
    uint32_t got[1000] = {0};
    airy_array *array = NULL;
    CHECK_OK(c, airy_array_create(&array, p->device, AIRY_DTYPE_U32, 1, &count));
    CHECK_OK(c, airy_array_fill(p->queue, array, 5));
    CHECK_OK(c, airy_array_pull(p->queue, got, sizeof(got), array));
    CHECK(c, got[0] == 5 && got[999] == 5);
    CHECK_OK(c, airy_queue_finish(p->queue));
    airy_array_destroy(&array);
}

static void check_memory_faults(struct check *c, struct patient *p)
{
    const size_t count = 12345;
    airy_array *array = NULL;
    airy_host *host = NULL;
    p->api.EnqueueFillBuffer = refuse_fill; /* created, but the memory is not there */
    CHECK_FAILS(c, airy_array_create(&array, p->device, AIRY_DTYPE_U8, 1, &count), AIRY_ERR_MEMORY,
                "CL_MEM_OBJECT_ALLOCATION_FAILURE");
    CHECK_FAILS(c, airy_array_create(&array, p->device, AIRY_DTYPE_U8, 1, &count), AIRY_ERR_MEMORY,
                "12345");
    check_recovered(c, p);
    p->api.CreateBuffer = refuse_buffer;
    CHECK_FAILS(c, airy_array_create(&array, p->device, AIRY_DTYPE_U8, 1, &count), AIRY_ERR_MEMORY,
                "clCreateBuffer gives CL_INVALID_BUFFER_SIZE");
    CHECK_FAILS(c, airy_host_create(&host, p->device, count), AIRY_ERR_MEMORY,
                "page-lock 12345 bytes");
    check_recovered(c, p);
    p->api.Finish = refuse_queue;
    CHECK_FAILS(c, airy_array_create(&array, p->device, AIRY_DTYPE_U8, 1, &count), AIRY_ERR_MEMORY,
                "clFinish");
    check_recovered(c, p);
    p->api.EnqueueMapBuffer = refuse_map;
    CHECK_FAILS(c, airy_host_create(&host, p->device, count), AIRY_ERR_MEMORY,
                "clEnqueueMapBuffer gives CL_MAP_FAILURE");
    CHECK(c, !array && !host);
    check_recovered(c, p);
}

static void check_queue_faults(struct check *c, struct patient *p)
{
    const size_t count = 100;
    uint8_t data[100] = {0};
    airy_array *array = NULL;
    airy_queue *queue = NULL;
    airy_event *event = NULL;
    CHECK_OK(c, airy_array_create(&array, p->device, AIRY_DTYPE_U8, 1, &count));
    CHECK_OK(c, airy_event_create(&event, p->device));
    p->api.CreateCommandQueue = refuse_create_queue;
    CHECK_FAILS(c, airy_queue_create(&queue, p->device), AIRY_ERR_MEMORY,
                "clCreateCommandQueue on");
    p->api = p->sound;
    p->api.Finish = refuse_queue;
    CHECK_FAILS(c, airy_queue_finish(p->queue), AIRY_ERR_DEVICE, "clFinish on");
    p->api = p->sound;
    p->api.Flush = refuse_queue;
    CHECK_FAILS(c, airy_queue_flush(p->queue), AIRY_ERR_DEVICE, "clFlush on");
    CHECK_FAILS(c, airy_event_record(event, p->queue), AIRY_ERR_DEVICE, "clFlush on");
    p->api = p->sound;
    p->api.EnqueueMapBuffer = refuse_map; /* the first copy from other memory makes the staging
                                             memory */
    CHECK_FAILS(c, airy_array_push(p->queue, array, data, sizeof(data)), AIRY_ERR_MEMORY,
                "page-lock");
    p->api = p->sound;
    p->api.EnqueueNDRangeKernel = refuse_launch;
    const struct airy_cl_kernel_spec spec = {"fill.cl", "fill_box", NULL};
    CHECK_FAILS(c, airy_cl_launch(p->queue, &spec, 1, &count, NULL, 0, NULL, 0), AIRY_ERR_DEVICE,
                "clEnqueueNDRangeKernel of fill_box");
    airy_event_destroy(&event);
    airy_array_destroy(&array);
    CHECK(c, !queue);
    check_recovered(c, p);
}

/* Opened in the background: destroyed at once, used at once, and told of by who comes first. */
static void check_background(struct check *c)
{
    const airy_device_params params = {.background = true};
    const size_t count = 100;
    struct patient p = {.device = NULL};
    airy_start_info start;
    if (!CHECK_OK(c, airy_device_create(&p.device, c->spec, &params)))
        return;
    airy_device_destroy(&p.device);
    if (!CHECK_OK(c, airy_device_create(&p.device, c->spec, &params)))
        return;
    CHECK_OK(c, airy_queue_create(&p.queue, p.device));
    CHECK_OK(c, airy_device_start(p.device, &start));
    CHECK(c, start.context_seconds > 0);
    struct airy_cl_device *impl = airy_cl_device(p.device);
    p.api = p.sound = *impl->cl;
    check_recovered(c, &p);
    impl->opened = false;
    impl->open_code = CL_OUT_OF_RESOURCES;
    airy_queue *queue = NULL;
    airy_array *array = NULL;
    airy_host *host = NULL;
    const struct airy_cl_kernel_spec spec = {"fill.cl", "fill_box", "-DT=uchar"};
    CHECK_FAILS(c, airy_queue_create(&queue, p.device), AIRY_ERR_DEVICE, "CL_OUT_OF_RESOURCES");
    CHECK_FAILS(c, airy_array_create(&array, p.device, AIRY_DTYPE_U8, 1, &count), AIRY_ERR_DEVICE,
                "CL_OUT_OF_RESOURCES");
    CHECK_FAILS(c, airy_host_create(&host, p.device, count), AIRY_ERR_DEVICE,
                "CL_OUT_OF_RESOURCES");
    CHECK_FAILS(c, airy_cl_prepare(p.device, &spec, NULL), AIRY_ERR_DEVICE, "CL_OUT_OF_RESOURCES");
    CHECK(c, !queue && !array && !host);
    impl->opened = true;
    close_patient(&p);
}

/* The driver's own launch, and how many more of them go well; slow: each takes a while longer. */
static struct {
    cl_int(CL_API_CALL *launch)(cl_command_queue, cl_kernel, cl_uint, const size_t *,
                                const size_t *, const size_t *, cl_uint, const cl_event *,
                                cl_event *);
    atomic_int left;
    bool slow;
} launches;

static cl_int CL_API_CALL count_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                       const size_t *offset, const size_t *global,
                                       const size_t *local, cl_uint count, const cl_event *events,
                                       cl_event *event)
{
    if (launches.slow)
        usleep(3000);
    else if (atomic_fetch_sub(&launches.left, 1) <= 0)
        return CL_OUT_OF_RESOURCES;
    return launches.launch(queue, kernel, dims, offset, global, local, count, events, event);
}

/* One of two devices fails sooner or later, or is slow: the run ends, and says which it was. */
static void check_run(struct check *c)
{
    enum { FRAMES = 60, SLOW = 1000 };
    static const int lefts[] = {0, 1, 7, 20, SLOW};
    const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
    airy_stack *stack = NULL;
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    for (size_t i = 0; i < sizeof(lefts) / sizeof(lefts[0]); i++) {
        struct patient p = {.device = NULL};
        if (!open_patient(c, &p))
            break;
        airy_integrator *its[2] = {check_run_integrator(c, c->device, AIRY_ERROR_MODEL_NONE),
                                   check_run_integrator(c, p.device, AIRY_ERROR_MODEL_NONE)};
        const airy_run_params params = {.batch = 2, .slots = 2, .readers = 2, .force = true};
        airy_run_info info;
        launches.launch = p.sound.EnqueueNDRangeKernel;
        launches.slow = lefts[i] == SLOW;
        atomic_store(&launches.left, lefts[i]);
        p.api.EnqueueNDRangeKernel = count_launch;
        const airy_status status = airy_integrate_stack(out, stack, its, 2, &params, &info);
        if (launches.slow || atomic_load(&launches.left) >= 0) { /* the other may do most of it */
            CHECK(c, status == AIRY_OK && info.frames == FRAMES && info.bad == 0);
        } else {
            char device[80];
            snprintf(device, sizeof(device), "device %s", c->spec);
            CHECK_FAILS(c, status, AIRY_ERR_DEVICE, device);
            CHECK(c, strstr(airy_last_error(), "CL_OUT_OF_RESOURCES") != NULL);
        }
        p.api = p.sound;
        airy_integrator_destroy(&its[1]);
        airy_integrator_destroy(&its[0]);
        close_patient(&p);
    }
    airy_stack_destroy(&stack);
}

void check_cl_faults(struct check *c)
{
    struct patient patient = {.device = NULL};
    if (check_case(c, "faults_of_memory")) {
        if (open_patient(c, &patient))
            check_memory_faults(c, &patient);
        close_patient(&patient);
    }
    if (check_case(c, "faults_of_a_run"))
        check_run(c);
    if (check_case(c, "faults_in_the_background"))
        check_background(c);
    if (check_case(c, "faults_of_queues")) {
        if (open_patient(c, &patient))
            check_queue_faults(c, &patient);
        close_patient(&patient);
    }
}

/* The entry points of the device that shares. */
static const struct airy_cl_api *sharing;

static cl_mem CL_API_CALL create_on_host(cl_context context, cl_mem_flags flags, cl_bitfield where,
                                         size_t size, void *host, cl_int *code)
{
    (void)where;
    return sharing->CreateBuffer(context, flags | CL_MEM_ALLOC_HOST_PTR, size, host, code);
}

void check_cl_share(airy_device *device)
{
    struct airy_cl_device *impl = airy_cl_device(device);
    if (!impl->pocl || device->info.gpu)
        return;
    sharing = impl->cl;
    impl->create_buffer_nv = create_on_host;
    device->shares_host = true;
}
