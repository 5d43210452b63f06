/* airy info: what a file holds, and how much of it fits where. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/file.h"
#include "images/fits_info.h"
#include "cli/geometry_opt.h"
#include "images/image_util.h"
#include "cli/memory_limits.h"
#include "cli/stack_opt.h"
#include "result/patterns.h"

/* An image that is not there yet. */
struct planned {
    uint64_t shape[AIRY_MAX_DIMS]; /* slowest axis first */
    int ndim;                      /* 0: not given */
    airy_dtype dtype;
    size_t bytes, row_bytes; /* row: of the slowest axis */
};

struct info_params {
    struct common common;
    bool detectors;
    struct planned planned;
    struct raw_opt raw;
};

static const char *parse_planned(void *field, const char *text)
{
    static const char wrong[] = "expected SHAPE,DTYPE of one to four axes, the slowest first, such "
                                "as 100x1024x1024,float32";
    struct planned *p = field;
    char copy[160], *rest = copy, *axis;
    if (strlen(text) >= sizeof(copy))
        return wrong;
    strcpy(copy, text);
    char *comma = strchr(copy, ',');
    if (!comma)
        return copy[strspn(copy, "0123456789x")] ? wrong
                                                 : "no type is given behind a comma, expected "
                                                   "SHAPE,DTYPE such as 100x1024x1024,float32";
    if (strchr(comma + 1, ',') || !comma[1 + strspn(comma + 1, "0123456789x")])
        return "axes have commas between them, expected an x, and a type behind the only comma: "
               "SHAPE,DTYPE such as 2048x2048,float32";
    *comma = 0;
    if (airy_dtype_parse(&p->dtype, comma + 1) != AIRY_OK)
        return airy_last_error();
    p->row_bytes = airy_dtype_size(p->dtype);
    for (p->ndim = 0; (axis = strsep(&rest, "x")) != NULL; p->ndim++) {
        if (p->ndim == AIRY_MAX_DIMS || !opt_whole(axis, &p->shape[p->ndim]) ||
            p->shape[p->ndim] == 0)
            return wrong;
        if (p->ndim > 0 && p->shape[p->ndim] > (uint64_t)PTRDIFF_MAX / p->row_bytes)
            return "so many bytes do not fit the address space";
        p->row_bytes *= p->ndim > 0 ? (size_t)p->shape[p->ndim] : 1;
    }
    if (p->shape[0] > (uint64_t)PTRDIFF_MAX / p->row_bytes)
        return "so many bytes do not fit the address space";
    p->bytes = p->row_bytes * (size_t)p->shape[0];
    return NULL;
}

static const struct opt info_options[] = {
    {.heading = "Input"},
    STACK_RAW_OPTION(struct info_params, raw),
    STACK_CHANNEL_OPTION(struct info_params, raw),
    {.heading = "Instead of a file"},
    {.name = "detectors",
     .type = OPT_FLAG,
     .offset = offsetof(struct info_params, detectors),
     .help = "list the detectors of the registry: name, shape, pixel size"},
    {.name = "fits",
     .type = OPT_PARSED,
     .offset = offsetof(struct info_params, planned),
     .parse = parse_planned,
     .argument = "SHAPE,DTYPE",
     .help = "how many images of this shape (slowest axis first) and type fit where, and the "
             "largest that each device takes as one array"},
    {0},
};

enum { SHOWN_DATASETS = 40 }; /* without --verbose */

/* Strings and plain data have no ratio worth telling. */
static bool is_compressed(const airy_hdf5_entry *e)
{
    airy_dtype dtype;
    return e->chunk[0] && e->stored_bytes && strcmp(e->filters, "none") != 0 &&
           airy_dtype_parse(&dtype, e->dtype) == AIRY_OK;
}

static json_t *shape_json(const uint64_t *shape, int ndim)
{
    json_t *list = json_array();
    for (int i = 0; i < ndim; i++)
        json_array_append_new(list, json_integer((json_int_t)shape[i]));
    return list;
}

static const char *shape_text(char text[160], const uint64_t *shape, int ndim)
{
    size_t used = 0;
    snprintf(text, 160, "scalar");
    for (int i = 0; i < ndim; i++)
        used += (size_t)snprintf(text + used, 160 - used, i ? " x %llu" : "%llu",
                                 (unsigned long long)shape[i]);
    return text;
}

