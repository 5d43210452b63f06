#include <dlfcn.h>
#include <pthread.h>

#include "opencl/cl_device.h"

/* The part of NVML that is called; names and layouts from NVIDIA's NVML reference manual. */
struct nvml_memory {
    unsigned long long total, free, used;
};
typedef struct nvml_device *nvml_device;

static struct {
    int (*get_device)(const char *pci, nvml_device *device);
    int (*get_memory)(nvml_device device, struct nvml_memory *memory);
} nvml;

static void open_nvml(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    union {
        void *object;
        int (*function)(void);
    } init = {dlsym(library, "nvmlInit_v2")};
    union {
        void *object;
        int (*function)(const char *, nvml_device *);
    } get_device = {dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2")};
    union {
        void *object;
        int (*function)(nvml_device, struct nvml_memory *);
    } get_memory = {dlsym(library, "nvmlDeviceGetMemoryInfo")};
    if (!init.object || !get_device.object || !get_memory.object || init.function() != 0)
        return;
    nvml.get_device = get_device.function;
    nvml.get_memory = get_memory.function;
}

uint64_t airy_nvml_memory_free(const char *pci)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_nvml);
    nvml_device device;
    struct nvml_memory memory;
    if (!nvml.get_device || !pci[0] || nvml.get_device(pci, &device) != 0 ||
        nvml.get_memory(device, &memory) != 0)
        return 0;
    return memory.free;
}
