/* What an HDF5 file holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/file.h"
#include "airy/geometry.h"
#include "airy/result.h"
#include "base/error.h"
#include "jobs/image_group.h"
#include "jobs/info/info.h"

/* Strings and plain data have no ratio worth telling. */
static bool is_compressed(const airy_hdf5_entry *e)
{
    airy_dtype dtype;
    return e->chunk[0] && e->stored_bytes && strcmp(e->filters, "none") != 0 &&
           airy_dtype_parse(&dtype, e->dtype) == AIRY_OK;
}

static json_t *entry_json(const airy_hdf5_entry *e)
{
    if (e->ndim < 0) {
        json_t *json = json_pack("{s:o, s:o}", "path", airy_json_text(e->path), "broken_link",
                                 airy_json_text(e->filters));
        if (strcmp(e->dtype, "unreadable") == 0)
            json_object_set_new(json, "unreadable", json_true());
        return json;
    }
    json_t *chunk = e->chunk[0] ? airy_info_shape(e->chunk, e->ndim) : json_null(),
           *ratio = is_compressed(e) ? airy_json_real((double)e->bytes / (double)e->stored_bytes)
                                     : json_null();
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:I, s:I, s:o}", "path", airy_json_text(e->path),
                     "shape", airy_info_shape(e->shape, e->ndim), "dtype", e->dtype, "chunk", chunk,
                     "filter", airy_json_text(e->filters), "bytes", (json_int_t)e->bytes,
                     "stored_bytes", (json_int_t)e->stored_bytes, "ratio", ratio);
}

/* ---- results ---- */

/* Rows that are done, and the first of those that are bad. */
static void add_rows(json_t *json, const airy_result *result, const airy_result_info *info)
{
    enum { LISTED = 100 };
    json_t *rows = json_array();
    for (size_t i = 0; i < info->rows && json_array_size(rows) < LISTED; i++)
        if (airy_result_get_row(result, i) == AIRY_ROW_BAD)
            json_array_append_new(rows, json_integer((json_int_t)i));
    json_object_set_new(json, "done", json_integer((json_int_t)info->good + (json_int_t)info->bad));
    json_object_set_new(json, "bad", json_integer((json_int_t)info->bad));
    json_object_set_new(json, "bad_rows", rows);
    json_object_set_new(json, "complete", json_boolean(info->complete));
}

static void add_texts(json_t *json, airy_result *result, const airy_result_info *info)
{
    static const char *const axes[] = {"axis", "azimuth_axis"}, *const names[] = {"date",
                                                                                  "version"};
    airy_result_axis axis;
    for (size_t i = 0; i < info->axes && i < 2; i++)
        if (airy_result_get_axis(result, i, &axis) == AIRY_OK && *axis.label)
            json_object_set_new(json, axes[i], airy_json_text(axis.label));
    for (size_t i = 0; i < 2; i++) {
        char *text = NULL;
        if (airy_result_get_text(result, names[i], &text) == AIRY_OK)
            json_object_set_new(json, names[i], airy_json_text(text));
        free(text);
    }
    char *text = NULL;
    json_t *configuration = airy_result_get_text(result, "configuration", &text) == AIRY_OK
                                ? json_loads(text, 0, NULL)
                                : NULL;
    if (configuration)
        json_object_set_new(json, "configuration", configuration);
    free(text);
}

/* The patterns of an integration; NULL: there are none. */
static json_t *patterns_json(airy_result *result)
{
    airy_result_plane plane, std;
    if (airy_result_find_plane(result, "result/intensity", &plane) != AIRY_OK || plane.ndim < 1)
        return NULL;
    json_t *json = json_pack("{s:I, s:I, s:b}", "frames", (json_int_t)plane.rows, "bins",
                             (json_int_t)plane.shape[plane.ndim - 1], "errors",
                             airy_result_find_plane(result, "result/std", &std) == AIRY_OK);
    if (plane.ndim == 2)
        json_object_set_new(json, "azimuth_bins", json_integer((json_int_t)plane.shape[0]));
    return json;
}

/* A result of an integration, or of a search for peaks that is not finished; NULL: it is none. */
static json_t *result_json(const char *file)
{
    airy_result *result = NULL;
    airy_result_info info;
    json_t *json = NULL;
    if (airy_result_open(&result, file) == AIRY_OK &&
        airy_result_get_info(result, &info) == AIRY_OK) {
        if (info.kind == AIRY_RESULT_PATTERNS)
            json = patterns_json(result);
        else if (info.kind == AIRY_RESULT_SPARSE && !info.complete)
            json = json_pack("{s:s, s:I}", "command", "peaks", "frames", (json_int_t)info.rows);
        if (json) {
            add_texts(json, result, &info);
            add_rows(json, result, &info);
        }
    }
    airy_result_close(&result);
    return json;
}