static json_t *entry_json(const airy_hdf5_entry *e)
{
    if (e->ndim < 0)
        return json_pack("{s:o, s:o}", "path", tool_json_string(e->path), "broken_link",
                         tool_json_string(e->filters));
    json_t *chunk = e->chunk[0] ? shape_json(e->chunk, e->ndim) : json_null();
    json_t *ratio = is_compressed(e) ? tool_json_number((double)e->bytes / (double)e->stored_bytes)
                                     : json_null();
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:I, s:I, s:o}", "path", tool_json_string(e->path),
                     "shape", shape_json(e->shape, e->ndim), "dtype", e->dtype, "chunk", chunk,
                     "filter", tool_json_string(e->filters), "bytes", (json_int_t)e->bytes,
                     "stored_bytes", (json_int_t)e->stored_bytes, "ratio", ratio);
}

static void print_entry(const airy_hdf5_entry *e)
{
    char shape[160], chunk[160], bytes[32], path[TOOL_SHOWN], filters[TOOL_SHOWN];
    tool_shown(path, e->path);
    if (e->ndim < 0) {
        printf("  %-44s %s%s %s\n", path, e->dtype, strncmp(e->filters, "->", 2) == 0 ? "" : ":",
               tool_shown(filters, e->filters));
        return;
    }
    printf("  %-44s %-8s %s", path, e->dtype, shape_text(shape, e->shape, e->ndim));
    if (e->chunk[0])
        printf(", chunk %s, %s", shape_text(chunk, e->chunk, e->ndim),
               tool_shown(filters, e->filters));
    if (e->chunk[0] && e->stored_bytes)
        printf(", %s", tool_bytes(bytes, (double)e->stored_bytes));
    if (is_compressed(e))
        printf(", %.2fx", (double)e->bytes / (double)e->stored_bytes);
    putchar('\n');
}

/* Frames that fit: null where the limit is unknown or absent. */
static json_t *fits(uint64_t limit, double frame)
{
    return limit ? json_integer((json_int_t)((double)limit / frame)) : json_null();
}

/* row: bytes of a row of the slowest axis, to add what a device takes as one array; 0: do not. */
static json_t *limits_json(double frame, double row)
{
    struct memory_limits limits;
    memory_limits_get(&limits);
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "host", fits(limits.host, frame), "host_free",
                             fits(limits.available, frame), "cgroup", fits(limits.cgroup, frame),
                             "slurm", fits(limits.slurm, frame));
    json_t *devices = json_array();
    airy_device_info *list = NULL;
    size_t count = 0;
    if (airy_device_list(&list, &count) == AIRY_OK) {
        for (size_t i = 0; i < count; i++) {
            if (!list[i].usable)
                continue;
            json_t *device = json_pack("{s:s, s:s, s:o, s:o}", "spec", list[i].spec, "name",
                                       list[i].name, "total", fits(list[i].memory, frame), "free",
                                       fits(list[i].memory_free, frame));
            if (row > 0)
                json_object_set_new(device, "largest", fits(list[i].max_alloc, row));
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
        json_array_append_new(list, tool_json_string(info->channel_names[i]));
    return list;
}

/* The last failure, and of complex numbers also what makes frames of them. */
static void why_no_stack(char why[512], const struct common *common)
{
    airy_error error;
    char hint[AIRY_HINT_TEXT] = "";
    airy_error_get(&error);
    if (error.hint == AIRY_HINT_COMPLEX)
        tool_hint(hint, sizeof(hint), common, error.hint);
    snprintf(why, 512, "%.*s%s%.128s", *hint ? 380 : 511, error.text, *hint ? "; " : "", hint);
}

/* The stack in the file; NULL when there is none (why says it). */
static json_t *stack_json(const struct common *common, const struct raw_opt *raw, char why[512])
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    size_t unwritten = 0;
    json_t *json = NULL;
    snprintf(why, 512, "%s", "");
    if (stack_open(&stack, &common->inputs, raw) == AIRY_OK &&
        airy_stack_get_info(stack, &info) == AIRY_OK &&
        airy_stack_get_meta(stack, &meta) == AIRY_OK &&
        airy_stack_count_unwritten(stack, &unwritten) == AIRY_OK) {
        const double frame = (double)info.height * (double)info.width *
                             (double)airy_dtype_size(info.dtype);
        const double stored = (double)info.stored_bytes,
                     all = frame * (double)(info.frames - info.lost);
        json_t *geometry = meta.has_geometry ? geometry_json(&meta.geometry) : json_null();
        json_t *saturation = meta.has_saturation ? tool_json_number(meta.saturation) : json_null();
        json = json_pack(
            "{s:o, s:[I,I,I], s:I, s:s, s:o, s:s, s:I, s:o, s:o, s:o, s:b, s:o, s:o}", "dataset",
            tool_json_string(info.dataset), "shape", (json_int_t)info.frames,
            (json_int_t)info.height, (json_int_t)info.width, "lost_frames", (json_int_t)info.lost,
            "dtype", airy_dtype_name(info.dtype), "filter", tool_json_string(info.filters), "path",
            stack_path_name(info.path), "files", (json_int_t)info.files, "bytes_per_frame",
            tool_json_number(frame), "ratio", tool_json_number(stored > 0 ? all / stored : 0.0),
            "geometry", geometry, "mask", meta.has_mask, "saturation", saturation,
            "frames_that_fit", limits_json(frame, 0));
        if (meta.contradicted)
            json_object_set_new(json, "contradiction", tool_json_string(meta.unusable));
        json_object_set_new(json, "unwritten_frames", json_integer((json_int_t)unwritten));
        json_object_set_new(json, "channels", channels_json(&info));
        json_object_set_new(json, "channel",
                            info.channel_count ? tool_json_string(info.channel) : json_null());
    } else {
        why_no_stack(why, common);
    }
    airy_stack_destroy(&stack);
    return json;
}

