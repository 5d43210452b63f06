/* Maps of a scan's grid in the integrated file: images of a number of each frame. */
#include <stdio.h>

#include "base/error.h"
#include "io/hdf5/put.h"
#include "io/hdf5/sources.h"
#include "io/result/layout.h"
#include "io/result/nxazint.h"

size_t airy_pattern_map_count(const struct airy_pattern_spec *spec)
{
    return spec->grid[0] ? 1 + 2 * spec->roi_count : 0;
}

/* "total", "roi_0", "roi_0_mean", "roi_1", ... */
static void name_map(char name[32], size_t map)
{
    if (map == 0)
        snprintf(name, 32, "total");
    else
        snprintf(name, 32, "roi_%zu%s", (map - 1) / 2, map % 2 ? "" : "_mean");
}

static void describe_map(char *text, size_t size, const struct airy_pattern_spec *spec, size_t map)
{
    if (map == 0) {
        snprintf(text, size, "sum of the raw values of the valid pixels");
        return;
    }
    const airy_roi *roi = &spec->rois[(map - 1) / 2];
    char chi[80] = "";
    if (roi->has_azimuth)
        snprintf(chi, sizeof(chi), ", %g to %g of %s", roi->azimuth[0], roi->azimuth[1],
                 airy_unit_turn(spec->azimuth_unit) > 0 ? "chi (deg)"
                                                        : airy_unit_label(spec->azimuth_unit));
    snprintf(text, size, "%s in %g to %g of %s%s", map % 2 ? "counts" : "intensity", roi->radial[0],
             roi->radial[1], airy_unit_label(spec->unit), chi);
}

static herr_t put_map(struct airy_pattern_layout *layout, hid_t group, size_t map,
                      const struct airy_pattern_spec *spec)
{
    const hsize_t shape[2] = {spec->grid[0], spec->grid[1]};
    char name[32], text[200];
    name_map(name, map);
    describe_map(text, sizeof(text), spec, map);
    const hid_t dataset = airy_put_contiguous(group, name, H5T_NATIVE_DOUBLE, 2, shape);
    if (dataset < 0)
        return -1;
    layout->map[map] = H5Dget_offset(dataset);
    const herr_t done = airy_put_text(dataset, "long_name", text) < 0 ||
                                airy_put_text(dataset, "interpretation", "image") < 0
                            ? -1
                            : 0;
    H5Dclose(dataset);
    return done;
}

/* The first region, or the total, is what viewers show first. */
herr_t airy_pattern_put_maps(struct airy_pattern_layout *layout, hid_t integrate,
                             const struct airy_pattern_spec *spec)
{
    const size_t count = airy_pattern_map_count(spec);
    char names[AIRY_PATTERN_MAPS][32];
    const char *others[AIRY_PATTERN_MAPS];
    const size_t signal = count > 1 ? 1 : 0;
    size_t n = 0;
    const hid_t group = airy_put_group(integrate, "map", airy_pattern_data_class(spec));
    herr_t done = group < 0 ? -1 : 0;
    for (size_t m = 0; m < count && done >= 0; m++) {
        done = put_map(layout, group, m, spec);
        name_map(names[m], m);
        if (m != signal)
            others[n++] = names[m];
    }
    if (done >= 0)
        done = airy_put_text(group, "signal", names[signal]);
    if (done >= 0 && n)
        done = airy_put_texts(group, "auxiliary_signals", others, n);
    if (group >= 0)
        H5Gclose(group);
    return done;
}

airy_status airy_pattern_find_maps(struct airy_pattern_layout *layout, hid_t root,
                                   const struct airy_pattern_spec *spec)
{
    AIRY_FAIL_IF((H5Lexists(root, "entry/integrate/map", H5P_DEFAULT) > 0) != (spec->grid[0] > 0),
                 AIRY_ERR_FORMAT, "it has %s map, this run %s", spec->grid[0] ? "no" : "a",
                 spec->grid[0] ? "one" : "none");
    for (size_t m = 0; m < airy_pattern_map_count(spec); m++) {
        char name[32], path[64];
        name_map(name, m);
        snprintf(path, sizeof(path), "entry/integrate/map/%s", name);
        const hid_t dataset = H5Lexists(root, path, H5P_DEFAULT) > 0 ? airy_hdf5_dataset(root, path)
                                                                     : -1;
        const hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset),
                    space = dataset < 0 ? -1 : H5Dget_space(dataset);
        hsize_t have[H5S_MAX_RANK] = {0};
        const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, have, NULL);
        const bool fits = ndim == 2 && have[0] == spec->grid[0] && have[1] == spec->grid[1] &&
                          type >= 0 && H5Tequal(type, H5T_NATIVE_DOUBLE) > 0;
        const haddr_t offset = dataset < 0 ? HADDR_UNDEF : H5Dget_offset(dataset);
        if (space >= 0)
            H5Sclose(space);
        if (type >= 0)
            H5Tclose(type);
        if (dataset >= 0)
            H5Dclose(dataset);
        AIRY_FAIL_IF(!fits || offset == HADDR_UNDEF || offset == 0 || offset > layout->end ||
                         8 * spec->grid[0] * spec->grid[1] > layout->end - offset,
                     AIRY_ERR_FORMAT, "its %s is not a map of %zu x %zu", path, spec->grid[0],
                     spec->grid[1]);
        layout->map[m] = offset;
    }
    return AIRY_OK;
}
