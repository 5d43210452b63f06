#include "opencl/cl_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/numa.h"
#include "opencl/cl_cache.h"
#include "opencl/cl_program.h"

/*
 * Extensions' queries, from the texts of cl_khr_pci_bus_info, cl_nv_device_attribute_query,
 * cl_amd_device_attribute_query.
 */
enum {
    PCI_BUS_INFO = 0x410F,
    CAPABILITY_MAJOR_NV = 0x4000,
    PCI_BUS_NV = 0x4008,
    PCI_SLOT_NV = 0x4009,
    PCI_DOMAIN_NV = 0x400A,
    FREE_MEMORY_AMD = 0x4039
};

struct device_place {
    const struct airy_cl_platform *platform;
    cl_device_id id;
    char spec[64];
};

static void platform_text(const struct airy_cl_platform *platform, cl_platform_info what,
                          size_t size, char *text)
{
    memset(text, 0, size);
    if (platform->api->GetPlatformInfo(platform->id, what, size - 1, text, NULL) != CL_SUCCESS)
        snprintf(text, size, "?");
}

static bool is_nvidia(const struct airy_cl_platform *platform)
{
    char vendor[96];
    platform_text(platform, CL_PLATFORM_VENDOR, sizeof(vendor), vendor);
    return strstr(vendor, "NVIDIA") != NULL;
}

static void device_text(const struct airy_cl_api *cl, cl_device_id id, cl_device_info what,
                        size_t size, char *text)
{
    memset(text, 0, size);
    size_t needed = 0;
    if (cl->GetDeviceInfo(id, what, 0, NULL, &needed) != CL_SUCCESS)
        return;
    if (needed < size) {
        if (cl->GetDeviceInfo(id, what, size - 1, text, NULL) != CL_SUCCESS)
            text[0] = 0;
        return;
    }
    char *whole = calloc(1, needed + 1);
    if (whole && cl->GetDeviceInfo(id, what, needed, whole, NULL) == CL_SUCCESS)
        memcpy(text, whole, size - 1);
    free(whole);
}

static uint64_t device_number(const struct airy_cl_api *cl, cl_device_id id, cl_device_info what)
{
    uint64_t value = 0; /* all hosts of ours are little-endian, so the narrower answers land in
                           the low bytes */
    return cl->GetDeviceInfo(id, what, sizeof(value), &value, NULL) == CL_SUCCESS ? value : 0;
}

static bool has_extension(const struct airy_cl_api *cl, cl_device_id id, const char *name)
{
    size_t size = 0;
    if (cl->GetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS)
        return false;
    char *text = calloc(1, size + 1);
    bool found = false;
    if (text && cl->GetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, text, NULL) == CL_SUCCESS)
        for (const char *at = text; !found && (at = strstr(at, name)); at++) {
            const char end = at[strlen(name)];
            found = (at == text || at[-1] == ' ') && (end == ' ' || end == 0);
        }
    free(text);
    return found;
}

static airy_cl_create_buffer_nv find_create_buffer_nv(const struct device_place *place)
{
    const struct airy_cl_api *cl = place->platform->api;
    union {
        void *object;
        airy_cl_create_buffer_nv function;
    } found = {NULL};
    if (has_extension(cl, place->id, "cl_nv_create_buffer"))
        found.object =
            cl->GetExtensionFunctionAddressForPlatform(place->platform->id, "clCreateBufferNV");
    return found.function;
}

/* Why the device cannot be used, into why[256]; "" when it can. */
static void judge(const struct airy_cl_api *cl, cl_device_id id, char why[256])
{
    char version[64];
    int major = 0, minor = 0;
    device_text(cl, id, CL_DEVICE_VERSION, sizeof(version), version);
    why[0] = 0;
    if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2)
        snprintf(why, 256, "the driver does not report its OpenCL version");
    else if (major < 1 || (major == 1 && minor < 2))
        snprintf(why, 256, "OpenCL %d.%d is older than 1.2", major, minor);
    else if (!device_number(cl, id, CL_DEVICE_AVAILABLE))
        snprintf(why, 256, "the driver reports that the device is not available");
    else if (!device_number(cl, id, CL_DEVICE_COMPILER_AVAILABLE))
        snprintf(why, 256, "the driver has no compiler for OpenCL C");
    else if (!device_number(cl, id, CL_DEVICE_ENDIAN_LITTLE))
        snprintf(why, 256, "the device is big-endian");
}