static void print_fit(const char *what, const json_t *count, const char *things)
{
    if (json_is_integer(count))
        printf("    %-34s %lld %s\n", what, (long long)json_integer_value(count), things);
}

/* How many frames or images fit where. */
static void print_fits(const json_t *fit, const char *things)
{
    char name[128];
    size_t i;
    json_t *device;
    print_fit("memory of the host", json_object_get(fit, "host"), things);
    print_fit("memory of the host free now", json_object_get(fit, "host_free"), things);
    print_fit("control group's limit", json_object_get(fit, "cgroup"), things);
    print_fit("Slurm's limit", json_object_get(fit, "slurm"), things);
    json_array_foreach(json_object_get(fit, "devices"), i, device)
    {
        snprintf(name, sizeof(name), "device %s", tool_json_shown(device, "spec"));
        print_fit(name, json_object_get(device, "total"), things);
    }
}

static void print_channels(const json_t *stack)
{
    size_t i;
    json_t *name;
    const json_t *all = json_object_get(stack, "channels");
    if (!json_is_array(all))
        return;
    printf("  frames are those of channel %s; there are", tool_json_shown(stack, "channel"));
    json_array_foreach(all, i, name)
    {
        char shown[TOOL_SHOWN];
        printf("%s %s", i ? "," : "", tool_shown(shown, json_string_value(name)));
    }
    putchar('\n');
}

static void print_stack(const json_t *stack)
{
    const json_t *shape = json_object_get(stack, "shape"), *g = json_object_get(stack, "geometry");
    char bytes[32];
    printf(
        "stack %s\n  %lld frame%s of %lld x %lld %s, %s, read %s, %s a frame, %.2fx compressed\n",
        tool_json_shown(stack, "dataset"), (long long)json_integer_value(json_array_get(shape, 0)),
        tool_s(json_integer_value(json_array_get(shape, 0))),
        (long long)json_integer_value(json_array_get(shape, 1)),
        (long long)json_integer_value(json_array_get(shape, 2)), tool_json_shown(stack, "dtype"),
        tool_json_shown(stack, "filter"),
        strcmp(tool_json_shown(stack, "path"), "direct") == 0  ? "chunk by chunk"
        : strcmp(tool_json_shown(stack, "path"), "files") == 0 ? "file by file"
                                                               : "through libhdf5",
        tool_bytes(bytes, json_real_value(json_object_get(stack, "bytes_per_frame"))),
        json_real_value(json_object_get(stack, "ratio")));
    const long long lost = json_integer_value(json_object_get(stack, "lost_frames"));
    if (lost)
        printf("  %lld frame%s cannot be read, of files that are missing or cut\n", lost,
               tool_s((size_t)lost));
    const long long unwritten = json_integer_value(json_object_get(stack, "unwritten_frames"));
    if (unwritten)
        printf("  %lld frame%s never written\n", unwritten, unwritten == 1 ? " was" : "s were");
    print_channels(stack);
    if (json_is_object(g)) {
        const json_t *wavelength = json_object_get(g, "wavelength");
        printf("  geometry %s, distance %.6g m, PONI %.6g, %.6g m, wavelength",
               tool_json_shown(g, "detector"), json_number_value(json_object_get(g, "dist")),
               json_number_value(json_object_get(g, "poni1")),
               json_number_value(json_object_get(g, "poni2")));
        if (json_is_number(wavelength))
            printf(" %.6g m\n", json_number_value(wavelength));
        else
            puts(" unknown");
    }
    if (json_object_get(stack, "contradiction"))
        printf("  the file contradicts itself: %s\n", tool_json_shown(stack, "contradiction"));
    printf("  pixel mask %s\n  decoded frames that fit\n",
           json_is_true(json_object_get(stack, "mask")) ? "in the file" : "none");
    print_fits(json_object_get(stack, "frames_that_fit"), "frames");
}

