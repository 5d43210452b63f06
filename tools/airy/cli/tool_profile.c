/* --profile: the profile of a device as a table, or as JSON in a file. */
#include "cli/tool.h"

/* NULL after a failure of the library. */
static json_t *profile_rows(const airy_device *device)
{
    airy_profile_row *rows = NULL;
    size_t count = 0;
    if (airy_profile_get(device, &rows, &count) != AIRY_OK)
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const airy_profile_row *row = &rows[i];
        json_t *bytes = row->bytes > 0 ? tool_json_number(row->bytes) : json_null();
        json_array_append_new(
            list, json_pack("{s:s, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", row->name,
                            "transfer", row->transfer, "count", (json_int_t)row->count, "min_ms",
                            tool_json_number(row->min), "median_ms", tool_json_number(row->median),
                            "max_ms", tool_json_number(row->max), "mean_ms",
                            tool_json_number(row->mean), "std_ms", tool_json_number(row->std),
                            "total_ms", tool_json_number(row->total), "bytes", bytes));
    }
    airy_profile_free(rows);
    return list;
}

static airy_status print_profile(const airy_device *device)
{
    char *text = NULL;
    const airy_status status = airy_profile_format(device, &text);
    if (status == AIRY_OK)
        fputs(text, stderr);
    free(text);
    return status;
}

int tool_write_profile(const struct common *common, const json_t *rows)
{
    struct tool_file file;
    const int code = tool_file_begin(&file, common, common->profile_file);
    if (code != AIRY_EXIT_OK)
        return code;
    if (json_dumpf(rows, file.file, JSON_INDENT(2)) == 0 || ferror(file.file))
        return tool_file_end(&file, true);
    tool_file_drop(&file);
    return tool_fail(common, "--profile=%s: out of memory", common->profile_file);
}

int tool_profile(const struct common *common, const airy_device *device)
{
    if (!common->profile)
        return AIRY_EXIT_OK;
    if (!common->profile_file) {
        const airy_status status = print_profile(device);
        return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
    }
    json_t *list = profile_rows(device);
    if (!list)
        return tool_failed(common, AIRY_ERR_MEMORY);
    const int code = tool_write_profile(common, list);
    json_decref(list);
    return code;
}

int tool_profile_all(const struct common *common, const airy_device *const *devices, size_t count)
{
    if (count == 1)
        return tool_profile(common, devices[0]);
    if (!common->profile)
        return AIRY_EXIT_OK;
    json_t *all = json_array();
    airy_status status = AIRY_OK;
    for (size_t i = 0; status == AIRY_OK && i < count; i++) {
        const char *spec = airy_device_spec(devices[i]);
        json_t *rows = profile_rows(devices[i]), *row;
        size_t k;
        json_array_foreach(rows, k, row)
        {
            json_object_set_new(row, "device", json_string(spec));
        }
        if (!rows || json_array_extend(all, rows) != 0)
            status = AIRY_ERR_MEMORY;
        json_decref(rows);
        if (status == AIRY_OK && !common->profile_file) {
            fprintf(stderr, "device %s\n", spec);
            status = print_profile(devices[i]);
        }
    }
    int code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
    if (code == AIRY_EXIT_OK && common->profile_file)
        code = tool_write_profile(common, all);
    json_decref(all);
    return code;
}
