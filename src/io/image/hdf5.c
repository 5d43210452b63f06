/* Single images, volumes and other arrays of HDF5 files, whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/image_memory.h"
#include "io/hdf5/scaling.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/sink.h"
#include "io/hdf5/put.h"
#include "io/hdf5/sources.h"
#include "io/image/formats.h"
#include "io/file/plain_file.h"
#include "io/hdf5/fields.h"

enum { METADATA_BYTES = 16 << 10 };

/* Of an image in two dimensions, which the file has as one frame of a stack: 2. */
static const char image_dimensions[] = "image_dimensions";

static bool is_one_image(hid_t dataset)
{
    int dimensions = 0;
    if (H5Aexists(dataset, image_dimensions) <= 0)
        return false;
    const hid_t attribute = H5Aopen(dataset, image_dimensions, H5P_DEFAULT);
    const hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute),
                type = attribute < 0 ? -1 : H5Aget_type(attribute);
    const bool read = space >= 0 && type >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                      H5Tget_class(type) == H5T_INTEGER &&
                      H5Aread(attribute, H5T_NATIVE_INT, &dimensions) >= 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return read && dimensions == 2;
}

static airy_status get_shape(airy_image *image, hid_t dataset, const char *what)
{
    hsize_t shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    const bool empty = space >= 0 && H5Sget_simple_extent_type(space) == H5S_NULL;
    if (space >= 0)
        H5Sclose(space);
    AIRY_FAIL_ON_IF(ndim < 0 || empty, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s holds no array",
                    what);
    const int most = AIRY_MAX_DIMS - image->is_complex;
    AIRY_FAIL_ON_IF(ndim > most, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
                    "%s has %d dimensions, expected at most %d", what, ndim, most);
    const int skipped = ndim == 3 && shape[0] == 1 && is_one_image(dataset);
    image->ndim = ndim ? ndim - skipped : 1;
    image->shape[0] = 1; /* a scalar */
    for (int axis = skipped; axis < ndim; axis++)
        image->shape[axis - skipped] = shape[axis];
    if (image->is_complex)
        image->shape[image->ndim++] = 2;
    return AIRY_OK;
}

/*
 * What was never written is no array of numbers. Of an image or a mask its writer may have meant
 * so by a fill value of its own; of frames none is taken for a measured one.
 */
static airy_status check_written(const airy_image *image, hid_t dataset, hid_t creation)
{
    H5D_fill_value_t kind = H5D_FILL_VALUE_UNDEFINED;
    const bool meant = image->ndim - image->is_complex <= 2 &&
                       H5Pfill_value_defined(creation, &kind) >= 0 &&
                       kind == H5D_FILL_VALUE_USER_DEFINED;
    if (meant)
        return airy_chunk_check(dataset, NULL, NULL);
    const airy_status status = airy_chunk_is_unwritten(dataset, creation)
                                   ? AIRY_ERR_UNWRITTEN
                                   : airy_chunk_check_written(dataset, NULL, NULL);
    AIRY_FAIL_IF(status == AIRY_ERR_UNWRITTEN, status, "it was never written, or not all of it");
    return status;
}

/* What an element becomes; pairs of complex numbers are a last axis. */
static airy_status get_type(airy_image *image, hid_t type, const char *what)
{
    bool native;
    image->is_complex = airy_hdf5_is_complex(&image->dtype, type);
    return image->is_complex ? AIRY_OK : airy_hdf5_dtype(&image->dtype, &native, type, what);
}

static airy_status read_values(airy_image *image, hid_t dataset, size_t bytes, const char *what)
{
    AIRY_TRY(airy_image_alloc(&image->data, bytes));
    AIRY_TRY(airy_sources_check_chunks(dataset, NULL, NULL, what));
    const hid_t element = airy_hdf5_element(image->dtype, image->is_complex);
    const airy_status status =
        element < 0 ? airy_hdf5_fail(AIRY_ERR_MEMORY, AIRY_SUBJECT_NONE, "its type cannot be made")
                    : airy_hdf5_read_keeping(NULL, dataset, element, H5S_ALL, H5S_ALL, image->data);
    if (element >= 0)
        H5Tclose(element);
    return status == AIRY_OK ? status : airy_fail_context(status, "%s", what);
}