/* Rows that are done, and which of them are bad. */
static void add_rows(json_t *json, const airy_result *result, const airy_result_info *info)
{
    enum { LISTED = 100 };
    json_t *rows = json_array();
    for (size_t i = 0; i < info->rows && json_array_size(rows) < LISTED; i++)
        if (airy_result_get_row(result, i) == AIRY_ROW_BAD)
            json_array_append_new(rows, json_integer((json_int_t)i));
    json_object_set_new(json, "done", json_integer((json_int_t)info->good + (json_int_t)info->bad));
    json_object_set_new(json, "bad", json_integer((json_int_t)info->bad));
    json_object_set_new(json, "bad_rows", rows); /* the first of them */
    json_object_set_new(json, "complete", json_boolean(info->complete));
}

static void add_texts(json_t *json, airy_result *result)
{
    static const char *const axes[] = {"axis", "azimuth_axis"}, *const names[] = {"date",
                                                                                  "version"};
    airy_result_axis axis;
    airy_result_info info = {0};
    (void)airy_result_get_info(result, &info);
    for (size_t i = 0; i < info.axes && i < 2; i++)
        if (airy_result_get_axis(result, i, &axis) == AIRY_OK && *axis.label)
            json_object_set_new(json, axes[i], tool_json_string(axis.label));
    for (size_t i = 0; i < 2; i++) {
        char *text = NULL;
        if (airy_result_get_text(result, names[i], &text) == AIRY_OK)
            json_object_set_new(json, names[i], tool_json_string(text));
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

/* What an unfinished result of 'airy peaks' holds; NULL when the file is none. */
static json_t *peaks_json(const char *file)
{
    airy_result *result = NULL;
    airy_result_info info;
    json_t *json = NULL;
    if (airy_result_open(&result, file) == AIRY_OK &&
        airy_result_get_info(result, &info) == AIRY_OK && info.kind == AIRY_RESULT_SPARSE &&
        !info.complete) {
        json = json_pack("{s:s, s:I}", "command", "peaks", "frames", (json_int_t)info.rows);
        add_texts(json, result);
        add_rows(json, result, &info);
    }
    airy_result_close(&result);
    return json;
}

/* What a result of 'airy integrate' holds; NULL when the file is none. */
static json_t *result_json(const char *file)
{
    airy_result *result = NULL;
    airy_result_info info;
    airy_result_plane plane, std;
    json_t *json = NULL;
    if (patterns_open(&result, file) == AIRY_OK && airy_result_get_info(result, &info) == AIRY_OK &&
        airy_result_find_plane(result, "result/intensity", &plane) == AIRY_OK && plane.ndim >= 1) {
        json = json_pack("{s:I, s:I, s:b}", "frames", (json_int_t)plane.rows, "bins",
                         (json_int_t)plane.shape[plane.ndim - 1], "errors",
                         airy_result_find_plane(result, "result/std", &std) == AIRY_OK);
        if (plane.ndim == 2)
            json_object_set_new(json, "azimuth_bins", json_integer((json_int_t)plane.shape[0]));
        add_texts(json, result);
        add_rows(json, result, &info);
    }
    airy_result_close(&result);
    return json ? json : peaks_json(file);
}

static void print_rows(const json_t *result)
{
    const long long frames = json_integer_value(json_object_get(result, "frames")),
                    done = json_integer_value(json_object_get(result, "done")),
                    bad = json_integer_value(json_object_get(result, "bad"));
    const json_t *rows = json_object_get(result, "bad_rows");
    if (!rows)
        return;
    printf("  %lld of %lld frame%s done%s, %lld bad", done, frames, tool_s((size_t)frames),
           json_is_true(json_object_get(result, "complete")) ? "" : " (not complete)", bad);
    for (size_t i = 0; i < json_array_size(rows) && i < 10; i++)
        printf("%s%lld", i ? ", " : ": row ",
               (long long)json_integer_value(json_array_get(rows, i)));
    puts(bad > 10 ? ", ..." : "");
}

/* Is it a file of 'airy peaks' or of sparsify-Bragg? */
static bool print_sparse(const airy_hdf5_entry *entries, size_t count)
{
    const airy_hdf5_entry *starts = NULL, *kept = NULL;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].ndim != 1)
            continue;
        if (tool_has_suffix(entries[i].path, "/frame_ptr"))
            starts = &entries[i];
        else if (tool_has_suffix(entries[i].path, "/index") && strstr(entries[i].path, "sparse"))
            kept = &entries[i];
    }
    if (!starts || !kept || starts->shape[0] == 0)
        return false;
    const size_t frames = (size_t)starts->shape[0] - 1;
    printf("sparse frames: %zu frame%s, %llu kept pixels; 'airy densify' makes a stack of them\n",
           frames, tool_s(frames), (unsigned long long)kept->shape[0]);
    return true;
}

