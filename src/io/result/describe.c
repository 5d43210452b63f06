/* What a result holds: its kind, rows, axes and planes, found in the groups that writers make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/sources.h"
#include "io/result/reader.h"

enum { LOOKS_MAX = 1 << 14 };

/* Planes come from these groups. */
struct group {
    const char *path, *name; /* name: how names of its planes begin */
    const char *only;        /* the one dataset that counts; NULL: all */
    bool is_blank;           /* rows that are pending have no values */
};

/* How the file of a kind is laid out; a path "/entry/%s/..." is completed with the process. */
struct form {
    airy_result_kind kind;
    const char *base;   /* of texts */
    const char *status; /* NULL: all rows are good */
    const char *signal, *axes[AIRY_RESULT_AXES];
    struct group groups[4];
};

static const struct form patterns = {
    .kind = AIRY_RESULT_PATTERNS,
    .base = "/entry/integrate",
    .status = "/entry/integrate/frame/status",
    .signal = "/entry/integrate/result/intensity",
    .axes = {"/entry/integrate/result/radial", "/entry/integrate/result/azimuthal"},
    .groups = {{"/entry/integrate/result", "result", NULL, true},
               {"/entry/integrate/merged", "merged", NULL, true},
               {"/entry/integrate/frame", "frame", NULL, false},
               {"/entry/integrate/map", "map", NULL, false}}};
static const struct form sparse = {
    .kind = AIRY_RESULT_SPARSE,
    .base = "/entry/sparsify",
    .status = "/entry/sparsify/frame/status",
    .signal = "/entry/sparse_frames/background_avg",
    .axes = {"/entry/sparse_frames/radius"},
    .groups = {{"/entry/peaks", "peaks", NULL, false},
               {"/entry/sparsify/frame", "frame", NULL, false},
               {"/entry/sparse_frames", "sparse_frames", NULL, false}}};
static const struct form image = {.kind = AIRY_RESULT_IMAGE,
                                  .base = "/entry",
                                  .signal = "/entry/data/data",
                                  .groups = {{"/entry/data", "data", "data", false}}};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

