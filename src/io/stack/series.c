/*
 * How many frames a data file had that is missing, or cut in front of its dataset: what the master
 * and the other files say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/hdf5/sources.h"
#include "io/stack/internal.h"

/* One dataset of a series. */
struct part {
    size_t frames;      /* 0: cannot be opened */
    uint64_t low, high; /* numbers of its first and last image; 0: not said */
};

static uint64_t read_attribute(hid_t dataset, const char *name)
{
    uint64_t value = 0;
    const hid_t attribute = H5Aexists(dataset, name) > 0 ? H5Aopen(dataset, name, H5P_DEFAULT) : -1;
    if (attribute < 0)
        return 0;
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    if (space < 0 || type < 0 || H5Sget_simple_extent_npoints(space) != 1 ||
        H5Tget_class(type) != H5T_INTEGER || H5Aread(attribute, H5T_NATIVE_UINT64, &value) < 0)
        value = 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    H5Aclose(attribute);
    return value;
}

static struct part get_part(hid_t file, const char *name)
{
    struct part part = {0, 0, 0};
    hsize_t shape[H5S_MAX_RANK];
    const hid_t dataset = airy_hdf5_dataset_own(file, name);
    if (dataset < 0)
        return part;
    const hid_t space = H5Dget_space(dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    part.frames = ndim >= 2;
    for (int axis = 0; axis < ndim - 2; axis++)
        if (airy_mul_size(&part.frames, part.frames, shape[axis]))
            part.frames = 0;
    part.low = read_attribute(dataset, "image_nr_low");
    part.high = read_attribute(dataset, "image_nr_high");
    if (space >= 0)
        H5Sclose(space);
    H5Dclose(dataset);
    return part;
}

/* A count of the master; 0 where it is not one sensible number. */
static size_t read_count(hid_t file, const char *name)
{
    double value = 0;
    if (!airy_hdf5_exists(file, name))
        return 0;
    const hid_t dataset = airy_hdf5_dataset(file, name);
    if (dataset < 0)
        return 0;
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const bool good = space >= 0 && type >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                      H5Tget_class(type) == H5T_INTEGER &&
                      airy_hdf5_read(dataset, AIRY_DTYPE_F64, H5S_ALL, H5S_ALL, &value) >= 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    H5Dclose(dataset);
    return good && value >= 1 && value <= AIRY_STACK_MAX_FRAMES ? (size_t)value : 0;
}

/*
 * Files are filled in order: all but the last hold the same number; the last one holds what is
 * left of the total.
 */
static size_t infer(const struct part *parts, size_t count, size_t index, size_t total)
{
    const struct part *before = index > 0 ? &parts[index - 1] : NULL, *after = &parts[index + 1];
    if (index + 1 < count && after->low > 0 && (!before || before->high > 0)) {
        const uint64_t high = before ? before->high : 0;
        if (after->low > high + 1 && after->low - high - 1 <= AIRY_STACK_MAX_FRAMES)
            return (size_t)(after->low - high - 1);
    }
    size_t each = 0, sum = 0;
    bool equal = true;
    for (size_t i = 0; i + 1 < count; i++) {
        equal = equal && (each == 0 || parts[i].frames == 0 || parts[i].frames == each);
        each = airy_max_size(each, parts[i].frames);
    }
    const size_t last = parts[count - 1].frames;
    if (each == 0 && last > 0 && total > last && (total - last) % (count - 1) == 0)
        each = (total - last) / (count - 1); /* the last one alone is there */
    for (size_t i = 0; i + 1 < count; i++)
        sum += parts[i].frames ? parts[i].frames : each;
    if (index + 1 < count)
        return equal ? each : 0;
    return equal && each > 0 && total > sum && total - sum <= each ? total - sum : 0;
}

size_t airy_stack_series_total(hid_t file)
{
    static const char group[] = "/entry/instrument/detector/detectorSpecific";
    char images[64], triggers[64];
    snprintf(images, sizeof(images), "%s/nimages", group);
    snprintf(triggers, sizeof(triggers), "%s/ntrigger", group);
    size_t total = read_count(file, images);
    const size_t times = read_count(file, triggers);
    if (airy_mul_size(&total, total, times ? times : 1) || total > AIRY_STACK_MAX_FRAMES)
        total = 0;
    return total;
}

airy_status airy_stack_series_frames(size_t *frames, const struct stack_choice *series,
                                     size_t count, size_t index)
{
    hid_t file;
    struct part *parts;
    AIRY_TRY(airy_hdf5_open(&file, series[0].path));
    airy_status status =
        airy_memory_calloc((void **)&parts, count, sizeof(*parts), "a series of data files");
    if (status == AIRY_OK) {
        for (size_t i = 0; i < count; i++)
            parts[i] = get_part(file, series[i].dataset);
        *frames = parts[index].frames ? parts[index].frames
                                      : infer(parts, count, index, airy_stack_series_total(file));
        free(parts);
    }
    H5Fclose(file);
    return status;
}