static void print_entries(const struct common *common, const char *file,
                          const airy_hdf5_entry *entries, size_t count)
{
    const size_t shown = common->verbose || count <= SHOWN_DATASETS ? count : SHOWN_DATASETS;
    char name[TOOL_SHOWN];
    printf("%s: %zu dataset%s\n", tool_shown(name, file), count, tool_s(count));
    for (size_t i = 0; i < shown; i++)
        print_entry(&entries[i]);
    if (shown < count)
        printf("  ... and %zu more; --verbose lists all\n", count - shown);
}

/* Whether the file ends before its data; the words are the answer's reason, too. */
static json_t *cut_json(const struct common *common, const char *path, char why[512])
{
    uint64_t there, declared;
    if (!airy_hdf5_is_cut(path, &there, &declared))
        return json_pack("{s:b}", "cut", 0);
    snprintf(why, 512, "%.300s is cut off: %llu of %llu bytes are there; fetch it again", path,
             (unsigned long long)there, (unsigned long long)declared);
    tool_say(common, "%s", why);
    return json_pack("{s:b, s:I, s:I}", "cut", 1, "file_bytes", (json_int_t)there, "declared_bytes",
                     (json_int_t)declared);
}

/* What a NeXus detector file describes; NULL for other files, and for those that cannot be used. */
static json_t *detector_json(const struct common *common, const char *file)
{
    airy_detector d;
    airy_detector_arrays *arrays = NULL;
    airy_status status = airy_detector_read(&d, file);
    if (status == AIRY_ERR_NOT_FOUND)
        return NULL;
    if (status == AIRY_OK)
        status = airy_detector_open(&arrays, &d);
    if (status != AIRY_OK) {
        tool_say(common, "%s", airy_last_error());
        return NULL;
    }
    const size_t pixels = d.height * d.width;
    size_t bad = 0;
    float least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < pixels; i++)
        bad += d.bad && d.bad[i];
    for (size_t i = 0; d.corners && i < 4 * pixels; i++) {
        least = fminf(least, d.corners[3 * i]);
        most = fmaxf(most, d.corners[3 * i]);
    }
    json_t *json = json_pack("{s:o, s:[I,I], s:o, s:o, s:i, s:I, s:b}", "name",
                             tool_json_string(d.name), "shape", (json_int_t)d.height,
                             (json_int_t)d.width, "pixel1", tool_json_number(d.pixel1), "pixel2",
                             tool_json_number(d.pixel2), "orientation", d.orientation, "masked",
                             (json_int_t)bad, "corners", d.corners != NULL);
    if (json && d.corners)
        json_object_set_new(
            json, "z",
            json_pack("[o,o]", tool_json_number((double)least), tool_json_number((double)most)));
    if (json && d.sensor.material[0])
        json_object_set_new(json, "sensor",
                            json_pack("{s:o, s:o}", "material", tool_json_string(d.sensor.material),
                                      "thickness", tool_json_number(d.sensor.thickness)));
    airy_detector_arrays_destroy(&arrays);
    return json;
}