static void find_pci(const struct airy_cl_api *cl, cl_device_id id, char pci[16])
{
    cl_uint info[4] = {0}; /* domain, bus, device, function */
    pci[0] = 0;
    if (has_extension(cl, id, "cl_khr_pci_bus_info") &&
        cl->GetDeviceInfo(id, PCI_BUS_INFO, sizeof(info), info, NULL) == CL_SUCCESS) {
        snprintf(pci, 16, "%04x:%02x:%02x.%x", info[0] & 0xffffu, info[1] & 0xffu, info[2] & 0xffu,
                 info[3] & 0xfu);
    } else if (has_extension(cl, id, "cl_nv_device_attribute_query")) {
        const unsigned slot = (unsigned)device_number(cl, id, PCI_SLOT_NV);
        snprintf(
            pci, 16, "%04x:%02x:%02x.%x", (unsigned)device_number(cl, id, PCI_DOMAIN_NV) & 0xffffu,
            (unsigned)device_number(cl, id, PCI_BUS_NV) & 0xffu, (slot >> 3) & 0x1fu, slot & 7u);
    }
}

static uint64_t free_memory(const struct airy_cl_api *cl, cl_device_id id, uint64_t total)
{
    uint64_t bytes = 0;
    char pci[16];
    find_pci(cl, id, pci);
    if (pci[0])
        bytes = airy_nvml_memory_free(pci);
    if (bytes == 0 && has_extension(cl, id, "cl_amd_device_attribute_query")) {
        size_t kilobytes[2] = {0, 0}; /* in all, largest block */
        if (cl->GetDeviceInfo(id, FREE_MEMORY_AMD, sizeof(kilobytes), kilobytes, NULL) ==
            CL_SUCCESS)
            bytes = (uint64_t)kilobytes[0] * 1024;
    }
    return bytes < total ? bytes : total; /* of a part of a GPU, NVML tells the whole GPU's */
}

