/* The devices there are, and which one a spec means. */
#ifndef AIRY_CORE_REGISTRY_H
#define AIRY_CORE_REGISTRY_H

#include "core/backend.h"

struct airy_device_entry {
    airy_device_info info; /* info.spec: the short one, "gpu:0" for the first GPU */
    char native[64];       /* the back end's, "opencl:0:1" */
    const struct airy_backend *backend;
};

/* All devices there are; freed with free. */
airy_status airy_device_collect(struct airy_device_entry **entries, size_t *count);

/*
 * The entry that spec means. spec NULL: the first usable GPU, else the CPU.
 * Errors: AIRY_ERR_PARAM for text that cannot be a spec, AIRY_ERR_DEVICE when none or several
 *         answer to it, or it is not usable.
 */
airy_status airy_device_match(size_t *index, const struct airy_device_entry *entries, size_t count,
                              const char *spec);

#endif