static void print_detector(const json_t *json)
{
    const json_t *shape = json_object_get(json, "shape"), *z = json_object_get(json, "z"),
                 *sensor = json_object_get(json, "sensor");
    printf("NeXus detector file: %s, %lld x %lld pixels of %g x %g m, orientation %lld, %lld "
           "masked\n",
           tool_json_shown(json, "name"), (long long)json_integer_value(json_array_get(shape, 0)),
           (long long)json_integer_value(json_array_get(shape, 1)),
           json_number_value(json_object_get(json, "pixel1")),
           json_number_value(json_object_get(json, "pixel2")),
           (long long)json_integer_value(json_object_get(json, "orientation")),
           (long long)json_integer_value(json_object_get(json, "masked")));
    if (z)
        printf("  pixels have corners of their own, z from %g to %g m\n",
               json_number_value(json_array_get(z, 0)), json_number_value(json_array_get(z, 1)));
    if (sensor)
        printf("  sensor: %s, %g m\n", tool_json_shown(sensor, "material"),
               json_number_value(json_object_get(sensor, "thickness")));
}

static int info_hdf5(const struct info_params *p, const char *path)
{
    const struct common *common = &p->common;
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    char file[4096], why[512] = "", cut_why[512] = "";
    const char *dataset = strstr(path, "::");
    snprintf(file, sizeof(file), "%.*s", (int)(dataset ? (size_t)(dataset - path) : strlen(path)),
             path);
    const airy_status status = airy_hdf5_list(&entries, &count, file);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    json_t *cut = cut_json(common, file, cut_why),
           *detector = dataset ? NULL : detector_json(common, file),
           *result = dataset || detector ? NULL : result_json(file),
           *stack = result || detector ? NULL : stack_json(common, &p->raw, why);
    int code = AIRY_EXIT_OK;
    if (!stack && *cut_why)
        memcpy(why, cut_why, sizeof(why));
    if (!stack && (dataset || p->raw.channel))
        code = tool_fail(common, "%s", why);
    else if (common->json) {
        json_t *list = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_append_new(list, entry_json(&entries[i]));
        json_t *json = json_pack("{s:o, s:o, s:o?, s:o?, s:o?, s:o}", "file",
                                 tool_json_string(file), "datasets", list, "stack",
                                 json_incref(stack), "result", json_incref(result), "detector",
                                 json_incref(detector), "why_no_stack", tool_json_string(why));
        json_object_update(json, cut);
        code = tool_print_json(common, json);
    } else {
        if (detector) {
            print_detector(detector);
        } else if (json_object_get(result, "command")) {
            printf("unfinished result of airy peaks %s, %s; --resume goes on\n",
                   tool_json_shown(result, "version"), tool_json_shown(result, "date"));
            print_rows(result);
        } else if (result) {
            const json_t *azimuth = json_object_get(result, "azimuth_bins");
            char bins[48], axes[160];
            snprintf(bins, sizeof(bins), azimuth ? "%lld x %lld" : "%lld",
                     (long long)json_integer_value(json_object_get(result, "bins")),
                     (long long)json_integer_value(azimuth));
            snprintf(axes, sizeof(axes), azimuth ? "%.70s and %.70s" : "%.70s",
                     tool_json_shown(result, "axis"), tool_json_shown(result, "azimuth_axis"));
            const long long frames = json_integer_value(json_object_get(result, "frames"));
            printf("result of airy integrate %s: %lld frame%s of %s bins over %s, %s errors, %s\n",
                   tool_json_shown(result, "version"), frames, tool_s((size_t)frames), bins, axes,
                   json_is_true(json_object_get(result, "errors")) ? "with" : "without",
                   tool_json_shown(result, "date"));
            print_rows(result);
        } else if (stack)
            print_stack(stack);
        else if (!print_sparse(entries, count)) {
            char shown[TOOL_SHOWN];
            printf("no stack of frames: %s\n", tool_shown(shown, why));
        }
        print_entries(common, file, entries, count);
    }
    json_decref(cut);
    json_decref(stack);
    json_decref(result);
    json_decref(detector);
    airy_hdf5_list_free(entries);
    return code;
}