airy_status airy_result_read_box(void *values, hid_t type, hid_t dataset, const hsize_t *start,
                                 const hsize_t *count, hsize_t elements, const char *what)
{
    AIRY_TRY(airy_sources_check(dataset, start, count, what));
    AIRY_TRY(airy_sources_check_chunks(dataset, start, count, what));
    AIRY_TRY(airy_chunk_check(dataset, start, count));
    const hid_t memory = H5Screate_simple(1, &elements, NULL), space = H5Dget_space(dataset);
    const bool chosen =
        memory >= 0 && space >= 0 &&
        (!start || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
    airy_status status =
        chosen ? airy_hdf5_read_keeping(NULL, dataset, type, memory, space, values)
               : airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "its shape has changed");
    if (status != AIRY_OK)
        status = airy_about(AIRY_SUBJECT_DATASET, what,
                            airy_fail_context(status, "'%s' cannot be read", what));
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

/* The shape of a dataset of few axes; *ndim is -1 where it has more, or none at all. */
static void read_shape(int *ndim, hsize_t *shape, hsize_t *most, hid_t dataset)
{
    const hid_t space = H5Dget_space(dataset);
    *ndim = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (*ndim > AIRY_RESULT_DIMS ||
        (*ndim >= 0 && H5Sget_simple_extent_dims(space, shape, most) != *ndim))
        *ndim = -1;
    if (space >= 0)
        H5Sclose(space);
}

static airy_status fail_dataset(airy_status status, const airy_result *result, const char *path,
                                const char *words)
{
    char what[4096];
    snprintf(what, sizeof(what), "%.3000s::%s", result->path, path);
    return airy_hdf5_fail(status, AIRY_SUBJECT_DATASET, "%s %s", what, words);
}

static airy_status open_dataset(hid_t *dataset, int *ndim, hsize_t *shape, hsize_t *most,
                                const airy_result *result, const char *path)
{
    *dataset = airy_hdf5_dataset_own(result->file, path);
    if (*dataset < 0)
        return fail_dataset(AIRY_ERR_FORMAT, result, path, "cannot be opened as a dataset");
    read_shape(ndim, shape, most, *dataset);
    return AIRY_OK;
}

/* Its elements are numbers, whose bytes libhdf5 can convert. */
static airy_status check_numbers(hid_t dataset, const airy_result *result, const char *path)
{
    airy_dtype dtype;
    bool native;
    char what[4096];
    snprintf(what, sizeof(what), "%.3000s::%s", result->path, path);
    const hid_t type = H5Dget_type(dataset);
    if (type < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s has no type", what);
    const airy_status status = airy_hdf5_dtype(&dtype, &native, type, what);
    H5Tclose(type);
    return status == AIRY_ERR_UNSUPPORTED ? airy_fail_as(AIRY_ERR_FORMAT) : status;
}

/* A text that may be missing; one that is longer than its room is cut. */
static airy_status read_attribute(char *text, size_t size, hid_t dataset, const char *name)
{
    char *read = NULL;
    const airy_status status = airy_hdf5_attribute_open(&read, dataset, name);
    if (status == AIRY_OK)
        snprintf(text, size, "%s", read);
    free(read);
    return status == AIRY_ERR_MEMORY ? status : AIRY_OK; /* a failed read: airy_probe_result */
}

/* ---- rows ---- */

struct status_read {
    airy_result *result;
    hid_t dataset;
    size_t looks; /* that are left */
};

/*
 * Rows that files of a linked result hold which are not there are pending: halves of a range are
 * looked at by themselves until the missing rows are found, or for so many looks.
 */
static airy_status read_range(struct status_read *r, hsize_t first, hsize_t count)
{
    int32_t *rows = r->result->status + first;
    const airy_status status = airy_result_read_box(rows, H5T_NATIVE_INT32, r->dataset, &first,
                                                    &count, count, r->result->path);
    if (status != AIRY_ERR_NOT_FOUND)
        return status;
    if (count == 1 || r->looks < 2) {
        for (hsize_t i = 0; i < count; i++)
            rows[i] = AIRY_ROW_PENDING;
        return AIRY_OK;
    }
    r->looks -= 2;
    AIRY_TRY(read_range(r, first, count / 2));
    return read_range(r, first + count / 2, count - count / 2);
}

/* Before anything else: what the status calls done was there before it. */
static airy_status read_status(airy_result *result, const char *path)
{
    airy_result_info *info = &result->info;
    hid_t dataset;
    int ndim;
    hsize_t shape[AIRY_RESULT_DIMS] = {0}, most[AIRY_RESULT_DIMS] = {0};
    airy_status status = open_dataset(&dataset, &ndim, shape, most, result, path);
    if (status == AIRY_OK && (ndim != 1 || shape[0] > AIRY_RESULT_ROWS_MAX))
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "'%s': frame/status has another shape than a result's", result->path);
    if (status == AIRY_OK)
        status = check_numbers(dataset, result, path);
    if (status == AIRY_OK) {
        info->rows = (size_t)shape[0];
        info->grows = most[0] == H5S_UNLIMITED && info->kind == AIRY_RESULT_PATTERNS;
        status = airy_memory_calloc((void **)&result->status, info->rows + 1, sizeof(int32_t),
                                    "status of rows");
    }
    if (status == AIRY_OK && info->rows)
        status = read_range(&(struct status_read){result, dataset, LOOKS_MAX}, 0, shape[0]);
    if (dataset >= 0)
        H5Dclose(dataset);
    return status;
}

static void count_rows(airy_result *result)
{
    airy_result_info *info = &result->info;
    info->newest = SIZE_MAX;
    for (size_t i = 0; result->status && i < info->rows; i++) {
        info->good += result->status[i] == AIRY_ROW_GOOD;
        info->bad += result->status[i] > AIRY_ROW_GOOD;
        info->newest = result->status[i] == AIRY_ROW_GOOD ? i : info->newest;
    }
    if (!result->status) {
        info->good = info->rows;
        info->newest = info->rows ? info->rows - 1 : SIZE_MAX;
    }
}

/* ---- planes ---- */

/* The type of a plane's elements; false: not one that can be read. */
static bool read_type(airy_result_plane *about, hid_t dataset)
{
    enum { TEXT_MAX = 4096 };
    const hid_t type = H5Dget_type(dataset);
    if (type < 0)
        return false;
    bool known = true, native;
    if (H5Tget_class(type) == H5T_STRING) {
        about->dtype = AIRY_DTYPE_U8;
        about->text = H5Tget_size(type);
        known = H5Tis_variable_str(type) == 0 && about->text > 0 && about->text <= TEXT_MAX;
    } else {
        about->is_complex = airy_hdf5_is_complex(&about->dtype, type);
        known = about->is_complex ||
                airy_hdf5_dtype(&about->dtype, &native, type, "a plane") == AIRY_OK;
    }
    H5Tclose(type);
    return known;
}

/* What is a row of it; false where the numbers of a row do not fit a size. */
static bool split_shape(struct airy_result_dataset *plane, bool is_image, bool has_rows,
                        size_t rows)
{
    airy_result_plane *about = &plane->about;
    /* A single image is stored as a stack of one. */
    const bool split = has_rows || plane->is_list ||
                       (is_image && plane->ndim == 3 && plane->shape[0] == 1);
    about->has_rows = has_rows;
    about->rows = has_rows ? rows : plane->is_list ? (size_t)plane->shape[0] : 1;
    about->cells = 1;
    for (int i = split; i < plane->ndim; i++) {
        if (about->ndim == 4 || airy_mul_size(&about->cells, about->cells, (size_t)plane->shape[i]))
            return false;
        about->shape[about->ndim++] = (size_t)plane->shape[i];
    }
    const size_t last = about->text ? about->text : about->is_complex ? 2 : 0;
    if (last && about->ndim == 4)
        return false;
    if (last)
        about->shape[about->ndim++] = last;
    return !last || !airy_mul_size(&about->cells, about->cells, last);
}

struct listing {
    airy_result *result;
    const struct group *group;
    int signal_ndim;
    size_t room;
    airy_status status;
};

static bool has_suffix(const char *path, const char *tail)
{
    const size_t n = strlen(path), m = strlen(tail);
    return n >= m && strcmp(path + n - m, tail) == 0;
}

/*
 * Whether a dataset has an entry for each row. Names decide it where rows and bins may be equally
 * many.
 */
static bool is_of_rows(const struct listing *l, const struct airy_result_dataset *plane)
{
    const airy_result_info *info = &l->result->info;
    const char *name = last_part(plane->path), *group = l->group->name;
    if (plane->ndim < 1 ||
        (info->grows ? plane->shape[0] < info->rows : plane->shape[0] != info->rows))
        return false;
    switch (info->kind) {
    case AIRY_RESULT_PATTERNS:
        return l->group->is_blank ? plane->ndim == l->signal_ndim
                                  : strcmp(group, "frame") == 0 && strcmp(name, "roi") != 0;
    case AIRY_RESULT_SPARSE:
        return strcmp(group, "sparse_frames") != 0 || strncmp(name, "background_", 11) == 0;
    default:
        return info->kind == AIRY_RESULT_FRAMES && strcmp(plane->path, l->result->signal) == 0;
    }
}

static bool is_listed(const airy_result *result, const struct airy_result_dataset *plane)
{
    for (size_t i = 0; i < result->info.planes; i++)
        if (result->planes[i].address == plane->address && result->planes[i].file == plane->file)
            return true;
    return false;
}

static bool is_axis(const airy_result *result, const char *path)
{
    for (size_t i = 0; i < result->info.axes; i++)
        if (strcmp(result->axes[i].path, path) == 0)
            return true;
    return false;
}

static airy_status add_plane(struct listing *l, const struct airy_result_dataset *plane)
{
    airy_result *result = l->result;
    if (result->info.planes == l->room) {
        AIRY_FAIL_ON_IF(l->room >= AIRY_RESULT_PLANES_MAX, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                        "'%s' has more than %d datasets in the groups of a result", result->path,
                        (int)AIRY_RESULT_PLANES_MAX);
        const size_t room = l->room ? 2 * l->room : 32;
        void *more = realloc(result->planes, room * sizeof(*plane));
        AIRY_FAIL_IF(!more, AIRY_ERR_MEMORY, "out of memory for %zu planes", room);
        result->planes = more;
        l->room = room;
    }
    result->planes[result->info.planes++] = *plane;
    return AIRY_OK;
}

/* A dataset of a group; what has a type or a shape that no plane has is passed over. */
static airy_status describe_plane(struct listing *l, struct airy_result_dataset *plane)
{
    hid_t dataset;
    AIRY_TRY(open_dataset(&dataset, &plane->ndim, plane->shape, NULL, l->result, plane->path));
    const bool known = plane->ndim >= 0 && read_type(&plane->about, dataset);
    airy_status status = AIRY_OK;
    if (known)
        status = read_attribute(plane->label, sizeof(plane->label), dataset, "long_name");
    if (known && status == AIRY_OK)
        status = read_attribute(plane->units, sizeof(plane->units), dataset, "units");
    H5Dclose(dataset);
    AIRY_TRY(status);
    const bool rows = is_of_rows(l, plane);
    plane->is_list = l->result->info.kind == AIRY_RESULT_SPARSE && !rows && plane->ndim == 1;
    plane->is_blank = rows && l->group->is_blank;
    return known && split_shape(plane, l->result->info.kind == AIRY_RESULT_IMAGE, rows,
                                l->result->info.rows)
               ? add_plane(l, plane)
               : AIRY_OK;
}

/* intensity_errors is a second name of sem. */
static bool is_second_name(hid_t group, const char *name)
{
    return strcmp(name, "intensity_errors") == 0 && H5Lexists(group, "sem", H5P_DEFAULT) > 0;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *link, void *user)
{
    struct listing *l = user;
    struct airy_result_dataset plane = {.dataset = -1};
    H5O_info_t info;
    if (link->type != H5L_TYPE_HARD || strlen(name) >= AIRY_RESULT_NAME ||
        (l->group->only && strcmp(name, l->group->only) != 0) || is_second_name(group, name))
        return 0;
    snprintf(plane.path, sizeof(plane.path), "%.80s/%s", l->group->path, name);
    snprintf(plane.name, sizeof(plane.name), "%.14s/%s", l->group->name, name);
    if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        l->status = fail_dataset(AIRY_ERR_FORMAT, l->result, plane.path, "cannot be opened");
        return -1;
    }
    plane.file = info.fileno;
    plane.address = info.addr;
    if (info.type != H5O_TYPE_DATASET || is_axis(l->result, plane.path) ||
        is_listed(l->result, &plane))
        return 0;
    l->status = describe_plane(l, &plane);
    return l->status == AIRY_OK ? 0 : -1;
}

