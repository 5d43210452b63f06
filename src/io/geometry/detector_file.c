/* Reading detectors, with the positions of their pixels, from NeXus detector files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "airy/stack.h"
#include "base/cgroup.h"
#include "base/error.h"
#include "base/memory.h"
#include "integrate/positions.h"

enum { MAX_SIDE = 1 << 20, MAX_PATH = 1024 };

/* The datasets of a detector file, which are in one group. */
struct nexus {
    const char *path;
    const airy_hdf5_entry *entries;
    size_t count;
    char group[256];
};

static const airy_hdf5_entry *find_entry(const struct nexus *nexus, const char *name)
{
    const size_t size = strlen(nexus->group);
    for (size_t i = 0; i < nexus->count; i++) {
        const char *path = nexus->entries[i].path;
        if (strncmp(path, nexus->group, size) == 0 && path[size] == '/' &&
            strcmp(path + size + 1, name) == 0)
            return &nexus->entries[i];
    }
    return NULL;
}

/* Return whether a group is of class NXdetector. */
static bool is_detector(const char *path, const char *group)
{
    char object[MAX_PATH];
    char *text = NULL;
    snprintf(object, sizeof object, "%s@NX_class", group);
    const bool is = airy_hdf5_text(&text, path, object) == AIRY_OK && text &&
                    strcmp(text, "NXdetector") == 0;
    free(text);
    return is;
}

static airy_status find_group(struct nexus *nexus)
{
    static const char *const marks[] = {"/pixel_size", "/pixel_corners"};
    for (size_t i = 0; i < nexus->count; i++)
        for (size_t k = 0; k < 2; k++) {
            const char *path = nexus->entries[i].path;
            const size_t size = strlen(path), tail = strlen(marks[k]);
            if (size <= tail || strcmp(path + size - tail, marks[k]) != 0)
                continue;
            snprintf(nexus->group, sizeof nexus->group, "%.*s", (int)(size - tail), path);
            if (is_detector(nexus->path, nexus->group))
                return AIRY_OK;
        }
    return airy_hinted(AIRY_HINT_FILE,
                       airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                                    "%s: no NXdetector group with pixel_size or pixel_corners, "
                                    "that is no detector file",
                                    nexus->path));
}

/* Read a dataset, whose shape must be that of the list of datasets. */
static airy_status read_values(airy_image *image, const struct nexus *nexus, const char *name)
{
    char path[2 * MAX_PATH];
    snprintf(path, sizeof path, "%s::%s/%s", nexus->path, nexus->group, name);
    AIRY_TRY(airy_image_read_real(image, path));
    const airy_hdf5_entry *entry = find_entry(nexus, name);
    uint64_t want = 1, have = 1;
    bool same = entry->ndim <= 1 || entry->ndim == image->ndim;
    for (int axis = 0; same && axis < entry->ndim && axis < image->ndim; axis++) {
        same = entry->ndim <= 1 || entry->shape[axis] == image->shape[axis];
        want *= entry->shape[axis];
    }
    for (int axis = 0; axis < image->ndim; axis++)
        have *= image->shape[axis];
    if (same && want == have)
        return AIRY_OK;
    airy_image_free(image);
    return airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                        "%s: %s/%s has changed since the file was opened", nexus->path,
                        nexus->group, name);
}

/* Read the first `count` values of a small dataset; *found: the file has it. */
static airy_status read_numbers(double *out, size_t count, bool *found, const struct nexus *nexus,
                                const char *name)
{
    const airy_hdf5_entry *entry = find_entry(nexus, name);
    *found = false;
    if (!entry)
        return AIRY_OK;
    uint64_t total = 1;
    for (int axis = 0; axis < entry->ndim && axis < 8; axis++)
        total = entry->shape[axis] <= 8 ? total * entry->shape[axis] : 0;
    AIRY_FAIL_ON_IF(entry->ndim < 0 || total != count, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: %s/%s has not %zu value%s", nexus->path, nexus->group, name, count,
                    count == 1 ? "" : "s");
    airy_image image = {0};
    AIRY_TRY(read_values(&image, nexus, name));
    for (size_t k = 0; k < count; k++)
        out[k] = airy_image_value(&image, k);
    airy_image_free(&image);
    for (size_t k = 0; k < count; k++)
        AIRY_FAIL_ON_IF(!isfinite(out[k]), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                        "%s: %s/%s is not finite", nexus->path, nexus->group, name);
    *found = true;
    return AIRY_OK;
}

