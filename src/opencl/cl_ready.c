/* Waiting for the context of a device, which a thread may still be opening. */
#include "opencl/cl_device.h"
#include "opencl/cl_error.h"

airy_status airy_cl_ready(struct airy_cl_device *device)
{
    pthread_mutex_lock(&device->open_lock);
    if (device->opening)
        pthread_join(device->opener, NULL);
    device->opening = false;
    const bool opened = device->opened;
    pthread_mutex_unlock(&device->open_lock);
    return opened ? AIRY_OK
                  : airy_cl_fail(device->open_code, device->spec,
                                 device->context ? "clCreateCommandQueue" : "clCreateContext");
}
