/* How a stack is shared out between threads and the device. */
#ifndef AIRY_TOOLS_CLI_LAYOUT_H
#define AIRY_TOOLS_CLI_LAYOUT_H

#include "cli/tool.h"

enum layout {
    LAYOUT_AUTO = 0,
    LAYOUT_SERIAL,  /* one frame at a time, nothing read ahead */
    LAYOUT_THREADS, /* the CPU: readers ahead, a pool for groups of frames */
    LAYOUT_DEVICE,  /* an OpenCL device: readers, copies and kernels overlap */
    LAYOUT_COUNT
};

struct layout_choice {
    enum layout layout; /* not auto */
    char why[200];
};

/* By enum layout, NULL behind the last. */
extern const char *const layout_words[];
const char *layout_name(enum layout layout);
/* Choose the layout and note why; one that does not fit the device is refused. Exit code. */
int layout_choose(struct layout_choice *choice, const struct common *common, enum layout wish,
                  const airy_device *device, size_t frames);

#endif
