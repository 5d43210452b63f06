/* Which datasets of a file are its frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file/format.h"
#include "io/hdf5/probe.h"
#include "io/hdf5/list.h"
#include "io/stack/internal.h"

static airy_status choose(struct stack_choice **choices, size_t *count, const char *path,
                          const char *dataset)
{
    struct stack_choice *larger = realloc(*choices, (*count + 1) * sizeof(*larger));
    AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for %zu datasets", *count + 1);
    *choices = larger;
    struct stack_choice *choice = &larger[(*count)++];
    *choice = (struct stack_choice){.path = strdup(path)};
    choice->dataset = strdup(dataset);
    AIRY_FAIL_IF(!choice->path || !choice->dataset, AIRY_ERR_MEMORY, "out of memory for a path");
    return AIRY_OK;
}

struct series {
    char **names;
    size_t count;
    bool full;
};

static herr_t collect_series(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)group;
    (void)info;
    struct series *series = user;
    if (!airy_hdf5_in_series(name))
        return 0;
    char **larger = realloc(series->names, (series->count + 1) * sizeof(*larger));
    series->full = !larger;
    if (!larger)
        return -1;
    series->names = larger;
    larger[series->count] = strdup(name);
    if (!larger[series->count])
        return -1;
    series->count++;
    return 0;
}

/* data_9 before data_10: fewer digits first, leading zeros make the lengths equal. */
static int by_number(const void *a, const void *b)
{
    const char *first = *(char *const *)a, *second = *(char *const *)b;
    const size_t n = strlen(first), m = strlen(second);
    return n != m ? (n < m ? -1 : 1) : strcmp(first, second);
}

static airy_status find_series(struct stack_choice **choices, size_t *count, const char *path,
                               hid_t file)
{
    if (!airy_hdf5_exists(file, AIRY_HDF5_SERIES_GROUP))
        return AIRY_OK;
    struct series series = {NULL, 0, false};
    const size_t before = *count;
    const hid_t group = H5Gopen2(file, AIRY_HDF5_SERIES_GROUP, H5P_DEFAULT);
    airy_status status = AIRY_OK;
    if (group >= 0) {
        if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, collect_series, &series) < 0)
            status = airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s::%s cannot be listed",
                                    path, AIRY_HDF5_SERIES_GROUP);
        H5Gclose(group);
    }
    if (series.count > 0)
        qsort(series.names, series.count, sizeof(*series.names), by_number);
    for (size_t i = 0; i < series.count; i++) {
        char name[512];
        snprintf(name, sizeof(name), "%s/%s", AIRY_HDF5_SERIES_GROUP, series.names[i]);
        if (status == AIRY_OK)
            status = choose(choices, count, path, name);
        free(series.names[i]);
    }
    free(series.names);
    for (size_t i = before; i < *count; i++) {
        (*choices)[i].series_first = before;
        (*choices)[i].series_count = *count - before;
    }
    return status;
}

/* A dataset of two or more dimensions, or a link that leads nowhere (opening it says why). */
static bool holds_frames(hid_t file, const char *name)
{
    if (!airy_hdf5_exists(file, name))
        return false;
    const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0)
        return true;
    bool good = H5Iget_type(object) == H5I_DATASET;
    if (good) {
        const hid_t space = H5Dget_space(object);
        good = space >= 0 && H5Sget_simple_extent_ndims(space) >= 2;
        if (space >= 0)
            H5Sclose(space);
    }
    H5Oclose(object);
    return good;
}

static bool is_numeric(const airy_hdf5_entry *entry)
{
    return strncmp(entry->dtype, "int", 3) == 0 || strncmp(entry->dtype, "uint", 4) == 0 ||
           strncmp(entry->dtype, "float", 5) == 0;
}

static bool is_complex(const airy_hdf5_entry *entry)
{
    return strncmp(entry->dtype, "complex", 7) == 0;
}

/* Truth values, which masks are made of, are enumerations. */
static bool is_enumeration(const airy_hdf5_entry *entry)
{
    return strncmp(entry->dtype, "enum", 4) == 0;
}

typedef bool is_kind_fn(const airy_hdf5_entry *entry);

static void append(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);
    if (used + 1 < size)
        snprintf(text + used, size - used, "%s", more);
}

