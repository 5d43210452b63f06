/* What several descriptions of files share: texts, warnings, memory, stacks. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/device.h"
#include "airy/provenance.h"
#include "base/cgroup.h"
#include "jobs/image_group.h"
#include "jobs/info/info.h"

void airy_info_warn(const struct info *info, const char *format, ...)
{
    char room[1024];
    va_list args;
    va_start(args, format);
    char *text = airy_log_format(room, sizeof(room), AIRY_LOG_WARN, format, args);
    va_end(args);
    if (info->params.message)
        info->params.message(info->params.user, AIRY_LOG_WARN, text);
    else
        airy_log(AIRY_LOG_WARN, "%s", text);
    if (text != room)
        free(text);
}

json_t *airy_info_shape(const uint64_t *shape, int ndim)
{
    json_t *list = json_array();
    for (int i = 0; i < ndim; i++)
        json_array_append_new(list, json_integer((json_int_t)shape[i]));
    return list;
}

static bool whole_of(uint64_t *value, const char *name)
{
    const char *text = getenv(name);
    if (!text || !*text || strlen(text) > 18 || text[strspn(text, "0123456789")])
        return false;
    *value = strtoull(text, NULL, 10);
    return true;
}

static uint64_t slurm_limit(void)
{
    uint64_t memory = 0, cpus = 0;
    if (whole_of(&memory, "SLURM_MEM_PER_NODE"))
        return memory << 20;
    return whole_of(&memory, "SLURM_MEM_PER_CPU") && whole_of(&cpus, "SLURM_CPUS_ON_NODE")
               ? (memory * cpus) << 20
               : 0;
}

void airy_memory_limits_get(airy_memory_limits *limits)
{
    const long pages = sysconf(_SC_PHYS_PAGES), available = sysconf(_SC_AVPHYS_PAGES),
               size = sysconf(_SC_PAGESIZE);
    struct airy_cgroup_limits group;
    airy_cgroup_read(&group, "");
    limits->host = pages > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    limits->available = available > 0 ? (uint64_t)available * (uint64_t)size : 0;
    /* Version 1 has a huge number where there is no limit. */
    limits->cgroup = group.memory_limit > (uint64_t)1 << 60 ? 0 : group.memory_limit;
    limits->slurm = slurm_limit();
}

/* Null where the limit is unknown or absent. */
static json_t *count_json(uint64_t limit, double bytes)
{
    return limit ? json_integer((json_int_t)((double)limit / bytes)) : json_null();
}

json_t *airy_info_fits(double frame, double row)
{
    airy_memory_limits limits;
    airy_memory_limits_get(&limits);
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "host", count_json(limits.host, frame),
                             "host_free", count_json(limits.available, frame), "cgroup",
                             count_json(limits.cgroup, frame), "slurm",
                             count_json(limits.slurm, frame)),
           *devices = json_array();
    airy_device_info *list = NULL;
    size_t count = 0;
    if (airy_device_list(&list, &count) == AIRY_OK) {
        for (size_t i = 0; i < count; i++) {
            if (!list[i].usable)
                continue;
            json_t *device = json_pack("{s:s, s:s, s:o, s:o}", "spec", list[i].spec, "name",
                                       list[i].name, "total", count_json(list[i].memory, frame),
                                       "free", count_json(list[i].memory_free, frame));
            if (row > 0)
                json_object_set_new(device, "largest", count_json(list[i].max_alloc, row));
            json_array_append_new(devices, device);
        }
        airy_device_list_free(list);
    }
    json_object_set_new(json, "devices", devices);
    return json;
}

/* ["threshold_1", "threshold_2"]; null where there are none. */
static json_t *channels_json(const airy_stack_info *info)
{
    if (info->channel_count == 0)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < info->channel_count; i++)
        json_array_append_new(list, airy_json_text(info->channel_names[i]));
    return list;
}

/* The last failure, and of complex numbers also what makes frames of them. */
static void find_why(char why[INFO_WHY], const struct info *info)
{
    airy_error error;
    char hint[AIRY_HINT_TEXT] = "";
    airy_error_get(&error);
    if (error.hint == AIRY_HINT_COMPLEX)
        airy_hint_render(hint, sizeof(hint), error.hint,
                         info->params.style ? info->params.style : airy_hint_keyword,
                         info->params.style_user);
    snprintf(why, INFO_WHY, "%.*s%s%.128s", *hint ? 380 : INFO_WHY - 1, error.text,
             *hint ? "; " : "", hint);
}

json_t *airy_info_geometry(const airy_geometry *geometry)
{
    char *text = NULL;
    json_t *json = airy_geometry_print(&text, geometry) == AIRY_OK ? json_loads(text, 0, NULL)
                                                                   : NULL;
    free(text);
    return json;
}

static json_t *stack_json(const airy_stack_info *info, const airy_stack_meta *meta,
                          size_t unwritten)
{
    static const char *const paths[] = {[AIRY_STACK_DIRECT] = "direct",
                                        [AIRY_STACK_LIBRARY] = "library",
                                        [AIRY_STACK_FILES] = "files"};
    const double frame = (double)info->height * (double)info->width *
                         (double)airy_dtype_size(info->dtype),
                 stored = (double)info->stored_bytes,
                 all = frame * (double)(info->frames - info->lost);
    json_t *json = json_pack(
        "{s:o, s:[I,I,I], s:I, s:s, s:o, s:s, s:I, s:o, s:o, s:o, s:b, s:o, s:o}", "dataset",
        airy_json_text(info->dataset), "shape", (json_int_t)info->frames, (json_int_t)info->height,
        (json_int_t)info->width, "lost_frames", (json_int_t)info->lost, "dtype",
        airy_dtype_name(info->dtype), "filter", airy_json_text(info->filters), "path",
        paths[info->path], "files", (json_int_t)info->files, "bytes_per_frame",
        airy_json_real(frame), "ratio", airy_json_real(stored > 0 ? all / stored : 0.0), "geometry",
        meta->has_geometry ? airy_info_geometry(&meta->geometry) : json_null(), "mask",
        meta->has_mask, "saturation",
        meta->has_saturation ? airy_json_real(meta->saturation) : json_null(), "frames_that_fit",
        airy_info_fits(frame, 0));
    if (meta->contradicted)
        json_object_set_new(json, "contradiction", airy_json_text(meta->unusable));
    json_object_set_new(json, "unwritten_frames", json_integer((json_int_t)unwritten));
    json_object_set_new(json, "channels", channels_json(info));
    json_object_set_new(json, "channel",
                        info->channel_count ? airy_json_text(info->channel) : json_null());
    return json;
}

json_t *airy_info_stack(const struct info *info, char why[INFO_WHY])
{
    const airy_stack_params params = {.raw = info->params.raw, .channel = info->params.channel};
    airy_stack *stack = NULL;
    airy_stack_info about;
    airy_stack_meta meta;
    size_t unwritten = 0;
    json_t *json = NULL;
    why[0] = 0;
    if (airy_stack_create_with(&stack, info->paths, info->count, &params) == AIRY_OK &&
        airy_stack_get_info(stack, &about) == AIRY_OK &&
        airy_stack_get_meta(stack, &meta) == AIRY_OK &&
        airy_stack_count_unwritten(stack, &unwritten) == AIRY_OK)
        json = stack_json(&about, &meta, unwritten);
    else
        find_why(why, info);
    airy_stack_destroy(&stack);
    return json;
}
