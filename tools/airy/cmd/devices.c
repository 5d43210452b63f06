/* airy devices: what can be computed on, as JSON. */
#include "cli/tool.h"

struct devices_params {
    struct common common;
};

static json_t *bytes_or_null(uint64_t bytes)
{
    return bytes ? json_integer((json_int_t)bytes) : json_null();
}

static int run_devices(void *user)
{
    const struct devices_params *params = user;
    airy_device_info *list = NULL;
    size_t count = 0;
    const airy_status status = airy_device_list(&list, &count);
    if (status != AIRY_OK)
        return tool_failed(&params->common, status);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const airy_device_info *d = &list[i];
        json_array_append_new(
            array, json_pack("{s:s, s:s, s:s, s:o, s:o, s:i, s:b, s:s, s:b, s:s, s:b}", "spec",
                             d->spec, "name", d->name, "backend", d->backend, "memory",
                             bytes_or_null(d->memory), "free", bytes_or_null(d->memory_free),
                             "units", (int)d->units, "fp64", d->fp64, "driver", d->driver, "usable",
                             d->usable, "why", d->why, "default", d->is_default));
    }
    airy_device_list_free(list);
    return tool_print_json(&params->common, array);
}

const struct command cmd_devices = {
    .name = "devices",
    .usage = "",
    .summary = "list the devices, usable or not, as JSON",
    .details = "Prints [{spec, name, backend, memory, free, units, fp64, driver, usable, why, "
               "default}]. memory and "
               "free are bytes, null where unknown; why is the reason where something could not "
               "be used.",
    .examples = "  airy devices\n",
    .params_size = sizeof(struct devices_params),
    .run = run_devices,
};