static airy_status list_planes(airy_result *result, const struct form *form, int signal_ndim)
{
    struct listing l = {.result = result, .signal_ndim = signal_ndim};
    for (size_t i = 0; i < sizeof(form->groups) / sizeof(form->groups[0]); i++) {
        l.group = &form->groups[i];
        if (!l.group->path || !airy_hdf5_exists(result->file, l.group->path))
            continue;
        if (H5Literate_by_name(result->file, l.group->path, H5_INDEX_NAME, H5_ITER_INC, NULL,
                               visit_link, &l, H5P_DEFAULT) < 0)
            return l.status != AIRY_OK
                       ? l.status
                       : fail_dataset(AIRY_ERR_FORMAT, result, l.group->path, "cannot be listed");
    }
    return AIRY_OK;
}

/* ---- axes ---- */

static airy_status read_axis_texts(struct airy_result_line *axis, hid_t dataset)
{
    AIRY_TRY(read_attribute(axis->label, sizeof(axis->label), dataset, "long_name"));
    AIRY_TRY(read_attribute(axis->units, sizeof(axis->units), dataset, "units"));
    AIRY_TRY(read_attribute(axis->unit_name, sizeof(axis->unit_name), dataset, "unit_name"));
    return *axis->unit_name /* pyFAI's name for it in files of sparse frames */
               ? AIRY_OK
               : read_attribute(axis->unit_name, sizeof(axis->unit_name), dataset, "unit");
}