static int info_poni(const struct common *common, const char *path)
{
    airy_geometry geometry;
    const airy_status status = airy_geometry_read(&geometry, path);
    return status == AIRY_OK ? tool_print_json(common, geometry_json(&geometry))
                             : tool_failed(common, status);
}

/* A FITS file whose image is none, or cannot be read: the HDUs alone. */
static int info_hdus(const struct common *common, const char *path)
{
    const airy_image none = {0};
    json_t *json = json_pack("{s:o}", "file", tool_json_string(path));
    const int code = fits_info(common, json, path, &none);
    if (code == AIRY_EXIT_OK && common->json)
        return tool_print_json(common, json);
    if (code == AIRY_EXIT_OK) {
        char name[TOOL_SHOWN];
        printf("%s: no image that can be read\n", tool_shown(name, path));
        fits_print(json);
    }
    json_decref(json);
    return code;
}

static int info_image(const struct common *common, const char *path)
{
    static const struct raw_opt no_raw;
    airy_image image = {0};
    airy_fits_hdu *hdus = NULL;
    size_t count = 0;
    const airy_status status = airy_image_read(&image, path);
    char why[512];
    snprintf(why, sizeof(why), "%s", airy_last_error());
    if (status == AIRY_ERR_UNSUPPORTED && airy_fits_list(&hdus, &count, path) == AIRY_OK) {
        bool image_there = false;
        for (size_t i = 0; i < count; i++)
            image_there = image_there || strcmp(hdus[i].kind, "image") == 0;
        free(hdus);
        if (image_there)
            tool_say(common, "%s", why);
        return info_hdus(common, path);
    }
    if (status == AIRY_ERR_UNSUPPORTED)
        return tool_fail(common, "%s", why);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    image_say_odd_cards(common, path, &image);
    uint64_t shape[AIRY_MAX_DIMS];
    for (int i = 0; i < image.ndim; i++)
        shape[i] = image.shape[i];
    const size_t bytes = tool_count(image.shape, image.ndim) * airy_dtype_size(image.dtype);
    const int ndim = image_axes(&image);
    const char *dtype = airy_image_dtype_name(&image);
    json_t *json = json_pack("{s:o, s:o, s:s, s:I}", "file", tool_json_string(path), "shape",
                             shape_json(shape, ndim), "dtype", dtype, "bytes", (json_int_t)bytes);
    const int code = image.header ? fits_info(common, json, path, &image) : AIRY_EXIT_OK;
    json_t *stack = image.header ? NULL : stack_json(common, &no_raw, why);
    if (json_is_object(json_object_get(stack, "geometry")) ||
        json_object_get(stack, "contradiction"))
        json_object_set(json, "stack", stack);
    json_decref(stack);
    airy_image_free(&image);
    if (code == AIRY_EXIT_OK && common->json)
        return tool_print_json(common, json);
    if (code == AIRY_EXIT_OK) {
        char text[160], size[32], name[TOOL_SHOWN];
        printf("%s: %s %s, %s\n", tool_shown(name, path), shape_text(text, shape, ndim), dtype,
               tool_bytes(size, (double)bytes));
        fits_print(json);
        if (json_object_get(json, "stack"))
            print_stack(json_object_get(json, "stack"));
    }
    json_decref(json);
    return code;
}

/* Several files, a pattern, or files without a header: the stack they make. */
static int info_files(const struct info_params *p)
{
    char why[512];
    json_t *stack = stack_json(&p->common, &p->raw, why);
    if (!stack)
        return tool_fail(&p->common, "%s", why);
    if (p->common.json)
        return tool_print_json(&p->common, json_pack("{s:o}", "stack", stack));
    print_stack(stack);
    json_decref(stack);
    return AIRY_EXIT_OK;
}

