/* airy info: what a file holds, and how much of it fits where. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/info.h"
#include "cli/job_command.h"

/* An image that is not there yet. */
struct planned {
    uint64_t shape[AIRY_MAX_DIMS]; /* slowest axis first */
    int ndim;                      /* 0: not given */
    airy_dtype dtype;
    size_t bytes;
};

struct info_params {
    struct job_params job; /* reduce, for its input's options */
    bool detectors;
    struct planned planned;
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
    uint64_t bytes = airy_dtype_size(p->dtype);
    for (p->ndim = 0; (axis = strsep(&rest, "x")) != NULL; p->ndim++) {
        uint64_t *length = &p->shape[p->ndim];
        if (p->ndim == AIRY_MAX_DIMS || !opt_whole(axis, length) || *length == 0)
            return wrong;
        if (*length > (uint64_t)PTRDIFF_MAX / bytes)
            return "so many bytes do not fit the address space";
        bytes *= *length;
    }
    p->bytes = (size_t)bytes;
    return NULL;
}

static bool is_of_input(const char *section, const char *name)
{
    (void)section;
    return strcmp(name, "raw") == 0 || strcmp(name, "channel") == 0;
}

static const struct opt info_options[] = {
    {.heading = "Instead of a file"},
    {.name = "detectors",
     .type = OPT_FLAG,
     .offset = offsetof(struct info_params, detectors),
     .help = "lists the detectors of the registry: name, shape, pixel size"},
    {.name = "fits",
     .type = OPT_PARSED,
     .offset = offsetof(struct info_params, planned),
     .parse = parse_planned,
     .argument = "SHAPE,DTYPE",
     .help =
         "computes how many images of this shape (slowest axis first) and type fit where, and the "
         "largest that each device takes as one array"},
    {0},
};

enum { SHOWN_DATASETS = 40 }; /* without --verbose */

/* "3 x 100 x 100" of a list; "scalar" of none. */
static const char *shape_text(char text[160], const json_t *shape)
{
    size_t used = 0;
    snprintf(text, 160, "scalar");
    for (size_t i = 0; i < json_array_size(shape); i++)
        used += (size_t)snprintf(text + used, 160 - used, i ? " x %lld" : "%lld",
                                 (long long)json_integer_value(json_array_get(shape, i)));
    return text;
}