/* count: of its values, as the main plane has them. */
static airy_status add_axis(airy_result *result, const char *path, hsize_t count)
{
    struct airy_result_line *axis = &result->axes[result->info.axes];
    hid_t dataset;
    int ndim;
    hsize_t shape[AIRY_RESULT_DIMS] = {0};
    airy_status status = open_dataset(&dataset, &ndim, shape, NULL, result, path);
    if (status == AIRY_OK &&
        (ndim != 1 || shape[0] != count || count == 0 || count > AIRY_RESULT_AXIS_MAX))
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "'%s': %s has another shape than an axis of %s", result->path, path,
                              result->signal);
    if (status == AIRY_OK)
        status = check_numbers(dataset, result, path);
    if (status == AIRY_OK)
        status =
            airy_memory_calloc((void **)&axis->values, (size_t)count, sizeof(double), "an axis");
    if (status == AIRY_OK)
        status = airy_result_read_box(axis->values, H5T_NATIVE_DOUBLE, dataset, NULL, NULL, count,
                                      result->path);
    if (status == AIRY_OK)
        status = read_axis_texts(axis, dataset);
    if (dataset >= 0)
        H5Dclose(dataset);
    AIRY_TRY(status);
    snprintf(axis->path, sizeof(axis->path), "%s", path);
    snprintf(axis->name, sizeof(axis->name), "%.63s", last_part(path));
    axis->about.count = (size_t)count;
    result->info.axes++;
    return AIRY_OK;
}