/* Sides of an image; `least` dimensions, of which the first two are meant. */
static airy_status set_sides(airy_detector *d, const struct nexus *nexus, const char *name,
                             double height, double width)
{
    AIRY_FAIL_ON_IF(!(height >= 1 && height <= MAX_SIDE) || !(width >= 1 && width <= MAX_SIDE) ||
                        height != floor(height) || width != floor(width),
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: %s/%s = %g x %g pixels, expected 1 to %d along each axis", nexus->path,
                    nexus->group, name, height, width, (int)MAX_SIDE);
    d->height = (size_t)height;
    d->width = (size_t)width;
    return AIRY_OK;
}

static airy_status read_shape(airy_detector *d, const struct nexus *nexus)
{
    static const char *const names[] = {"shape", "max_shape"}, *const arrays[] = {"pixel_corners",
                                                                                  "mask"};
    double shape[2];
    for (size_t k = 0; k < 2; k++) {
        bool found;
        AIRY_TRY(read_numbers(shape, 2, &found, nexus, names[k]));
        if (found)
            return set_sides(d, nexus, names[k], shape[0], shape[1]);
    }
    for (size_t k = 0; k < 2; k++) {
        const airy_hdf5_entry *entry = find_entry(nexus, arrays[k]);
        if (entry && entry->ndim >= 2)
            return set_sides(d, nexus, arrays[k], (double)entry->shape[0], (double)entry->shape[1]);
    }
    return airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s: %s has no shape", nexus->path,
                        nexus->group);
}

static airy_status read_sensor(airy_sensor *sensor, const struct nexus *nexus)
{
    char object[MAX_PATH];
    char *text = NULL;
    bool found;
    AIRY_TRY(read_numbers(&sensor->thickness, 1, &found, nexus, "sensor_thickness"));
    if (!find_entry(nexus, "sensor_material"))
        return AIRY_OK;
    snprintf(object, sizeof object, "%s/sensor_material", nexus->group);
    AIRY_TRY(airy_hdf5_text(&text, nexus->path, object));
    const size_t size = strlen(text);
    if (size < sizeof sensor->material)
        memcpy(sensor->material, text, size + 1);
    free(text);
    AIRY_FAIL_ON_IF(size >= sizeof sensor->material, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: %s has %zu bytes, expected at most %zu", nexus->path, object, size,
                    sizeof sensor->material - 1);
    return AIRY_OK;
}

static airy_status check_pixel_corners(const struct nexus *nexus)
{
    const airy_hdf5_entry *entry = find_entry(nexus, "pixel_corners");
    if (!entry)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(entry->ndim == 4 && entry->shape[2] != 4, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_FILE,
                    "%s: %s has %llu corners a pixel: only pixels of 4 corners are supported",
                    nexus->path, entry->path, (unsigned long long)entry->shape[2]);
    AIRY_FAIL_ON_IF(entry->ndim != 4 || entry->shape[3] != 3 || entry->shape[0] > MAX_SIDE ||
                        entry->shape[1] > MAX_SIDE,
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s: %s is not [rows, columns, 4, 3]",
                    nexus->path, entry->path);
    return AIRY_OK;
}

/* Note whether the dummy value is Dectris's; warn of other fields, which the caller has to give. */
static airy_status read_dummy(airy_detector *d, const struct nexus *nexus)
{
    double dummy, delta;
    bool found, has_delta;
    AIRY_TRY(read_numbers(&dummy, 1, &found, nexus, "dummy"));
    AIRY_TRY(read_numbers(&delta, 1, &has_delta, nexus, "delta_dummy"));
    d->dectris_dummy = found && has_delta && dummy == -2 && delta == 1.5;
    if (found && !d->dectris_dummy)
        airy_log(AIRY_LOG_WARN, "%s: its dummy value %g is not used: give it to the integration",
                 nexus->path, dummy);
    static const char *const others[] = {"flatfield", "darkcurrent"};
    for (size_t k = 0; k < 2; k++)
        if (find_entry(nexus, others[k]))
            airy_log(AIRY_LOG_WARN, "%s: its %s is not used: give it to the integration",
                     nexus->path, others[k]);
    return AIRY_OK;
}