static airy_status read_array(airy_image *image, hid_t dataset, const char *what)
{
    const hid_t type = H5Dget_type(dataset), creation = H5Dget_create_plist(dataset);
    airy_status status =
        type < 0 || creation < 0
            ? airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s cannot be read", what)
            : get_type(image, type, what);
    size_t bytes = 0;
    if (status == AIRY_OK)
        status = airy_filter_check(creation, what);
    if (status == AIRY_OK)
        status = get_shape(image, dataset, what);
    if (status == AIRY_OK)
        status = (image->ndim - image->is_complex > 2
                      ? airy_sources_check_written
                      : airy_sources_check)(dataset, NULL, NULL, what);
    if (status == AIRY_OK && airy_image_bytes(&bytes, image) != AIRY_OK)
        status = airy_fail_context(AIRY_ERR_SHAPE, "%s", what);
    if (status == AIRY_OK && (status = check_written(image, dataset, creation)) != AIRY_OK)
        status = airy_fail_context(status, "%s", what);
    if (type >= 0)
        H5Tclose(type);
    if (creation >= 0)
        H5Pclose(creation);
    AIRY_TRY(status);
    airy_hdf5_say_scaling(dataset, what);
    return read_values(image, dataset, bytes, what);
}

airy_status airy_image_read_dataset(airy_image *image, const char *path, const char *name)
{
    char what[1024];
    snprintf(what, sizeof(what), "%s::%s", path, name);
    hid_t file;
    AIRY_TRY(airy_hdf5_open(&file, path));
    airy_status status;
    const hid_t dataset = airy_hdf5_dataset_own(file, name);
    if (dataset < 0)
        status = airy_hdf5_fail(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_DATASET,
                                "%s cannot be opened as a dataset", what);
    else
        status = read_array(image, dataset, what);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Fclose(file);
    return status;
}

/*
 * name: NULL for the usual one, under which other programs expect stacks: an image in two
 * dimensions is a stack of one there.
 */
static herr_t put_array(hid_t file, const airy_image *image, const char *name)
{
    hsize_t shape[AIRY_MAX_DIMS + 1] = {1};
    const int ndim = image->ndim - image->is_complex, added = !name && ndim == 2;
    for (int axis = 0; axis < ndim; axis++)
        shape[axis + added] = image->shape[axis];
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), creation = airy_put_creation(),
                space = H5Screate_simple(ndim + added, shape, NULL);
    const hid_t type = airy_hdf5_element(image->dtype, image->is_complex);
    hid_t dataset = -1;
    if (type >= 0 && links >= 0 && creation >= 0 && space >= 0 &&
        H5Pset_create_intermediate_group(links, 1) >= 0)
        dataset = H5Dcreate2(file, name ? name : "/entry/data/data", type, space, links, creation,
                             H5P_DEFAULT);
    herr_t done = dataset < 0 ? -1
                              : H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, image->data);
    if (done >= 0 && added)
        done = airy_put_int(dataset, image_dimensions, 2) < 0
                   ? -1
                   : airy_put_text(dataset, "interpretation", "image");
    if (dataset >= 0)
        H5Dclose(dataset);
    if (type >= 0)
        H5Tclose(type);
    if (links >= 0)
        H5Pclose(links);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return done;
}