static void describe(airy_device_info *info, const struct device_place *place, bool ask_free)
{
    const struct airy_cl_api *cl = place->platform->api;
    char platform[96], version[64];
    *info = (airy_device_info){.backend = "opencl"};
    snprintf(info->spec, sizeof(info->spec), "%s", place->spec);
    device_text(cl, place->id, CL_DEVICE_NAME, sizeof(info->name), info->name);
    device_text(cl, place->id, CL_DRIVER_VERSION, sizeof(version), version);
    platform_text(place->platform, CL_PLATFORM_NAME, sizeof(platform), platform);
    snprintf(info->driver, sizeof(info->driver), "%s %.30s", platform, version);
    info->memory = device_number(cl, place->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    if (ask_free)
        info->memory_free = free_memory(cl, place->id, info->memory);
    info->max_alloc = device_number(cl, place->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    if (is_nvidia(place->platform))
        info->max_alloc = info->memory; /* a quarter is what the driver says and the standard
                                           asks for; it takes more */
    info->local_mem = device_number(cl, place->id, CL_DEVICE_LOCAL_MEM_SIZE);
    info->units = (uint32_t)device_number(cl, place->id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->max_group = (uint32_t)device_number(cl, place->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->fp64 = device_number(cl, place->id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->gpu = (device_number(cl, place->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0;
    judge(cl, place->id, info->why);
    const char *unknown = !info->memory      ? "its memory"
                          : !info->max_alloc ? "its largest buffer"
                          : !info->local_mem ? "its local memory"
                          : !info->units     ? "its units"
                          : !info->max_group ? "its largest work-group"
                                             : NULL;
    if (!info->why[0] && unknown) /* plans divide by these */
        snprintf(info->why, sizeof(info->why), "the driver does not report %s", unknown);
    info->usable = info->why[0] == 0;
}

/*
 * The devices of one platform, or NULL with the reason why there are none. Freed with free.
 */
static cl_device_id *platform_devices(const struct airy_cl_platform *platform, unsigned *count,
                                      char why[256])
{
    const struct airy_cl_api *cl = platform->api;
    cl_uint n = 0;
    cl_int code = cl->GetDeviceIDs(platform->id, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && n == 0)) {
        snprintf(why, 256, "the platform has no device");
        return NULL;
    }
    cl_device_id *ids = code == CL_SUCCESS ? calloc(n, sizeof(cl_device_id)) : NULL;
    if (ids)
        code = cl->GetDeviceIDs(platform->id, CL_DEVICE_TYPE_ALL, n, ids, NULL);
    if (!ids || code != CL_SUCCESS) {
        free(ids);
        snprintf(why, 256, "clGetDeviceIDs gives %s",
                 airy_cl_error_name(code ? code : CL_OUT_OF_HOST_MEMORY));
        return NULL;
    }
    *count = n;
    return ids;
}

/*
 * Visit every device in the order of platforms; stops when visit returns true. failed: may be NULL.
 */
static void walk_devices(const airy_cl_loader *loader,
                         bool (*visit)(void *user, const struct device_place *place),
                         void (*failed)(void *user, const struct airy_cl_platform *platform,
                                        unsigned number, const char *why),
                         void *user)
{
    for (unsigned p = 0; p < loader->platform_count; p++) {
        char why[256];
        unsigned count = 0;
        cl_device_id *ids = platform_devices(&loader->platforms[p], &count, why);
        bool stop = false;
        if (!ids && failed)
            failed(user, &loader->platforms[p], p, why);
        for (unsigned d = 0; ids && d < count && !stop; d++) {
            struct device_place place = {&loader->platforms[p], ids[d], ""};
            snprintf(place.spec, sizeof(place.spec), "opencl:%u:%u", p, d);
            stop = visit(user, &place);
        }
        free(ids);
        if (stop)
            return;
    }
}

struct lister {
    bool ask_free;
    void (*add)(void *user, const airy_device_info *info);
    void *user;
};

static bool list_device(void *user, const struct device_place *place)
{
    const struct lister *lister = user;
    airy_device_info info;
    describe(&info, place, lister->ask_free);
    lister->add(lister->user, &info);
    return false;
}

static void list_failure(void *user, const struct airy_cl_platform *platform, unsigned number,
                         const char *why)
{
    const struct lister *lister = user;
    airy_device_info info = {.backend = "opencl"};
    snprintf(info.spec, sizeof(info.spec), "opencl:%u", number);
    platform_text(platform, CL_PLATFORM_NAME, sizeof(info.name), info.name);
    platform_text(platform, CL_PLATFORM_VERSION, sizeof(info.driver), info.driver);
    snprintf(info.why, sizeof(info.why), "%s", why);
    lister->add(lister->user, &info);
}

void airy_cl_list_of(const airy_cl_loader *loader, bool ask_free,
                     void (*add)(void *user, const airy_device_info *info), void *user)
{
    struct lister lister = {ask_free, add, user};
    walk_devices(loader, list_device, list_failure, &lister);
    for (unsigned i = 0; i < loader->reason_count; i++) {
        airy_device_info info = {.spec = "opencl", .name = "OpenCL", .backend = "opencl"};
        snprintf(info.why, sizeof(info.why), "%s", loader->reasons[i]);
        add(user, &info);
    }
}

void airy_cl_list(bool ask_free, void (*add)(void *user, const airy_device_info *info), void *user)
{
    airy_cl_list_of(airy_cl_loader_get(), ask_free, add, user);
}

struct finder {
    const char *spec;
    bool found;
    struct device_place place;
};

static bool find_device(void *user, const struct device_place *place)
{
    struct finder *finder = user;
    finder->found = strcmp(place->spec, finder->spec) == 0;
    if (finder->found)
        finder->place = *place;
    return finder->found;
}

static void CL_CALLBACK note_context(const char *text, const void *data, size_t size, void *user)
{
    (void)data;
    (void)size;
    (void)user;
    airy_log(AIRY_LOG_DEBUG, "opencl: the driver reports: %s", text ? text : "");
}

static void fill_traits(struct airy_cl_device *impl, const struct device_place *place)
{
    const struct airy_cl_api *cl = impl->cl;
    char platform[96], version[96], name[128], driver[64];
    platform_text(place->platform, CL_PLATFORM_NAME, sizeof(platform), platform);
    platform_text(place->platform, CL_PLATFORM_VERSION, sizeof(version), version);
    device_text(cl, place->id, CL_DEVICE_NAME, sizeof(name), name);
    device_text(cl, place->id, CL_DRIVER_VERSION, sizeof(driver), driver);
    snprintf(impl->driver, sizeof(impl->driver), "%.63s|%.95s|%.95s|%.60s", platform, version, name,
             driver);
    impl->nvidia = is_nvidia(place->platform);
    impl->splits = impl->nvidia;
    impl->create_buffer_nv = find_create_buffer_nv(place);
    impl->pocl = strstr(platform, "Portable Computing Language") != NULL;
    impl->int64_atomics = has_extension(cl, impl->id, "cl_khr_int64_base_atomics") &&
                          has_extension(cl, impl->id, "cl_khr_int64_extended_atomics");
    impl->exact_results = 1 << 21;
    impl->max_arguments = (size_t)device_number(cl, impl->id, CL_DEVICE_MAX_PARAMETER_SIZE);
    find_pci(cl, impl->id, impl->pci);
    const bool exact = (device_number(cl, impl->id, CL_DEVICE_SINGLE_FP_CONFIG) &
                        CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    /* 0 where the driver does not say. */
    const uint64_t capability = impl->nvidia ? device_number(cl, impl->id, CAPABILITY_MAJOR_NV) : 0;
    snprintf(impl->options, sizeof(impl->options), "-cl-std=CL1.2%s%s%s",
             exact ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             capability > 0 && capability < 8 ? " -DAIRY_FETCHES=0" : "",
             impl->nvidia && airy_log_get_level() == AIRY_LOG_DEBUG ? " -cl-nv-verbose" : "");
    /*
     * PoCL keeps compiled kernels itself, and asking it for a binary makes it compile every kernel
     * a second time.
     */
    if (!impl->pocl)
        airy_cache_folder(impl->cache, sizeof(impl->cache));
}

static void make_context(struct airy_cl_device *impl)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)impl->platform, 0};
    const uint64_t start = airy_clock_ns();
    impl->context =
        impl->cl->CreateContext(properties, 1, &impl->id, note_context, NULL, &impl->open_code);
    impl->start.context_seconds = (double)(airy_clock_ns() - start) * 1e-9;
    if (impl->context)
        impl->internal = impl->cl->CreateCommandQueue(impl->context, impl->id, 0, &impl->open_code);
    impl->opened = impl->internal != NULL;
}

static void *open_in_background(void *impl)
{
    make_context(impl);
    return NULL;
}

airy_status airy_cl_open(airy_device *device)
{
    struct finder finder = {.spec = device->info.spec};
    walk_devices(airy_cl_loader_get(), find_device, NULL, &finder);
    AIRY_FAIL_IF(!finder.found, AIRY_ERR_DEVICE, "device = '%s': there is no such OpenCL device",
                 finder.spec);

    const bool is_default = device->info.is_default;
    describe(&device->info, &finder.place, false);
    device->info.is_default = is_default;
    AIRY_FAIL_IF(!device->info.usable, AIRY_ERR_DEVICE, "device %s (%s) cannot be used: %s",
                 device->info.spec, device->info.name, device->info.why);

    struct airy_cl_device *impl;
    airy_status status = AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&impl, 1, sizeof(*impl), "a device"));
    impl->cl = finder.place.platform->api;
    impl->platform = finder.place.platform->id;
    impl->id = finder.place.id;
    impl->spec = device->info.spec;
    pthread_mutex_init(&impl->open_lock, NULL);
    pthread_mutex_init(&impl->lock, NULL);
    pthread_mutex_init(&impl->build_lock, NULL);
    pthread_mutex_init(&impl->profile_lock, NULL);
    device->impl = impl;
    fill_traits(impl, &finder.place);
    device->node = airy_numa_of_pci("", impl->pci);
    device->shares_host = impl->create_buffer_nv != NULL;

    impl->opening = device->params.background &&
                    pthread_create(&impl->opener, NULL, open_in_background, impl) == 0;
    if (!impl->opening) {
        make_context(impl);
        status = airy_cl_ready(impl);
    }
    if (status != AIRY_OK)
        airy_cl_close(device);
    return status;
}

void airy_cl_close(airy_device *device)
{
    struct airy_cl_device *impl = airy_cl_device(device);
    if (!impl)
        return;
    if (impl->opening)
        pthread_join(impl->opener, NULL);
    airy_cl_programs_release(impl);
    if (impl->internal)
        impl->cl->ReleaseCommandQueue(impl->internal);
    if (impl->context)
        impl->cl->ReleaseContext(impl->context);
    pthread_mutex_destroy(&impl->profile_lock);
    pthread_mutex_destroy(&impl->build_lock);
    pthread_mutex_destroy(&impl->lock);
    pthread_mutex_destroy(&impl->open_lock);
    free(impl);
    device->impl = NULL;
}

uint64_t airy_cl_memory_free(airy_device *device)
{
    const struct airy_cl_device *impl = airy_cl_device(device);
    return free_memory(impl->cl, impl->id, device->info.memory);
}

void airy_cl_start(const airy_device *device, airy_start_info *info)
{
    struct airy_cl_device *impl = airy_cl_device(device);
    (void)airy_cl_ready(impl);
    pthread_mutex_lock(&impl->build_lock);
    *info = impl->start;
    pthread_mutex_unlock(&impl->build_lock);
}
