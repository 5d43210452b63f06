#include "io/hdf5_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NESTED = 8 }; /* virtual datasets of virtual datasets */

/* "folder/name", or NULL when nothing is there (or memory is short). */
static char *try_folder(const char *folder, size_t length, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%.*s/%s", (int)length, folder, name) < 0)
        return NULL;
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* Folders of the variable; ${ORIGIN} is the one of `beside`. */
static char *try_prefixes(const char *prefixes, const char *beside, const char *name)
{
    static const char origin[] = "${ORIGIN}";
    char *found = NULL;
    while (!found && prefixes && *prefixes) {
        const size_t length = strcspn(prefixes, ":");
        const bool relative = strncmp(prefixes, origin, sizeof(origin) - 1) == 0;
        const size_t skip = relative ? sizeof(origin) - 1 : 0;
        char *folder = NULL;
        if (length > 0 && asprintf(&folder, "%.*s%.*s", relative ? (int)folder_length(beside) : 0,
                                   beside, (int)(length - skip), prefixes + skip) >= 0)
            found = try_folder(folder, strlen(folder), name);
        free(folder);
        prefixes += length + (prefixes[length] == ':');
    }
    return found;
}

char *airy_hdf5_source_find(const char *beside, const char *name)
{
    if (strcmp(name, ".") == 0)
        return strdup(beside);
    if (name[0] == '/' && access(name, F_OK) == 0)
        return strdup(name);
    const char *relative = name[0] == '/' ? strrchr(name, '/') + 1 : name;
    char *found = try_prefixes(getenv("HDF5_VDS_PREFIX"), beside, relative);
    if (!found)
        found = try_folder(beside, folder_length(beside), relative);
    char *real = found ? NULL : realpath(beside, NULL);
    if (real)
        found = try_folder(real, folder_length(real), relative);
    free(real);
    if (!found && asprintf(&found, "%.*s/%s", (int)folder_length(beside), beside, relative) < 0)
        return NULL;
    return found;
}

/* First and last index of each axis; ndim 0: everything. */
struct box {
    int ndim;
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK];
};

static void get_box(struct box *box, hid_t space)
{
    box->ndim = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
    if (box->ndim <= 0 || H5Sget_select_bounds(space, box->first, box->last) < 0)
        box->ndim = 0;
    if (space >= 0)
        H5Sclose(space);
}

static bool apart(const struct box *a, const struct box *b)
{
    bool found = false;
    for (int axis = 0; axis < a->ndim && a->ndim == b->ndim; axis++)
        found = found || a->last[axis] < b->first[axis] || b->last[axis] < a->first[axis];
    return found;
}

struct walk {
    const char *what;   /* the dataset that was asked for */
    const char *beside; /* file of the virtual dataset at hand */
    struct box wanted;  /* of that dataset */
    int depth;
};

static airy_status check_source(hid_t creation, size_t i, const struct walk *w);

static airy_status check_mappings(hid_t dataset, struct walk *w)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    airy_status status = AIRY_OK;
    size_t count = 0;
    if (creation >= 0 && H5Pget_layout(creation) == H5D_VIRTUAL) {
        const airy_probe *probe = airy_probe_of(dataset);
        w->beside = probe ? probe->path : NULL;
        if (!probe || H5Pget_virtual_count(creation, &count) < 0)
            status = airy_fail(AIRY_ERR_FORMAT, "%s: its mapping cannot be read", w->what);
        else if (w->depth > MAX_NESTED)
            status = airy_fail(AIRY_ERR_UNSUPPORTED, "%s: virtual datasets of more than %d steps",
                               w->what, MAX_NESTED);
        for (size_t k = 0; k < count && status == AIRY_OK; k++)
            status = check_source(creation, k, w);
    }
    if (creation >= 0)
        H5Pclose(creation);
    return status;
}

static airy_status check_opened(const char *file, const char *name, struct walk *inner)
{
    hid_t opened;
    AIRY_FAIL_IF(access(file, F_OK) != 0, AIRY_ERR_NOT_FOUND,
                 "file '%s', a source of the virtual dataset %s, is not there", file, inner->what);
    if (airy_hdf5_open(&opened, file) != AIRY_OK)
        return airy_fail_context(AIRY_ERR_FORMAT,
                                 "file '%s', a source of the virtual dataset %s, is missing or cut",
                                 file, inner->what);
    airy_status status;
    const hid_t dataset = H5Dopen2(opened, name, H5P_DEFAULT);
    if (dataset < 0)
        status = airy_hdf5_fail(AIRY_ERR_NOT_FOUND,
                                "%s::%s, a source of the virtual dataset %s, cannot be opened",
                                file, name, inner->what);
    else
        status = check_mappings(dataset, inner);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Fclose(opened);
    return status;
}

static airy_status check_source(hid_t creation, size_t i, const struct walk *w)
{
    struct box here;
    get_box(&here, H5Pget_virtual_vspace(creation, i));
    if (apart(&here, &w->wanted))
        return AIRY_OK;
    struct walk inner = {.what = w->what, .depth = w->depth + 1};
    get_box(&inner.wanted, H5Pget_virtual_srcspace(creation, i));
    const ssize_t file_length = H5Pget_virtual_filename(creation, i, NULL, 0);
    const ssize_t name_length = H5Pget_virtual_dsetname(creation, i, NULL, 0);
    AIRY_FAIL_IF(file_length < 0 || name_length < 0, AIRY_ERR_FORMAT,
                 "%s: its mapping cannot be read", w->what);
    char *file = calloc((size_t)file_length + 1, 1), *name = calloc((size_t)name_length + 1, 1),
         *found = NULL;
    airy_status status = AIRY_OK;
    if (!file || !name || H5Pget_virtual_filename(creation, i, file, (size_t)file_length + 1) < 0 ||
        H5Pget_virtual_dsetname(creation, i, name, (size_t)name_length + 1) < 0 ||
        !(found = airy_hdf5_source_find(w->beside, file)))
        status = airy_fail(AIRY_ERR_MEMORY, "out of memory for the sources of %s", w->what);
    /*
     * "%b" numbers the sources of a growing dataset: how many there should be is not written
     * anywhere.
     */
    else if (!strchr(file, '%') && !strchr(name, '%'))
        status = check_opened(found, name, &inner);
    free(file);
    free(name);
    free(found);
    return status;
}

airy_status airy_sources_check(hid_t dataset, const hsize_t *start, const hsize_t *count,
                               const char *what)
{
    struct walk w = {.what = what};
    const hid_t space = start ? H5Dget_space(dataset) : -1;
    const int ndim = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
    for (int axis = 0; axis < ndim && start; axis++) {
        w.wanted.first[axis] = start[axis];
        w.wanted.last[axis] = start[axis] + count[axis] - 1;
    }
    w.wanted.ndim = ndim > 0 ? ndim : 0;
    if (space >= 0)
        H5Sclose(space);
    return check_mappings(dataset, &w);
}
