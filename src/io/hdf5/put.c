#include "io/hdf5/put.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static hid_t text_type(size_t size)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

static herr_t put_attribute(hid_t object, const char *name, hid_t type, hid_t space,
                            const void *value)
{
    herr_t done = -1;
    const hid_t attribute = type < 0 || space < 0
                                ? -1
                                : H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        done = H5Awrite(attribute, type, value);
        H5Aclose(attribute);
    }
    if (space >= 0)
        H5Sclose(space);
    return done;
}

herr_t airy_put_text(hid_t object, const char *name, const char *text)
{
    const hid_t type = text_type(H5T_VARIABLE);
    const herr_t done = put_attribute(object, name, type, H5Screate(H5S_SCALAR), &text);
    if (type >= 0)
        H5Tclose(type);
    return done;
}

herr_t airy_put_texts(hid_t object, const char *name, const char *const *texts, size_t count)
{
    const hsize_t shape = count;
    const hid_t type = text_type(H5T_VARIABLE);
    const herr_t done = put_attribute(object, name, type, H5Screate_simple(1, &shape, NULL), texts);
    if (type >= 0)
        H5Tclose(type);
    return done;
}

herr_t airy_put_int(hid_t object, const char *name, int value)
{
    return put_attribute(object, name, H5T_NATIVE_INT, H5Screate(H5S_SCALAR), &value);
}

hid_t airy_put_group(hid_t parent, const char *name, const char *nx_class)
{
    const bool there = H5Lexists(parent, name, H5P_DEFAULT) > 0;
    const hid_t group = there ? H5Gopen2(parent, name, H5P_DEFAULT)
                              : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool has_class = there && group >= 0 && H5Aexists(group, "NX_class") > 0;
    if (group >= 0 && !has_class && airy_put_text(group, "NX_class", nx_class) < 0) {
        H5Gclose(group);
        return -1;
    }
    return group;
}

herr_t airy_put_data_classes(hid_t file, const char *signal)
{
    if (airy_put_text(file, "NX_class", "NXroot") < 0 ||
        airy_put_text(file, "default", "entry") < 0)
        return -1;
    const hid_t entry = airy_put_group(file, "entry", "NXentry");
    const hid_t data = entry < 0 || airy_put_text(entry, "default", "data") < 0
                           ? -1
                           : airy_put_group(entry, "data", "NXdata");
    const herr_t done = data < 0 ? -1 : airy_put_text(data, "signal", signal);
    if (data >= 0)
        H5Gclose(data);
    if (entry >= 0)
        H5Gclose(entry);
    return done;
}

hid_t airy_put_creation(void)
{
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (creation >= 0 && H5Pset_obj_track_times(creation, false) < 0) {
        H5Pclose(creation);
        return -1;
    }
    return creation;
}

hid_t airy_put_contiguous(hid_t parent, const char *name, hid_t type, int ndim,
                          const hsize_t *shape)
{
    hid_t dataset = -1;
    const hid_t creation = airy_put_creation();
    const hid_t space = ndim ? H5Screate_simple(ndim, shape, NULL) : H5Screate(H5S_SCALAR);
    if (type >= 0 && creation >= 0 && space >= 0 && H5Pset_layout(creation, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0)
        dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return dataset;
}

static herr_t put_scalar(hid_t parent, const char *name, hid_t type, const void *value,
                         const char *units)
{
    const hid_t dataset = airy_put_contiguous(parent, name, type, 0, NULL);
    if (dataset < 0)
        return -1;
    herr_t done = H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    if (done >= 0 && units)
        done = airy_put_text(dataset, "units", units);
    H5Dclose(dataset);
    return done;
}

herr_t airy_put_string(hid_t parent, const char *name, const char *text)
{
    const hid_t type = text_type(strlen(text) + 1);
    const herr_t done = type < 0 ? -1 : put_scalar(parent, name, type, text, NULL);
    if (type >= 0)
        H5Tclose(type);
    return done;
}

herr_t airy_put_double(hid_t parent, const char *name, double value, const char *units)
{
    return put_scalar(parent, name, H5T_NATIVE_DOUBLE, &value, units);
}

herr_t airy_put_count(hid_t parent, const char *name, uint64_t value)
{
    return put_scalar(parent, name, H5T_NATIVE_UINT64, &value, NULL);
}

/* Each '%' twice. */
static char *escape_format(const char *path)
{
    char *escaped = malloc(2 * strlen(path) + 1), *to = escaped;
    for (; escaped && *path; path++) {
        *to++ = *path;
        if (*path == '%')
            *to++ = '%';
    }
    if (escaped)
        *to = 0;
    return escaped;
}

herr_t airy_put_virtual(hid_t creation, hid_t to, const char *file, const char *dataset, hid_t from)
{
    char *names[2] = {escape_format(file), escape_format(dataset)};
    const herr_t done =
        names[0] && names[1] ? H5Pset_virtual(creation, to, names[0], names[1], from) : -1;
    free(names[0]);
    free(names[1]);
    return done;
}

herr_t airy_put_program(hid_t process)
{
    char date[32];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return airy_put_string(process, "program", "airy") < 0 ||
                   airy_put_string(process, "version", airy_version()) < 0
               ? -1
               : airy_put_string(process, "date", date);
}

herr_t airy_put_process(hid_t process, const char *configuration)
{
    return airy_put_program(process) < 0
               ? -1
               : airy_put_string(process, "configuration", configuration ? configuration : "{}");
}
