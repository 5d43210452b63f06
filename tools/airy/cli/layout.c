#include "cli/layout.h"

#include <string.h>

const char *const layout_words[LAYOUT_COUNT + 1] = {"auto", "serial", "threads", "device"};

const char *layout_name(enum layout layout)
{
    return layout_words[layout];
}

/* What a user who says nothing gets: measured, never slower than the others (docs/command.md). */
static void choose_auto(struct layout_choice *choice, const airy_device_info *device, size_t frames)
{
    const bool cpu = strcmp(device->backend, "cpu") == 0;
    if (frames == 1) {
        choice->layout = LAYOUT_SERIAL;
        snprintf(choice->why, sizeof(choice->why), "there is one frame");
    } else if (cpu) {
        choice->layout = LAYOUT_THREADS;
        snprintf(choice->why, sizeof(choice->why),
                 "one process keeps its %u thread%s busy, and they share the matrix", device->units,
                 tool_s(device->units));
    } else {
        choice->layout = LAYOUT_DEVICE;
        snprintf(
            choice->why, sizeof(choice->why),
            "one process overlaps reading, copies and kernels; more would share the same wire");
    }
}

int layout_choose(struct layout_choice *choice, const struct common *common, enum layout wish,
                  const airy_device *device, size_t frames)
{
    airy_device_info info;
    const airy_status status = airy_device_get_info(device, &info);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    const bool cpu = strcmp(info.backend, "cpu") == 0;
    *choice = (struct layout_choice){.layout = wish};
    if (wish == LAYOUT_THREADS && !cpu)
        return tool_usage(common,
                          "--layout threads does not fit %s (%s), whose work is not done by "
                          "threads: give device or serial, or --device cpu",
                          info.spec, info.name);
    if (wish == LAYOUT_DEVICE && cpu)
        return tool_usage(common, "--layout device does not fit the CPU: give --device gpu, or "
                                  "threads or serial");
    if (wish == LAYOUT_AUTO)
        choose_auto(choice, &info, frames);
    else
        snprintf(choice->why, sizeof(choice->why), "--layout");
    return AIRY_EXIT_OK;
}