/* ---- detectors ---- */

static json_t *arrays_json(const airy_detector *d)
{
    const size_t pixels = d->height * d->width;
    size_t bad = 0;
    float least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < pixels; i++)
        bad += d->bad && d->bad[i];
    for (size_t i = 0; d->corners && i < 4 * pixels; i++) {
        least = fminf(least, d->corners[3 * i]);
        most = fmaxf(most, d->corners[3 * i]);
    }
    json_t *json = json_pack("{s:o, s:[I,I], s:o, s:o, s:i, s:I, s:b}", "name",
                             airy_json_text(d->name), "shape", (json_int_t)d->height,
                             (json_int_t)d->width, "pixel1", airy_json_real(d->pixel1), "pixel2",
                             airy_json_real(d->pixel2), "orientation", d->orientation, "masked",
                             (json_int_t)bad, "corners", d->corners != NULL);
    if (json && d->corners)
        json_object_set_new(
            json, "z",
            json_pack("[o,o]", airy_json_real((double)least), airy_json_real((double)most)));
    if (json && d->sensor.material[0])
        json_object_set_new(json, "sensor",
                            json_pack("{s:o, s:o}", "material", airy_json_text(d->sensor.material),
                                      "thickness", airy_json_real(d->sensor.thickness)));
    return json;
}

/* What a NeXus detector file describes; NULL for other files, and for those that cannot be used. */
static json_t *detector_json(const struct info *info, const char *file)
{
    airy_detector d;
    airy_detector_arrays *arrays = NULL;
    airy_status status = airy_detector_read(&d, file);
    if (status == AIRY_ERR_NOT_FOUND)
        return NULL;
    if (status == AIRY_OK)
        status = airy_detector_open(&arrays, &d);
    json_t *json = status == AIRY_OK ? arrays_json(&d) : NULL;
    if (status != AIRY_OK)
        airy_info_warn(info, "%s", airy_last_error());
    airy_detector_arrays_destroy(&arrays);
    return json;
}

/* ---- the file ---- */

/* Whether the file ends before its data; why: a sentence about that. */
static json_t *cut_json(const struct info *info, const char *path, char why[INFO_WHY])
{
    uint64_t there, declared;
    why[0] = 0;
    if (!airy_hdf5_is_cut(path, &there, &declared))
        return json_pack("{s:b}", "cut", 0);
    snprintf(why, INFO_WHY, "%.300s is cut off: %llu of %llu bytes are there; fetch it again", path,
             (unsigned long long)there, (unsigned long long)declared);
    airy_info_warn(info, "%s", why);
    return json_pack("{s:b, s:I, s:I}", "cut", 1, "file_bytes", (json_int_t)there, "declared_bytes",
                     (json_int_t)declared);
}

airy_status airy_info_hdf5(json_t **json, const struct info *info)
{
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    const char *path = info->paths[0], *dataset = strstr(path, "::");
    char file[4096], why[INFO_WHY] = "", cut_why[INFO_WHY];
    snprintf(file, sizeof(file), "%.*s", (int)(dataset ? (size_t)(dataset - path) : strlen(path)),
             path);
    AIRY_TRY(airy_hdf5_list(&entries, &count, file));
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, entry_json(&entries[i]));
    airy_hdf5_list_free(entries);
    json_t *cut = cut_json(info, file, cut_why),
           *detector = dataset ? NULL : detector_json(info, file),
           *result = dataset || detector ? NULL : result_json(file),
           *stack = result || detector ? NULL : airy_info_stack(info, why);
    if (!stack && *cut_why)
        memcpy(why, cut_why, sizeof(why));
    const bool fails = !stack && (dataset || info->params.channel);
    *json = json_pack("{s:o, s:o, s:o?, s:o?, s:o?, s:o}", "file", airy_json_text(file), "datasets",
                      list, "stack", stack, "result", result, "detector", detector, "why_no_stack",
                      airy_json_text(why));
    json_object_update(*json, cut);
    json_decref(cut);
    AIRY_FAIL_HINT_IF(fails, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_NONE, "%s", why);
    return AIRY_OK;
}
