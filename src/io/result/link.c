/*
 * Several integrated files as one, by HDF5 virtual datasets.
 *
 * The objects of the first file are made again: what has a value for each row becomes a virtual
 * dataset over all files, everything else is copied. Objects with several names (the NXazint groups,
 * intensity_errors) have them again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/pipeline.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/sink.h"
#include "io/hdf5/external.h"
#include "io/hdf5/put.h"
#include "io/hdf5/sources.h"
#include "io/result/layout.h"
#include "io/file/plain_file.h"

enum {
    OBJECTS_MAX = 256 + 4 * AIRY_FRAME_VALUES_MAX,
    PATH_BYTES = 256,
    METADATA_BYTES = 64 << 10,
    AXIS_MAX = 1 << 22,
    ATTRIBUTE_VALUES = 64,
    ATTRIBUTE_BYTES = 64 << 10 /* of one value */
};

/* An object of the first file. */
struct object {
    haddr_t address;
    char path[PATH_BYTES]; /* in the files */
    char made[PATH_BYTES]; /* its first name in the new one; "": it is not there yet */
    bool rows;             /* has a value for each row */
};

struct link {
    const char *const *inputs;
    size_t count;
    hsize_t *rows; /* [count] */
    hsize_t total;
    hid_t first, to;
    struct airy_sink sink;
    struct object objects[OBJECTS_MAX];
    size_t object_count;
    airy_status status; /* of the first failure that is not libhdf5's */
};

/* Names relative to the folder of the new file, where they lie in it: it may be moved as a whole. */
static const char *name_beside(const char *path, const char *input)
{
    const char *slash = strrchr(path, '/'), *other = strrchr(input, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0,
                 m = other ? (size_t)(other - input) + 1 : 0;
    return n == m && strncmp(path, input, n) == 0 ? input + m : input;
}

/* Rows of a file, by its frame/status. */
static airy_status count_rows(hsize_t *rows, const char *path)
{
    hid_t file;
    AIRY_TRY(airy_hdf5_open(&file, path));
    const hid_t dataset = airy_hdf5_dataset(file, "/entry/integrate/frame/status"),
                space = dataset < 0 ? -1 : H5Dget_space(dataset);
    const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_dims(space, rows, NULL) == 1 && *rows > 0;
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Fclose(file);
    AIRY_FAIL_ON_IF(!good, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s' is no integrated file", path);
    return AIRY_OK;
}

static struct object *find_object(struct link *link, haddr_t address)
{
    for (size_t i = 0; i < link->object_count; i++)
        if (link->objects[i].address == address)
            return &link->objects[i];
    return NULL;
}

static struct object *add_object(struct link *link, haddr_t address, const char *path)
{
    if (link->object_count == OBJECTS_MAX || strlen(path) >= PATH_BYTES) {
        link->status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                                    "'%s' has more or deeper objects than expected",
                                    link->inputs[0]);
        return NULL;
    }
    struct object *object = &link->objects[link->object_count++];
    *object = (struct object){.address = address};
    snprintf(object->path, sizeof(object->path), "%s", path);
    return object;
}

/* Shape of a dataset; -1 when it cannot be had. */
static int shape_of(hid_t dataset, hsize_t shape[H5S_MAX_RANK])
{
    const hid_t space = H5Dget_space(dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    if (space >= 0)
        H5Sclose(space);
    return ndim;
}

/* Note a dataset whose rows are those of the file: as many dimensions as `like`, or any. */
static void note_rows(struct link *link, const char *path, int like)
{
    hsize_t shape[H5S_MAX_RANK];
    H5O_info_t info;
    if (!airy_hdf5_exists(link->first, path))
        return;
    const hid_t dataset = airy_hdf5_dataset(link->first, path);
    const int ndim = dataset < 0 ? -1 : shape_of(dataset, shape);
    const bool rows = ndim > 0 && shape[0] == link->rows[0] && (like == 0 || ndim == like) &&
                      H5Oget_info2(dataset, &info, H5O_INFO_BASIC) >= 0;
    if (dataset >= 0)
        H5Dclose(dataset);
    struct object *object =
        rows && !find_object(link, info.addr) ? add_object(link, info.addr, path) : NULL;
    if (object)
        object->rows = true;
}

static herr_t note_frame(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    char path[PATH_BYTES];
    (void)group;
    (void)info;
    snprintf(path, sizeof(path), "/entry/integrate/frame/%.200s", name);
    if (strcmp(name, "roi") != 0)
        note_rows(user, path, 0);
    return 0;
}

/* What has rows: known by its name, as bins and rows may be equally many. */
static herr_t find_rows(struct link *link)
{
    static const char *const values[] = {"result/intensity", "result/std", "result/sem",
                                         "merged/sum_signal", "merged/sum_variance"};
    static const char *const norms[] = {"sum_normalization", "sum_normalization2", "count"};
    char path[PATH_BYTES];
    hsize_t shape[H5S_MAX_RANK];
    const hid_t signal = airy_hdf5_dataset(link->first, "/entry/integrate/merged/sum_signal");
    const int ndim = signal < 0 ? -1 : shape_of(signal, shape);
    if (signal >= 0)
        H5Dclose(signal);
    if (ndim < 2)
        return -1;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        snprintf(path, sizeof(path), "/entry/integrate/%s", values[i]);
        note_rows(link, path, ndim);
    }
    for (size_t i = 0; i < sizeof(norms) / sizeof(norms[0]); i++) {
        snprintf(path, sizeof(path), "/entry/integrate/merged/%s", norms[i]);
        note_rows(link, path, ndim);
    }
    return H5Literate_by_name(link->first, "/entry/integrate/frame", H5_INDEX_NAME, H5_ITER_INC,
                              NULL, note_frame, link, H5P_DEFAULT);
}

/* Objects have few attributes, all texts and small numbers. */
static herr_t copy_attribute(hid_t from, const char *name, const H5A_info_t *info, void *to)
{
    (void)info;
    const hid_t attribute = H5Aopen(from, name, H5P_DEFAULT);
    const hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute),
                space = attribute < 0 ? -1 : H5Aget_space(attribute);
    const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    const bool few = type >= 0 && count >= 0 && count <= ATTRIBUTE_VALUES &&
                     H5Tget_size(type) <= ATTRIBUTE_BYTES;
    void *data = few ? calloc((size_t)count + 1, H5Tget_size(type)) : NULL;
    herr_t done = data ? H5Aread(attribute, type, data) : -1;
    if (done >= 0) {
        const hid_t copy = H5Acreate2(*(hid_t *)to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        done = copy < 0 ? -1 : H5Awrite(copy, type, data);
        if (copy >= 0)
            H5Aclose(copy);
        if (H5Tis_variable_str(type) > 0)
            H5Dvlen_reclaim(type, space, H5P_DEFAULT, data);
    }
    free(data);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return done;
}

static herr_t copy_attributes(hid_t from, hid_t to)
{
    return H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, &to);
}

