#include "opencl/cl_loader.h"

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "opencl/cl_error.h"

#define PLATFORM_NOT_FOUND (-1001) /* cl_khr_icd */

static const char *const loader_names[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};

/*
 * The plain name follows LD_LIBRARY_PATH and ld.so.cache; the folders are where container tools
 * put the driver.
 */
static const char *const direct_names[] = {
    "libnvidia-opencl.so.1",
    "/usr/lib/x86_64-linux-gnu/libnvidia-opencl.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-opencl.so.1",
    "/usr/lib64/libnvidia-opencl.so.1",
    "/usr/lib/libnvidia-opencl.so.1",
    "/usr/local/nvidia/lib64/libnvidia-opencl.so.1",
    "/usr/local/nvidia/lib/libnvidia-opencl.so.1",
    "/usr/lib/nvidia/libnvidia-opencl.so.1",
    "/usr/lib/wsl/lib/libnvidia-opencl.so.1",
    "/run/opengl-driver/lib/libnvidia-opencl.so.1",
    "/.singularity.d/libs/libnvidia-opencl.so.1",
    NULL,
};

static void add_reason(airy_cl_loader *loader, const char *format, ...) AIRY_PRINTF(2, 3);

static void add_reason(airy_cl_loader *loader, const char *format, ...)
{
    if (loader->reason_count == AIRY_CL_MAX_REASONS)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(loader->reasons[loader->reason_count++], sizeof(loader->reasons[0]), format, args);
    va_end(args);
}

static void add_platforms(airy_cl_loader *loader, const cl_platform_id *ids, unsigned count,
                          const struct airy_cl_api *api)
{
    for (unsigned i = 0; i < count && loader->platform_count < AIRY_CL_MAX_PLATFORMS; i++)
        loader->platforms[loader->platform_count++] = (struct airy_cl_platform){ids[i], api};
}

static void *open_first(const char *const *names, const char **name)
{
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) {
            *name = *names;
            return library;
        }
        airy_log(AIRY_LOG_DEBUG, "opencl: %s", dlerror());
    }
    return NULL;
}

/*
 * POSIX gives dlsym's result as void *; the union keeps the conversion to a function pointer
 * inside the language.
 */
static void (*find_symbol(void *library, const char *name))(void)
{
    union {
        void *object;
        void (*function)(void);
    } symbol = {dlsym(library, name)};
    return symbol.function;
}