static int info_detectors(const struct common *common)
{
    json_t *list = json_array();
    airy_detector d;
    for (size_t i = 0; i < airy_detector_count(); i++) {
        if (airy_detector_get(&d, i) != AIRY_OK)
            continue;
        if (common->json)
            json_array_append_new(
                list, json_pack("{s:s, s:[I,I], s:o, s:o}", "name", d.name, "shape",
                                (json_int_t)d.height, (json_int_t)d.width, "pixel1",
                                tool_json_number(d.pixel1), "pixel2", tool_json_number(d.pixel2)));
        else
            printf("%-28s %5zu x %-5zu pixels of %.6g x %.6g um\n", d.name, d.height, d.width,
                   d.pixel1 * 1e6, d.pixel2 * 1e6);
    }
    if (common->json)
        return tool_print_json(common, list);
    json_decref(list);
    return AIRY_EXIT_OK;
}

/* The largest image with the same further axes that a device takes as one array. */
static void print_largest(const struct planned *planned, const json_t *fit)
{
    size_t i;
    json_t *device;
    puts("  largest image as one array");
    json_array_foreach(json_object_get(fit, "devices"), i, device)
    {
        struct planned most = *planned;
        char name[128], shape[160];
        if (!json_is_integer(json_object_get(device, "largest")))
            continue;
        most.shape[0] = (uint64_t)json_integer_value(json_object_get(device, "largest"));
        snprintf(name, sizeof(name), "device %s", tool_json_shown(device, "spec"));
        printf("    %-34s %s\n", name, shape_text(shape, most.shape, most.ndim));
    }
}

static int info_planned(const struct common *common, const struct planned *p)
{
    json_t *fit = limits_json((double)p->bytes, (double)p->row_bytes);
    if (common->json)
        return tool_print_json(
            common, json_pack("{s:o, s:s, s:o, s:o}", "shape", shape_json(p->shape, p->ndim),
                              "dtype", airy_dtype_name(p->dtype), "bytes",
                              tool_json_unsigned(p->bytes), "images_that_fit", fit));
    char shape[160], bytes[32];
    printf("image %s %s, %s\n  images that fit\n", shape_text(shape, p->shape, p->ndim),
           airy_dtype_name(p->dtype), tool_bytes(bytes, (double)p->bytes));
    print_fits(fit, "images");
    print_largest(p, fit);
    json_decref(fit);
    return AIRY_EXIT_OK;
}

static int run_info(void *user)
{
    const struct info_params *p = user;
    if (p->planned.ndim)
        return p->common.inputs.count || p->detectors
                   ? tool_usage(&p->common, "--fits takes no file and no --detectors")
                   : info_planned(&p->common, &p->planned);
    if (p->detectors)
        return p->common.inputs.count ? tool_usage(&p->common, "--detectors takes no file")
                                      : info_detectors(&p->common);
    if (p->common.inputs.count == 0)
        return tool_usage(&p->common,
                          "nothing was given to work on: give FILE, --detectors or --fits");
    const char *path = p->common.inputs.items[0];
    if (p->raw.given || p->common.inputs.count > 1 || (!tool_exists(path) && strpbrk(path, "*?#")))
        return info_files(p);
    if (tool_has_suffix(path, ".poni"))
        return info_poni(&p->common, path);
    if (airy_image_is_plain(path))
        return info_image(&p->common, path);
    return info_hdf5(p, path);
}

const struct command cmd_info = {
    .name = "info",
    .usage = "FILE[::DATASET]...|--detectors|--fits SHAPE,DTYPE [options]",
    .summary = "what a file holds: datasets, stack, geometry, frames that fit memory",
    .details =
        "HDF5: the stack of frames as 'airy integrate' would see it, then the datasets with shape, "
        "type, chunk, filter and ratio. PONI: {detector, pixel1, pixel2, shape, orientation, dist, "
        "poni1, poni2, "
        "rot1, rot2, rot3, wavelength, parallax} as JSON in SI units. Other images: shape and "
        "type; FITS also "
        "its HDUs, coordinates and beam. Several files or a pattern ('run_*.cbf'): the stack they "
        "make, with the geometry that the first one's header gives.",
    .examples = "  airy info series_master.h5\n"
                "  airy info series_master.h5::/entry/data/data_000002 --json\n"
                "  airy info geometry.poni\n"
                "  airy info --detectors\n"
                "  airy info --fits 100x1024x1024,float32\n",
    .tables = {info_options},
    .params_size = sizeof(struct info_params),
    .min_inputs = 0,
    .max_inputs = 10000000,
    .run = run_info,
};