static airy_status read_group(airy_detector *out, const struct nexus *nexus)
{
    airy_detector d = {.orientation = 3};
    double size[2], number;
    bool found;
    const char *name = strrchr(nexus->group, '/');
    snprintf(d.name, sizeof d.name, "%.63s", name ? name + 1 : nexus->group);
    for (char *c = d.name; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    AIRY_TRY(read_numbers(&number, 1, &found, nexus, "CORNERS"));
    AIRY_FAIL_ON_IF(found && number != 4, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "%s: pixels of %g corners: only pixels of 4 corners are supported", nexus->path,
                    number);
    AIRY_TRY(check_pixel_corners(nexus));
    AIRY_TRY(read_numbers(size, 2, &found, nexus, "pixel_size"));
    AIRY_FAIL_ON_IF(!found, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s: %s has no pixel_size",
                    nexus->path, nexus->group);
    AIRY_FAIL_ON_IF(!(size[0] > 0 && size[0] <= 1) || !(size[1] > 0 && size[1] <= 1),
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: pixel_size = %g x %g m, expected > 0 and <= 1 m", nexus->path, size[0],
                    size[1]);
    d.pixel1 = size[0];
    d.pixel2 = size[1];
    AIRY_TRY(read_shape(&d, nexus));
    AIRY_TRY(read_numbers(&number, 1, &found, nexus, "orientation"));
    AIRY_FAIL_ON_IF(found && (!(number >= 0 && number <= 4) || number != floor(number)),
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s: orientation = %g, expected 1 to 4",
                    nexus->path, number);
    d.orientation = found && number > 0 ? (int)number : 3;
    AIRY_TRY(read_sensor(&d.sensor, nexus));
    AIRY_TRY(read_dummy(&d, nexus));
    AIRY_FAIL_IF(strlen(nexus->path) >= sizeof d.file, AIRY_ERR_PARAM,
                 "the path of the detector's file has more than %zu bytes", sizeof d.file - 1);
    strcpy(d.file, nexus->path);
    *out = d;
    return AIRY_OK;
}

static airy_status open_nexus(struct nexus *nexus, airy_hdf5_entry **entries, const char *path)
{
    *nexus = (struct nexus){.path = path};
    AIRY_TRY(airy_hdf5_list(entries, &nexus->count, path));
    nexus->entries = *entries;
    return find_group(nexus);
}

airy_status airy_detector_read(airy_detector *detector, const char *path)
{
    AIRY_FAIL_IF(!detector, AIRY_ERR_PARAM, "airy_detector_read: detector is NULL");
    AIRY_FAIL_IF(!path, AIRY_ERR_PARAM, "airy_detector_read: path is NULL");
    struct nexus nexus;
    airy_hdf5_entry *entries = NULL;
    airy_status status = open_nexus(&nexus, &entries, path);
    if (status == AIRY_OK)
        status = read_group(detector, &nexus);
    airy_hdf5_list_free(entries);
    return status;
}

/*
 * Return how many rows (columns) of an array are one row (column) of the image; 0: they do not fit.
 */
static size_t fold_of(uint64_t side, size_t image)
{
    const uint64_t fold = side / image;
    return fold > 0 && fold <= 64 && side - fold * image < fold ? (size_t)fold : 0;
}

static airy_status check_fold(size_t fold[2], const airy_detector *d, const airy_hdf5_entry *entry)
{
    fold[0] = entry->ndim >= 2 ? fold_of(entry->shape[0], d->height) : 0;
    fold[1] = entry->ndim >= 2 ? fold_of(entry->shape[1], d->width) : 0;
    AIRY_FAIL_ON_IF(fold[0] == 0 || fold[1] == 0, AIRY_ERR_SHAPE, AIRY_SUBJECT_FILE,
                    "%s: %s of %llu x %llu pixels does not fit a detector of %zu x %zu", d->file,
                    entry->path, (unsigned long long)entry->shape[0],
                    (unsigned long long)entry->shape[1], d->height, d->width);
    return AIRY_OK;
}

/* Get the corners of blocks of fold[0] x fold[1] pixels. */
static void take_corners(float *out, const airy_detector *d, const airy_image *image,
                         const size_t fold[2])
{
    for (size_t i = 0; i < d->height; i++)
        for (size_t j = 0; j < d->width; j++)
            for (size_t k = 0; k < 4; k++) {
                const size_t y = fold[0] * i + (k == 1 || k == 2 ? fold[0] - 1 : 0),
                             x = fold[1] * j + (k >= 2 ? fold[1] - 1 : 0);
                const size_t at = ((y * image->shape[1] + x) * 4 + k) * 3;
                for (size_t v = 0; v < 3; v++)
                    *out++ = (float)airy_image_value(image, at + v);
            }
}

static airy_status read_corners(struct airy_detector_arrays *arrays, const airy_detector *d,
                                const struct nexus *nexus)
{
    const airy_hdf5_entry *entry = find_entry(nexus, "pixel_corners");
    size_t fold[2];
    if (!entry)
        return AIRY_OK;
    AIRY_TRY(check_fold(fold, d, entry));
    const uint64_t pixels = entry->shape[0] * entry->shape[1],
                   need = pixels * 2 * 8 * AIRY_CORNER_VALUES;
    AIRY_FAIL_ON_IF(need > airy_memory_available(), AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE,
                    "%s: the corners of %llu x %llu pixels need more memory than there is", d->file,
                    (unsigned long long)entry->shape[0], (unsigned long long)entry->shape[1]);
    airy_image image = {0};
    AIRY_TRY(read_values(&image, nexus, "pixel_corners"));
    const bool real = image.dtype == AIRY_DTYPE_F32 || image.dtype == AIRY_DTYPE_F64;
    airy_status status =
        real ? airy_memory_calloc((void **)&arrays->corners, d->height * d->width,
                                  AIRY_CORNER_VALUES * sizeof(float), "the corners of pixels")
             : airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s: %s is %s, expected floats",
                            d->file, entry->path, airy_dtype_name(image.dtype));
    if (status == AIRY_OK)
        take_corners(arrays->corners, d, &image, fold);
    airy_image_free(&image);
    return status;
}