/* The name of the first entry point that is missing, or NULL. */
static const char *fill_from_symbols(struct airy_cl_api *api, void *library)
{
#define FIND(name)                                                                                 \
    api->name = (__typeof__(api->name))find_symbol(library, "cl" #name);                           \
    if (!api->name)                                                                                \
        return "cl" #name;
    AIRY_CL_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

static const char *fill_from_dispatch(struct airy_cl_api *api, const cl_icd_dispatch *dispatch)
{
#define TAKE(name)                                                                                 \
    api->name = dispatch->cl##name;                                                                \
    if (!api->name)                                                                                \
        return "cl" #name;
    AIRY_CL_FUNCTIONS(TAKE)
#undef TAKE
    return NULL;
}

static void open_loader(airy_cl_loader *loader, const char *const *names)
{
    const char *name = NULL;
    loader->loader_library = open_first(names, &name);
    if (!loader->loader_library) {
        add_reason(loader, "the OpenCL library is missing: cannot open %s", names[0]);
        return;
    }
    const char *missing = fill_from_symbols(&loader->loader_api, loader->loader_library);
    __typeof__(&clGetPlatformIDs) get_platforms =
        (__typeof__(&clGetPlatformIDs))find_symbol(loader->loader_library, "clGetPlatformIDs");
    if (missing || !get_platforms) {
        add_reason(loader, "%s is older than OpenCL 1.2: it has no %s", name,
                   missing ? missing : "clGetPlatformIDs");
        return;
    }
    cl_platform_id ids[AIRY_CL_MAX_PLATFORMS];
    cl_uint count = 0;
    const cl_int code = get_platforms(AIRY_CL_MAX_PLATFORMS, ids, &count);
    if (code == PLATFORM_NOT_FOUND || (code == CL_SUCCESS && count == 0))
        add_reason(loader,
                   "%s knows no OpenCL platform: no driver is registered in /etc/OpenCL/vendors",
                   name);
    else if (code != CL_SUCCESS)
        add_reason(loader, "%s: clGetPlatformIDs gives %s", name, airy_cl_error_name(code));
    else
        add_platforms(loader, ids, count < AIRY_CL_MAX_PLATFORMS ? count : AIRY_CL_MAX_PLATFORMS,
                      &loader->loader_api);
}

static bool has_nvidia(const airy_cl_loader *loader)
{
    for (unsigned i = 0; i < loader->platform_count; i++) {
        char vendor[128] = "";
        const struct airy_cl_platform *platform = &loader->platforms[i];
        if (platform->api->GetPlatformInfo(platform->id, CL_PLATFORM_VENDOR, sizeof(vendor) - 1,
                                           vendor, NULL) == CL_SUCCESS &&
            strstr(vendor, "NVIDIA"))
            return true;
    }
    return false;
}

/*
 * A vendor's library without the loader, by the rules of cl_khr_icd: the platforms come from
 * clIcdGetPlatformIDsKHR, and every object begins with a pointer to the dispatch table.
 */
static void open_direct(airy_cl_loader *loader, const char *const *names)
{
    const char *name = NULL;
    loader->direct_library = open_first(names, &name);
    if (!loader->direct_library)
        return; /* no NVIDIA driver here: nothing to report */
    __typeof__(&clGetExtensionFunctionAddress) get_address =
        (__typeof__(&clGetExtensionFunctionAddress))find_symbol(loader->direct_library,
                                                                "clGetExtensionFunctionAddress");
    typedef cl_int(CL_API_CALL * icd_platforms_fn)(cl_uint, cl_platform_id *, cl_uint *);
    union {
        void *object;
        icd_platforms_fn function;
    } get_platforms = {get_address ? get_address("clIcdGetPlatformIDsKHR") : NULL};
    if (!get_platforms.object) {
        add_reason(loader, "%s has no clIcdGetPlatformIDsKHR", name);
        return;
    }
    cl_platform_id ids[AIRY_CL_MAX_PLATFORMS];
    cl_uint count = 0;
    const cl_int code = get_platforms.function(AIRY_CL_MAX_PLATFORMS, ids, &count);
    if (code != CL_SUCCESS || count == 0) {
        add_reason(loader,
                   "%s was opened, but its driver has no platform: clIcdGetPlatformIDsKHR gives %s",
                   name, airy_cl_error_name(code == CL_SUCCESS ? PLATFORM_NOT_FOUND : code));
        return;
    }
    const cl_icd_dispatch *const *object = (const cl_icd_dispatch *const *)(const void *)ids[0];
    const char *missing = *object ? fill_from_dispatch(&loader->direct_api, *object)
                                  : "dispatch table";
    if (missing) {
        add_reason(loader, "%s is older than OpenCL 1.2: it has no %s", name, missing);
        return;
    }
    for (cl_uint i = 0; i < count && i < AIRY_CL_MAX_PLATFORMS; i++)
        if (*(const cl_icd_dispatch *const *)(const void *)ids[i] == *object)
            add_platforms(loader, &ids[i], 1, &loader->direct_api);
    airy_log(AIRY_LOG_INFO, "opencl: %s is used directly, the loader does not know it", name);
}

void airy_cl_loader_open(airy_cl_loader *loader, const struct airy_cl_libraries *libraries)
{
    *loader = (airy_cl_loader){.platform_count = 0};
    open_loader(loader, libraries->loader);
    if (!has_nvidia(loader))
        open_direct(loader, libraries->direct);
}

void airy_cl_loader_close(airy_cl_loader *loader)
{
    if (loader->loader_library)
        dlclose(loader->loader_library);
    if (loader->direct_library)
        dlclose(loader->direct_library);
    *loader = (airy_cl_loader){.platform_count = 0};
}

static airy_cl_loader process_loader;

static void open_process_loader(void)
{
    airy_cl_loader_open(&process_loader, &(struct airy_cl_libraries){loader_names, direct_names});
}

const airy_cl_loader *airy_cl_loader_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_process_loader);
    return &process_loader;
}