/* What a row shows while its file is not there: pending, without values. */
static herr_t set_fill(hid_t creation, hid_t type, const char *path)
{
    static const int32_t pending = -1;
    static const double nan = (double)NAN;
    if (H5Tget_class(type) == H5T_FLOAT)
        return H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &nan);
    if (strcmp(path, "/entry/integrate/frame/status") == 0)
        return H5Pset_fill_value(creation, H5T_NATIVE_INT32, &pending);
    return 0;
}

/* The i-th file's rows of a dataset of this shape. */
static herr_t map_file(const struct link *link, hid_t creation, const char *path, size_t i,
                       int ndim, const hsize_t *shape)
{
    hsize_t start[H5S_MAX_RANK] = {0}, all[H5S_MAX_RANK], part[H5S_MAX_RANK];
    memcpy(all, shape, (size_t)ndim * sizeof(*shape));
    memcpy(part, shape, (size_t)ndim * sizeof(*shape));
    all[0] = link->total;
    part[0] = link->rows[i];
    for (size_t k = 0; k < i; k++)
        start[0] += link->rows[k];
    const hid_t to = H5Screate_simple(ndim, all, NULL), from = H5Screate_simple(ndim, part, NULL);
    const bool ready = to >= 0 && from >= 0 &&
                       H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, part, NULL) >= 0;
    const herr_t done = ready ? airy_put_virtual(creation, to, link->inputs[i], path, from) : -1;
    if (to >= 0)
        H5Sclose(to);
    if (from >= 0)
        H5Sclose(from);
    return done;
}

static herr_t make_virtual(struct link *link, const struct object *object, hid_t from)
{
    hsize_t shape[H5S_MAX_RANK];
    const int ndim = shape_of(from, shape);
    const hid_t type = H5Dget_type(from), creation = airy_put_creation();
    herr_t done = ndim < 1 || type < 0 || creation < 0 ? -1
                                                       : set_fill(creation, type, object->path);
    for (size_t i = 0; i < link->count && done >= 0; i++)
        done = map_file(link, creation, object->path, i, ndim, shape);
    hid_t space = -1, dataset = -1;
    if (done >= 0) {
        shape[0] = link->total;
        space = H5Screate_simple(ndim, shape, NULL);
        dataset = space < 0 ? -1
                            : H5Dcreate2(link->to, object->made, type, space, H5P_DEFAULT, creation,
                                         H5P_DEFAULT);
        done = dataset < 0 ? -1 : copy_attributes(from, dataset);
    }
    if (dataset >= 0)
        H5Dclose(dataset);
    if (space >= 0)
        H5Sclose(space);
    if (creation >= 0)
        H5Pclose(creation);
    if (type >= 0)
        H5Tclose(type);
    return done;
}