static airy_status read_mask(struct airy_detector_arrays *arrays, const airy_detector *d,
                             const struct nexus *nexus)
{
    const airy_hdf5_entry *entry = find_entry(nexus, "mask");
    size_t fold[2];
    AIRY_TRY(airy_memory_calloc((void **)&arrays->bad, d->height, d->width, "the mask"));
    if (!entry)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(entry->ndim != 2, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: %s is not [rows, columns]", d->file, entry->path);
    AIRY_TRY(check_fold(fold, d, entry));
    airy_image image = {0};
    AIRY_TRY(read_values(&image, nexus, "mask"));
    for (size_t y = 0; y < fold[0] * d->height; y++)
        for (size_t x = 0; x < fold[1] * d->width; x++)
            if (airy_image_value(&image, y * image.shape[1] + x) != 0)
                arrays->bad[y / fold[0] * d->width + x / fold[1]] = 1;
    airy_image_free(&image);
    return AIRY_OK;
}

/* Mask pixels without finite corners; fail where a corner is too far away for any detector. */
static airy_status check_corners(struct airy_detector_arrays *arrays, const airy_detector *d)
{
    const bool flip1 = d->orientation == 1 || d->orientation == 2,
               flip2 = d->orientation == 1 || d->orientation == 4;
    size_t lost = 0;
    for (size_t i = 0; i < d->height; i++)
        for (size_t j = 0; j < d->width; j++) {
            const float *pixel = arrays->corners + (i * d->width + j) * AIRY_CORNER_VALUES;
            float most = 0;
            bool finite = true;
            for (size_t k = 0; k < AIRY_CORNER_VALUES; k++) {
                finite = finite && isfinite(pixel[k]);
                most = fmaxf(most, fabsf(pixel[k]));
            }
            const size_t y = flip1 ? d->height - 1 - i : i, x = flip2 ? d->width - 1 - j : j;
            uint8_t *bad = &arrays->bad[y * d->width + x];
            lost += !finite && !*bad;
            *bad |= !finite;
            AIRY_FAIL_ON_IF(!*bad && most > 1e4f, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                            "%s: a corner of pixel %zu, %zu is %g m off, expected at most 10 km",
                            d->file, i, j, (double)most);
        }
    if (lost > 0)
        airy_log(AIRY_LOG_WARN, "%s: %zu pixels without finite corners are masked", d->file, lost);
    return AIRY_OK;
}

static airy_status fill_from_file(struct airy_detector_arrays *arrays, const airy_detector *d)
{
    struct nexus nexus;
    airy_hdf5_entry *entries = NULL;
    airy_status status = open_nexus(&nexus, &entries, d->file);
    if (status == AIRY_OK)
        status = check_pixel_corners(&nexus);
    if (status == AIRY_OK)
        status = read_mask(arrays, d, &nexus);
    if (status == AIRY_OK)
        status = read_corners(arrays, d, &nexus);
    if (status == AIRY_OK && arrays->corners)
        status = check_corners(arrays, d);
    airy_hdf5_list_free(entries);
    return status;
}

airy_status airy_detector_open(airy_detector_arrays **arrays, airy_detector *detector)
{
    AIRY_FAIL_IF(!arrays, AIRY_ERR_PARAM, "airy_detector_open: arrays is NULL");
    AIRY_FAIL_IF(!detector, AIRY_ERR_PARAM, "airy_detector_open: detector is NULL");
    if (!airy_detector_needs_arrays(detector)) {
        *arrays = NULL;
        return AIRY_OK;
    }
    AIRY_FAIL_IF(detector->height == 0 || detector->width == 0 || detector->height > MAX_SIDE ||
                     detector->width > MAX_SIDE,
                 AIRY_ERR_SHAPE, "detector of %zu x %zu pixels, expected 1 to %d along each axis",
                 detector->height, detector->width, (int)MAX_SIDE);
    airy_detector_arrays *made = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof *made, "a detector"));
    const airy_status status =
        detector->file[0]
            ? fill_from_file(made, detector)
            : airy_positions_of_chips(made, detector, airy_detector_entry_find(detector->name));
    if (status != AIRY_OK) {
        airy_detector_arrays_destroy(&made);
        return status;
    }
    detector->corners = made->corners;
    detector->bad = made->bad;
    *arrays = made;
    return AIRY_OK;
}