static airy_status fail_ambiguous(const airy_hdf5_entry *entries, size_t count, int dims,
                                  is_kind_fn *is_kind, size_t found, const char *path)
{
    char names[600] = "";
    for (size_t i = 0, shown = 0; i < count && shown < 6; i++) {
        const bool candidate = is_kind(&entries[i]) &&
                               (dims > 2 ? entries[i].ndim >= dims : entries[i].ndim == dims);
        if (!candidate)
            continue;
        append(names, sizeof(names), shown++ ? ", " : "");
        append(names, sizeof(names), entries[i].path);
    }
    return airy_hinted(
        AIRY_HINT_STATED,
        airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                     "%s: %zu datasets could be the frames (%s%s), choose one as %s::DATASET", path,
                     found, names, found > 6 ? ", ..." : "", path));
}

static airy_status fail_empty(const airy_hdf5_entry *entries, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        AIRY_FAIL_HINT_IF(
            entries[i].ndim < 0, AIRY_ERR_NOT_FOUND, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
            "%s: no dataset with frames; %s is %s: %s", path, entries[i].path,
            entries[i].ndim < 0 && strcmp(entries[i].dtype, "unreadable") == 0 ? "unreadable"
                                                                               : "a broken link",
            entries[i].filters);
    for (size_t i = 0; i < count; i++)
        AIRY_FAIL_HINT_IF(entries[i].ndim >= 2, AIRY_ERR_FORMAT, AIRY_HINT_STATED,
                          AIRY_SUBJECT_FILE, "%s: no dataset with frames; %s is of class '%s'",
                          path, entries[i].path, entries[i].dtype);
    return airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                        "%s: none of its %zu datasets has the 2 or more dimensions of frames", path,
                        count);
}

/* How many there are of this kind and of *dims dimensions (3: or more), or else of fewer. */
static size_t count_kind(const airy_hdf5_entry *entries, size_t count, is_kind_fn *is_kind,
                         int least, int *dims, size_t *index)
{
    size_t found = 0;
    for (*dims = 3; *dims >= least; --*dims) {
        for (size_t i = 0; i < count; i++) {
            if (is_kind(&entries[i]) && entries[i].ndim >= *dims) {
                *index = i;
                found++;
            }
        }
        if (found)
            break;
    }
    return found;
}

/*
 * The only dataset of three or more dimensions, or else of two, down to `least`: of numbers, or
 * where there are none of truth values or of complex numbers.
 */
static airy_status find_only(struct stack_choice **choices, size_t *count, const char *path,
                             hid_t file, int least)
{
    airy_hdf5_entry *entries;
    size_t listed, index = 0;
    int dims;
    AIRY_TRY(airy_hdf5_list_open(&entries, &listed, file));
    is_kind_fn *is_kind = is_numeric, *const others[] = {is_enumeration, is_complex};
    size_t found = count_kind(entries, listed, is_kind, least, &dims, &index);
    for (size_t i = 0; i < 2 && (found == 0 || dims < 2); i++) {
        int other;
        size_t at = 0;
        const size_t more = count_kind(entries, listed, others[i], 2, &other, &at);
        if (more) {
            found = more;
            index = at;
            dims = other;
            is_kind = others[i];
        }
    }
    airy_status status;
    if (found == 1)
        status = choose(choices, count, path, entries[index].path);
    else
        status = found ? fail_ambiguous(entries, listed, dims, is_kind, found, path)
                       : fail_empty(entries, listed, path);
    airy_hdf5_list_free(entries);
    return status;
}

static airy_status find_in_file(struct stack_choice **choices, size_t *count, const char *path,
                                hid_t file, int least)
{
    const size_t before = *count;
    AIRY_TRY(find_series(choices, count, path, file));
    if (*count > before)
        return AIRY_OK;
    /* DECTRIS and most of NeXus; plain files; NXdetector (Lambda); LImA. */
    static const char *const usual[] = {"/entry/data/data", "/data",
                                        "/entry/instrument/detector/data",
                                        "/entry_0000/measurement/data"};
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (holds_frames(file, usual[i]))
            return choose(choices, count, path, usual[i]);
    return find_only(choices, count, path, file, least);
}

airy_status airy_stack_find(struct stack_choice **choices, size_t *count, const char *path,
                            int least)
{
    char *name = NULL, *dataset = NULL;
    AIRY_TRY(airy_stack_split(&name, &dataset, path));
    airy_status status;
    if (dataset) {
        status = choose(choices, count, name, dataset);
    } else {
        hid_t file;
        status = airy_hdf5_open_any(&file, name);
        if (status == AIRY_OK) {
            status = find_in_file(choices, count, name, file, least);
            /* An unreadable link looks like none, and another dataset would be taken. */
            const airy_status looked = airy_probe_result(file);
            status = looked == AIRY_OK ? status : looked;
            H5Fclose(file);
        }
    }
    free(name);
    free(dataset);
    return status;
}