/* Axes of the main plane, the last one first; frames may be without. */
static airy_status read_axes(airy_result *result, const struct form *form, int ndim,
                             const hsize_t *shape)
{
    const bool is_frames = result->info.kind == AIRY_RESULT_FRAMES,
               is_pairs = is_frames && ndim == 4 && shape[3] == 2; /* complex numbers */
    for (int i = 0; i < AIRY_RESULT_AXES; i++) {
        const int at = ndim - 1 - i - is_pairs;
        if (!form->axes[i] || at < 1)
            continue;
        AIRY_FAIL_ON_IF(result->info.kind == AIRY_RESULT_PATTERNS &&
                            !airy_hdf5_exists(result->file, form->axes[i]),
                        AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                        "'%s' has no %s: it is no result of an integration", result->path,
                        form->axes[i]);
        const airy_status status = airy_hdf5_exists(result->file, form->axes[i])
                                       ? add_axis(result, form->axes[i], shape[at])
                                       : AIRY_OK;
        if (!is_frames || status != AIRY_ERR_FORMAT)
            AIRY_TRY(status);
    }
    return AIRY_OK;
}

/* The shape of the main plane, whose rows are there, and its axes. */
static airy_status read_signal(int *ndim, airy_result *result, const struct form *form)
{
    airy_result_info *info = &result->info;
    hid_t dataset;
    hsize_t shape[AIRY_RESULT_DIMS] = {0};
    AIRY_TRY(open_dataset(&dataset, ndim, shape, NULL, result, result->signal));
    const bool is_image = info->kind == AIRY_RESULT_FRAMES && form == &image &&
                          (*ndim < 3 || H5Aexists(dataset, "image_dimensions") > 0);
    H5Dclose(dataset);
    if (is_image)
        info->kind = AIRY_RESULT_IMAGE;
    const bool has_rows = info->kind != AIRY_RESULT_IMAGE;
    if (has_rows && !result->status)
        info->rows = *ndim > 0 ? (size_t)shape[0] : 0;
    AIRY_FAIL_ON_IF(
        has_rows && *ndim > 0 && (info->grows ? shape[0] < info->rows : shape[0] != info->rows),
        AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s': %s and frame/status have another number of rows",
        result->path, result->signal);
    AIRY_FAIL_ON_IF(*ndim < (info->kind == AIRY_RESULT_IMAGE ? 1 : 2) ||
                        info->rows > AIRY_RESULT_ROWS_MAX ||
                        (info->kind == AIRY_RESULT_PATTERNS && *ndim > 3),
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s': %s has another shape than a result's", result->path, result->signal);
    return read_axes(result, form, *ndim, shape);
}

/* ---- the kind ---- */

/* A part of a path out of the file; false where it is none. */
static bool read_part(char part[AIRY_RESULT_NAME], const airy_result *result, const char *group,
                      const char *attribute)
{
    char *text = NULL;
    const hid_t object =
        airy_hdf5_exists(result->file, group) ? H5Oopen(result->file, group, H5P_DEFAULT) : -1;
    const bool read = object >= 0 &&
                      airy_hdf5_attribute_open(&text, object, attribute) == AIRY_OK && *text &&
                      strlen(text) < AIRY_RESULT_NAME && !strchr(text, '/') && text[0] != '.';
    if (read)
        snprintf(part, AIRY_RESULT_NAME, "%s", text);
    free(text);
    if (object >= 0)
        H5Oclose(object);
    return read;
}

struct axis_search {
    const char *signal;
    char found[AIRY_RESULT_NAME];
};

/* The group of a stack of frames has the frames, and an axis or none. */
static herr_t visit_axis(hid_t group, const char *name, const H5L_info_t *link, void *user)
{
    struct axis_search *search = user;
    (void)group;
    if (link->type != H5L_TYPE_HARD || strlen(name) >= AIRY_RESULT_NAME ||
        strcmp(name, search->signal) == 0)
        return 0;
    snprintf(search->found, sizeof(search->found), "%s", name);
    return 1;
}

/* What a process such as `oct` wrote: texts[] hold the form's paths. */
static bool find_process(struct form *form, char texts[3][AIRY_RESULT_NAME + 96],
                         const airy_result *result)
{
    char process[AIRY_RESULT_NAME], signal[AIRY_RESULT_NAME];
    struct axis_search search = {.signal = signal};
    if (!read_part(process, result, "/entry", "default"))
        return false;
    snprintf(texts[0], sizeof(texts[0]), "/entry/%s/result", process);
    if (!read_part(signal, result, texts[0], "signal"))
        return false;
    snprintf(texts[1], sizeof(texts[1]), "%.80s/%.63s", texts[0], signal);
    *form = (struct form){.kind = AIRY_RESULT_FRAMES,
                          .signal = texts[1],
                          .groups = {{texts[0], "result", NULL, false}}};
    if (H5Literate_by_name(result->file, texts[0], H5_INDEX_NAME, H5_ITER_INC, NULL, visit_axis,
                           &search, H5P_DEFAULT) > 0) {
        snprintf(texts[2], sizeof(texts[2]), "%.80s/%.63s", texts[0], search.found);
        form->axes[0] = texts[2];
    }
    return true;
}

/* A form is chosen by what only its writer makes. */
static airy_status find_form(const struct form **form, struct form *process,
                             char texts[3][AIRY_RESULT_NAME + 96], const airy_result *result)
{
    const hid_t file = result->file;
    *form = NULL;
    if (airy_hdf5_exists(file, patterns.signal) || airy_hdf5_exists(file, patterns.status))
        *form = &patterns;
    else if (airy_hdf5_exists(file, sparse.signal))
        *form = &sparse;
    else if (find_process(process, texts, result) && airy_hdf5_exists(file, process->signal))
        *form = process;
    else if (airy_hdf5_exists(file, image.signal))
        *form = &image;
    if (!*form && airy_probe_result(file) != AIRY_OK)
        return airy_fail_context(AIRY_ERR_IO, "'%s'", result->path);
    AIRY_FAIL_ON_IF(!*form, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' is no result: it has neither %s nor %s nor %s", result->path,
                    patterns.signal, sparse.signal, image.signal);
    AIRY_FAIL_ON_IF(!airy_hdf5_exists(file, (*form)->signal), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' is no result: it lacks %s", result->path, (*form)->signal);
    return AIRY_OK;
}

/* What callers see points into what is here. */
void airy_result_point(airy_result *result)
{
    airy_result_info *info = &result->info;
    info->path = result->path;
    info->signal = "";
    for (size_t i = 0; i < info->planes; i++) {
        struct airy_result_dataset *plane = &result->planes[i];
        plane->about.name = plane->name;
        plane->about.path = plane->path;
        plane->about.label = plane->label;
        plane->about.units = plane->units;
        if (strcmp(plane->path, result->signal) == 0)
            info->signal = plane->name;
    }
    for (size_t i = 0; i < info->axes; i++) {
        struct airy_result_line *axis = &result->axes[i];
        axis->about.name = axis->name;
        axis->about.path = axis->path;
        axis->about.label = axis->label;
        axis->about.units = axis->units;
        axis->about.unit_name = axis->unit_name;
        axis->about.values = axis->values;
    }
}

airy_status airy_result_describe(airy_result *result)
{
    struct form process;
    char texts[3][AIRY_RESULT_NAME + 96];
    const struct form *form;
    int ndim;
    AIRY_TRY(find_form(&form, &process, texts, result));
    airy_result_info *info = &result->info;
    /* One array or many: its shape tells. */
    info->kind = form == &image ? AIRY_RESULT_FRAMES : form->kind;
    snprintf(result->signal, sizeof(result->signal), "%s", form->signal);
    if (form->base)
        snprintf(result->base, sizeof(result->base), "%s", form->base);
    else /* /entry/PROCESS of /entry/PROCESS/result */
        snprintf(result->base, sizeof(result->base), "%.*s",
                 (int)(strlen(texts[0]) - strlen("/result")), texts[0]);
    if (form->status && airy_hdf5_exists(result->file, form->status))
        AIRY_TRY(read_status(result, form->status));
    AIRY_TRY(read_signal(&ndim, result, form));
    AIRY_TRY(list_planes(result, form, ndim));
    count_rows(result);
    airy_result_point(result);
    if (airy_probe_result(result->file) != AIRY_OK)
        return airy_fail_context(AIRY_ERR_IO, "'%s'", result->path);
    info->complete = !has_suffix(result->path, ".partial") &&
                     (info->grows || info->good + info->bad == info->rows);
    return AIRY_OK;
}