static herr_t make_group(struct link *link, const char *path);

static herr_t make_object(struct link *link, const struct object *object, H5O_type_t type)
{
    if (type == H5O_TYPE_GROUP)
        return make_group(link, object->made);
    if (!object->rows)
        return H5Ocopy(link->first, object->path, link->to, object->made, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t from = airy_hdf5_dataset(link->first, object->path);
    const herr_t done = from < 0 ? -1 : make_virtual(link, object, from);
    if (from >= 0)
        H5Dclose(from);
    return done;
}

struct visit {
    struct link *link;
    const char *path;
};

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *unused, void *user)
{
    const struct visit *visit = user;
    struct link *link = visit->link;
    char path[PATH_BYTES];
    H5O_info_t info;
    (void)unused;
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", visit->path, name) >= sizeof(path) ||
        H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return -1;
    struct object *object = find_object(link, info.addr);
    if (object && *object->made)
        return H5Lcreate_hard(link->to, object->made, link->to, path, H5P_DEFAULT, H5P_DEFAULT);
    if (!object)
        object = add_object(link, info.addr, path);
    if (!object)
        return -1;
    snprintf(object->made, sizeof(object->made), "%s", path);
    return make_object(link, object, info.type);
}

static herr_t make_group(struct link *link, const char *path)
{
    const bool root = !*path;
    const hid_t from = H5Gopen2(link->first, root ? "/" : path, H5P_DEFAULT);
    const hid_t to = root ? H5Gopen2(link->to, "/", H5P_DEFAULT)
                          : H5Gcreate2(link->to, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    struct visit visit = {link, path};
    herr_t done = from < 0 || to < 0 ? -1 : copy_attributes(from, to);
    if (done >= 0)
        done = H5Literate(from, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &visit);
    if (to >= 0)
        H5Gclose(to);
    if (from >= 0)
        H5Gclose(from);
    return done;
}

/* The names of the inputs, one a line; malloc'ed. */
static char *join_names(const struct link *link)
{
    size_t size = 1;
    for (size_t i = 0; i < link->count; i++)
        size += strlen(link->inputs[i]) + 1;
    char *text = calloc(1, size), *at = text;
    for (size_t i = 0; text && i < link->count; i++)
        at += snprintf(at, size - (size_t)(at - text), "%s%s", i ? "\n" : "", link->inputs[i]);
    return text;
}

static herr_t put_names(struct link *link)
{
    const hid_t group = H5Gopen2(link->to, "/entry/integrate", H5P_DEFAULT);
    char *text = join_names(link);
    herr_t done = -1;
    if (group >= 0 && text && H5Lexists(group, "files", H5P_DEFAULT) <= 0)
        done = airy_put_string(group, "files", text);
    free(text);
    if (group >= 0)
        H5Gclose(group);
    return done;
}

/* Numbers of an axis, malloc'ed; NULL where the file has no such axis. */
static double *read_axis(size_t *count, hid_t file, const char *axis)
{
    double *values = NULL;
    hsize_t shape[H5S_MAX_RANK] = {0};
    const hid_t dataset = airy_hdf5_exists(file, axis) ? airy_hdf5_dataset(file, axis) : -1;
    *count = 0;
    if (dataset >= 0 && shape_of(dataset, shape) == 1 && shape[0] <= AXIS_MAX)
        values = malloc((size_t)(shape[0] + 1) * sizeof(*values));
    if (values && airy_hdf5_read(dataset, AIRY_DTYPE_F64, H5S_ALL, H5S_ALL, values) >= 0)
        *count = (size_t)shape[0];
    if (dataset >= 0)
        H5Dclose(dataset);
    return values;
}

static airy_status check_axis(const struct link *link, hid_t file, const char *path,
                              const char *axis)
{
    size_t n[2];
    double *values[2] = {read_axis(&n[0], link->first, axis), read_axis(&n[1], file, axis)};
    const bool same = !values[0] == !values[1] && n[0] == n[1] &&
                      (n[0] == 0 || memcmp(values[0], values[1], n[0] * sizeof(double)) == 0);
    free(values[0]);
    free(values[1]);
    AIRY_FAIL_IF(!same, AIRY_ERR_FORMAT, "%s of '%s' is not that of '%s'", axis, path,
                 link->inputs[0]);
    return AIRY_OK;
}

/* Made with the same parameters, on the same axes. */
static airy_status check_parameters(const struct link *link, hid_t file, const char *path)
{
    char *first = NULL, *other = NULL, owners[2][1024];
    snprintf(owners[0], sizeof(owners[0]), "'%s'", path);
    snprintf(owners[1], sizeof(owners[1]), "'%s'", link->inputs[0]);
    airy_status status = airy_pattern_fingerprint(&first, link->first);
    if (status == AIRY_OK)
        status = airy_pattern_fingerprint(&other, file);
    if (status == AIRY_OK)
        status = airy_fingerprint_compare((struct airy_fingerprint_of){other, owners[0]},
                                          (struct airy_fingerprint_of){first, owners[1]}, false);
    free(first);
    free(other);
    if (status != AIRY_OK)
        return airy_fail_context(status, "'%s' cannot be linked with '%s'", path, link->inputs[0]);
    AIRY_TRY(check_axis(link, file, path, "/entry/integrate/result/radial"));
    return check_axis(link, file, path, "/entry/integrate/result/azimuthal");
}

/* Every dataset with rows is in the other files, too, of the same shape but for them. */
static airy_status check_other(const struct link *link, size_t i, const char *path)
{
    hid_t file;
    AIRY_TRY(airy_hdf5_open(&file, path));
    airy_status status = check_parameters(link, file, path);
    for (size_t k = 0; k < link->object_count && status == AIRY_OK; k++) {
        hsize_t a[H5S_MAX_RANK], b[H5S_MAX_RANK];
        const struct object *object = &link->objects[k];
        if (!object->rows)
            continue;
        const hid_t want = airy_hdf5_dataset(link->first, object->path),
                    have = airy_hdf5_exists(file, object->path)
                               ? airy_hdf5_dataset(file, object->path)
                               : -1;
        const int ndim = want < 0 ? -1 : shape_of(want, a);
        if (have < 0 || ndim < 1 || shape_of(have, b) != ndim || b[0] != link->rows[i] ||
            memcmp(a + 1, b + 1, (size_t)(ndim - 1) * sizeof(*a)) != 0)
            status = airy_fail(AIRY_ERR_FORMAT, "%s of '%s' is not as in '%s'", object->path, path,
                               link->inputs[0]);
        if (want >= 0)
            H5Dclose(want);
        if (have >= 0)
            H5Dclose(have);
    }
    H5Fclose(file);
    return status;
}

/* The lock is held. names: of the inputs as they are opened; link->inputs: as the file has them. */
static airy_status fill(struct link *link, const char *path, const char *const *names)
{
    for (size_t i = 0; i < link->count; i++) {
        AIRY_TRY(count_rows(&link->rows[i], names[i]));
        link->total += link->rows[i];
    }
    AIRY_TRY(airy_hdf5_open(&link->first, names[0]));
    if (find_rows(link) < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s' is no integrated file",
                              names[0]);
    for (size_t i = 1; i < link->count; i++)
        AIRY_TRY(check_other(link, i, names[i]));
    AIRY_TRY(airy_sink_create(&link->to, &link->sink, path, METADATA_BYTES));
    if (make_group(link, "") < 0 || put_names(link) < 0)
        return link->status != AIRY_OK
                   ? link->status
                   : airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot lay out '%s'", path);
    return AIRY_OK;
}

static airy_status write_link(struct link *link, const char *path, const char *const *names)
{
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = fill(link, path, names);
    if (link->first >= 0)
        H5Fclose(link->first);
    if (link->to >= 0 && airy_hdf5_close(link->to) < 0 && status == AIRY_OK)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", path);
    if (link->sink.error)
        status = airy_sink_result(&link->sink, path);
    airy_hdf5_unlock();
    return status;
}

airy_status airy_patterns_link(const char *path, const char *const *inputs, size_t count,
                               bool force)
{
    AIRY_FAIL_IF(!path || !*path || !inputs || count == 0, AIRY_ERR_PARAM,
                 "airy_patterns_link: path or inputs is empty");
    struct link *link = NULL;
    const char **names = NULL;
    char *unfinished = NULL;
    airy_status status;
    AIRY_TRY(airy_memory_calloc((void **)&link, 1, sizeof(*link), "names of a file"));
    link->first = link->to = -1;
    link->count = count;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&names, count, sizeof(*names), "names of files"));
    AIRY_TRY_OR(
        out, airy_memory_calloc((void **)&link->rows, count, sizeof(*link->rows), "rows of files"));
    for (size_t i = 0; i < count; i++)
        names[i] = name_beside(path, inputs[i]);
    link->inputs = names;
    AIRY_TRY_OR(out, airy_file_begin(&unfinished, path));
    status = write_link(link, unfinished, inputs);
    if (status == AIRY_OK)
        status = airy_file_rename(unfinished, path, force);
    if (status != AIRY_OK)
        airy_file_remove(unfinished);
out:
    free(unfinished);
    free(names);
    free(link->rows);
    free(link);
    return status;
}