/* Of frames at the usual place: the detector, as a stack that is written has it. */
static herr_t put_about(hid_t file, const airy_image *image, const struct airy_image_about *about)
{
    const bool known = about->meta && about->meta->has_geometry;
    if (image->ndim < 2 || image->ndim > 3 || image->is_complex || (!known && !about->mask))
        return 0;
    const airy_stack_writer_params p = {.dtype = image->dtype,
                                        .frames = image->ndim == 3 ? image->shape[0] : 1,
                                        .height = image->shape[image->ndim - 2],
                                        .width = image->shape[image->ndim - 1],
                                        .dataset = "/entry/data/data",
                                        .geometry = known ? &about->meta->geometry : NULL,
                                        .mask = about->mask};
    return airy_stack_put_instrument(file, &p);
}

static airy_status write_partial(const airy_image *image, const char *partial, const char *name,
                                 const struct airy_image_about *about)
{
    struct airy_sink sink;
    hid_t file;
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_sink_create(&file, &sink, partial, METADATA_BYTES);
    if (status == AIRY_OK) {
        if ((!name && airy_put_data_classes(file, "data") < 0) ||
            put_array(file, image, name) < 0 || (!name && put_about(file, image, about) < 0))
            status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot write '%s'", partial);
        if (airy_hdf5_close(file) < 0 && status == AIRY_OK)
            status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", partial);
        if (sink.error)
            status = airy_sink_result(&sink, partial);
    }
    airy_hdf5_unlock();
    return status;
}

struct other_link {
    const char *dataset; /* the one that may be there, without the first '/' */
    char name[256];      /* another one */
};

/* Stops at a link that is neither the dataset nor a group on the way to it. */
static herr_t find_other(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    struct other_link *other = user;
    const size_t length = strlen(name);
    H5O_info_t object;
    if (strncmp(other->dataset, name, length) == 0) {
        const bool leads =
            other->dataset[length] == '/' && info->type == H5L_TYPE_HARD &&
            H5Oget_info_by_name2(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
            object.type == H5O_TYPE_GROUP;
        if (leads || other->dataset[length] == 0)
            return 0;
    }
    snprintf(other->name, sizeof(other->name), "%.255s", name);
    return 1;
}

/* A file is replaced as a whole: with --force, too, only what was named may be in it. */
static airy_status check_others(const char *path, const char *dataset)
{
    struct other_link other = {.dataset = dataset + strspn(dataset, "/")};
    hid_t file;
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_hdf5_open(&file, path);
    if (status == AIRY_OK) {
        if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, find_other, &other) < 0)
            status =
                airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s' cannot be listed", path);
        H5Fclose(file);
    }
    airy_hdf5_unlock();
    if (status != AIRY_OK)
        return airy_fail_context(status, "'%s' is there already, and what it holds would be lost",
                                 path);
    AIRY_FAIL_HINT_IF(other.name[0], AIRY_ERR_EXISTS, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s' also holds /%s, which would be lost: the whole file is replaced; name "
                      "another file",
                      path, other.name);
    return AIRY_OK;
}

airy_status airy_image_check_others(const char *path)
{
    char *file = NULL, *name = NULL;
    AIRY_FAIL_IF(!path, AIRY_ERR_PARAM, "airy_image_check_others: path is missing");
    AIRY_TRY(airy_stack_split(&file, &name, path));
    const airy_status status = name && access(file, F_OK) == 0 ? check_others(file, name) : AIRY_OK;
    free(file);
    free(name);
    return status;
}

airy_status airy_image_write_hdf5(const airy_image *image, const char *path, bool force,
                                  const struct airy_image_about *about)
{
    char *file = NULL, *name = NULL, *partial;
    AIRY_TRY(airy_stack_split(&file, &name, path));
    airy_status status = AIRY_OK;
    if (!force && access(file, F_OK) == 0)
        status = airy_fail(AIRY_ERR_EXISTS, "'%s' is there already", file);
    if (status == AIRY_OK)
        status = airy_image_check_others(path);
    if (status == AIRY_OK)
        status = airy_file_begin(&partial, file);
    if (status == AIRY_OK)
        status = airy_file_settle(write_partial(image, partial, name, about), partial, file, force);
    free(file);
    free(name);
    return status;
}