static void print_entry(const json_t *e)
{
    char shape[160], chunk[160], bytes[32];
    const json_t *stored = json_object_get(e, "stored_bytes"),
                 *chunks = json_object_get(e, "chunk"), *ratio = json_object_get(e, "ratio");
    printf("  %-44s ", tool_json_shown(e, "path"));
    if (json_object_get(e, "broken_link")) {
        printf("%s: %s\n", json_object_get(e, "unreadable") ? "unreadable" : "broken link",
               tool_json_shown(e, "broken_link"));
        return;
    }
    printf("%-8s %s", tool_json_shown(e, "dtype"), shape_text(shape, json_object_get(e, "shape")));
    if (json_is_array(chunks))
        printf(", chunk %s, %s", shape_text(chunk, chunks), tool_json_shown(e, "filter"));
    if (json_is_array(chunks) && json_integer_value(stored))
        printf(", %s", tool_bytes(bytes, (double)json_integer_value(stored)));
    if (json_is_number(ratio))
        printf(", %.2fx", json_number_value(ratio));
    putchar('\n');
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

/* The length of the one axis of the last dataset of such a path; -1: there is none. */
static long long length_of(const json_t *entries, const char *suffix, const char *part)
{
    size_t i;
    const json_t *e;
    long long length = -1;
    json_array_foreach(entries, i, e)
    {
        const char *path = json_string_value(json_object_get(e, "path"));
        const json_t *shape = json_object_get(e, "shape");
        if (json_array_size(shape) == 1 && path && tool_has_suffix(path, suffix) &&
            strstr(path, part))
            length = (long long)json_integer_value(json_array_get(shape, 0));
    }
    return length;
}

/* Is it a file of 'airy peaks' or of sparsify-Bragg? */
static bool print_sparse(const json_t *entries)
{
    const long long starts = length_of(entries, "/frame_ptr", ""),
                    kept = length_of(entries, "/index", "sparse");
    if (starts <= 0 || kept < 0)
        return false;
    printf("sparse frames: %lld frame%s, %lld kept pixels; 'airy densify' makes a stack of them\n",
           starts - 1, tool_s(starts - 1), kept);
    return true;
}

static void print_entries(const struct common *common, const json_t *json)
{
    const json_t *entries = json_object_get(json, "datasets");
    const size_t count = json_array_size(entries),
                 shown = common->verbose || count <= SHOWN_DATASETS ? count : SHOWN_DATASETS;
    printf("%s: %zu dataset%s\n", tool_json_shown(json, "file"), count, tool_s(count));
    for (size_t i = 0; i < shown; i++)
        print_entry(json_array_get(entries, i));
    if (shown < count)
        printf("  ... and %zu more; --verbose lists all\n", count - shown);
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

static void print_result(const json_t *result)
{
    if (json_object_get(result, "command")) {
        printf("unfinished result of airy peaks %s, %s; --resume goes on\n",
               tool_json_shown(result, "version"), tool_json_shown(result, "date"));
        print_rows(result);
        return;
    }
    const json_t *azimuth = json_object_get(result, "azimuth_bins");
    const long long frames = json_integer_value(json_object_get(result, "frames"));
    char bins[48], axes[160];
    snprintf(bins, sizeof(bins), azimuth ? "%lld x %lld" : "%lld",
             (long long)json_integer_value(json_object_get(result, "bins")),
             (long long)json_integer_value(azimuth));
    snprintf(axes, sizeof(axes), azimuth ? "%.70s and %.70s" : "%.70s",
             tool_json_shown(result, "axis"), tool_json_shown(result, "azimuth_axis"));
    printf("result of airy integrate %s: %lld frame%s of %s bins over %s, %s errors, %s\n",
           tool_json_shown(result, "version"), frames, tool_s((size_t)frames), bins, axes,
           json_is_true(json_object_get(result, "errors")) ? "with" : "without",
           tool_json_shown(result, "date"));
    print_rows(result);
}

static void print_hdf5(const struct common *common, const json_t *json)
{
    const json_t *detector = json_object_get(json, "detector"),
                 *result = json_object_get(json, "result"), *stack = json_object_get(json, "stack");
    if (json_is_object(detector))
        print_detector(detector);
    else if (json_is_object(result))
        print_result(result);
    else if (json_is_object(stack))
        print_stack(stack);
    else if (!print_sparse(json_object_get(json, "datasets")))
        printf("no stack of frames: %s\n", tool_json_shown(json, "why_no_stack"));
    print_entries(common, json);
}

static double number_of(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static double item_of(const json_t *json, const char *key, size_t index)
{
    return json_number_value(json_array_get(json_object_get(json, key), index));
}

static void print_hdu(size_t number, const json_t *hdu)
{
    size_t k;
    json_t *extent;
    printf("  [%zu] %-12s %-16s", number, tool_json_shown(hdu, "kind"),
           tool_json_shown(hdu, "name"));
    json_array_foreach(json_object_get(hdu, "shape"), k, extent)
    {
        printf(k ? " x %lld" : " %lld", (long long)json_integer_value(extent));
    }
    if (json_is_integer(json_object_get(hdu, "bitpix")))
        printf(", BITPIX %lld", (long long)json_integer_value(json_object_get(hdu, "bitpix")));
    if (json_is_string(json_object_get(hdu, "compression")))
        printf(", %s", tool_json_shown(hdu, "compression"));
    putchar('\n');
}

static void print_fits_file(const json_t *json)
{
    size_t i;
    json_t *hdu;
    json_array_foreach(json_object_get(json, "hdus"), i, hdu)
    {
        print_hdu(i, hdu);
    }
    const json_t *wcs = json_object_get(json, "wcs"), *beam = json_object_get(json, "beam");
    if (json_is_object(wcs))
        printf("  sky %s, %s %s: %.9g, %.9g deg at pixel %.9g, %.9g (from 0); pixels of %.6g "
               "arcsec^2\n",
               tool_json_shown(wcs, "longitude"), tool_json_shown(wcs, "latitude"),
               tool_json_shown(wcs, "frame"), item_of(wcs, "reference_deg", 0),
               item_of(wcs, "reference_deg", 1), item_of(wcs, "reference_px", 0),
               item_of(wcs, "reference_px", 1), number_of(wcs, "pixel_deg2") * 3600 * 3600);
    if (json_is_object(beam))
        printf("  beam %.6g x %.6g arcsec at %.6g deg, %.6g pixels\n",
               number_of(beam, "major_deg") * 3600, number_of(beam, "minor_deg") * 3600,
               number_of(beam, "angle_deg"), number_of(beam, "area_px"));
}

static void print_image(const json_t *json)
{
    char text[160], size[32];
    const char *name = tool_json_shown(json, "file");
    if (json_object_get(json, "shape"))
        printf("%s: %s %s, %s\n", name, shape_text(text, json_object_get(json, "shape")),
               tool_json_shown(json, "dtype"), tool_bytes(size, number_of(json, "bytes")));
    else
        printf("%s: no image that can be read\n", name);
    print_fits_file(json);
    if (json_object_get(json, "stack"))
        print_stack(json_object_get(json, "stack"));
}

static void print_message(void *user, airy_log_level level, const char *text)
{
    (void)level;
    tool_say(user, "%s", text);
}

/* A geometry is JSON for people, too. */
static int info_file(const struct info_params *p)
{
    const struct common *common = &p->job.common;
    const char *raw = opt_given(common, "raw", NULL);
    airy_raw_frames frames;
    if (raw && airy_raw_frames_parse(&frames, raw) != AIRY_OK)
        return tool_failed(common, AIRY_ERR_PARAM);
    const airy_file_info_params params = {.raw = raw ? &frames : NULL,
                                          .channel = opt_given(common, "channel", NULL),
                                          .message = print_message,
                                          .user = (void *)common,
                                          .style = tool_hint_style,
                                          .style_user = &common};
    char *text = NULL;
    const airy_status status =
        airy_file_info(&text, common->inputs.items, common->inputs.count, &params);
    if (status != AIRY_OK)
        return tool_failed(&p->job.common, status);
    json_t *json = json_loads(text, 0, NULL);
    free(text);
    if (p->job.common.json || json_object_get(json, "poni1"))
        return tool_print_json(&p->job.common, json);
    if (json_object_get(json, "datasets"))
        print_hdf5(&p->job.common, json);
    else if (json_object_get(json, "file"))
        print_image(json);
    else
        print_stack(json_object_get(json, "stack"));
    json_decref(json);
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
static void print_largest(const json_t *json, const json_t *fit)
{
    size_t i;
    json_t *device, *most = json_deep_copy(json_object_get(json, "shape"));
    puts("  largest image as one array");
    json_array_foreach(json_object_get(fit, "devices"), i, device)
    {
        char name[128], shape[160];
        if (!json_is_integer(json_object_get(device, "largest")))
            continue;
        json_array_set(most, 0, json_object_get(device, "largest"));
        snprintf(name, sizeof(name), "device %s", tool_json_shown(device, "spec"));
        printf("    %-34s %s\n", name, shape_text(shape, most));
    }
    json_decref(most);
}

static int info_planned(const struct common *common, const struct planned *p)
{
    char *text = NULL, shape[160], bytes[32];
    const airy_status status = airy_image_info(&text, p->shape, p->ndim, p->dtype);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    json_t *json = json_loads(text, 0, NULL), *fit = json_object_get(json, "images_that_fit");
    free(text);
    if (common->json)
        return tool_print_json(common, json);
    printf("image %s %s, %s\n  images that fit\n",
           shape_text(shape, json_object_get(json, "shape")), airy_dtype_name(p->dtype),
           tool_bytes(bytes, (double)p->bytes));
    print_fits(fit, "images");
    print_largest(json, fit);
    json_decref(json);
    return AIRY_EXIT_OK;
}

static int run_info(void *user)
{
    const struct info_params *p = user;
    if (p->planned.ndim)
        return p->job.common.inputs.count || p->detectors
                   ? tool_usage(&p->job.common, "--fits takes no file and no --detectors")
                   : info_planned(&p->job.common, &p->planned);
    if (p->detectors)
        return p->job.common.inputs.count ? tool_usage(&p->job.common, "--detectors takes no file")
                                          : info_detectors(&p->job.common);
    if (p->job.common.inputs.count == 0)
        return tool_usage(&p->job.common,
                          "nothing was given to work on: give FILE, --detectors or --fits");
    return info_file(p);
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
    .borrows = "reduce",
    .borrowed = is_of_input,
    .tables = {NULL, info_options},
    .params_size = sizeof(struct info_params),
    .min_inputs = 0,
    .max_inputs = 10000000,
    .run = run_info,
};
