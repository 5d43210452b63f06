/* What is in an HDF5 file: datasets, and links that lead nowhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/stack.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/probe.h"
#include "io/hdf5/list.h"

enum { MAX_DEPTH = 32, MAX_ENTRIES = 200000, MAX_PATH = 1024 };

struct object_id {
    unsigned long file;
    haddr_t address;
};

struct lister {
    airy_hdf5_entry *entries;
    size_t count, capacity;
    struct object_id *seen; /* hash table, address 0: free; at most half full */
    size_t seen_count, seen_capacity;
    char **links; /* soft and external ones, followed last: a hard link's name is the better one */
    size_t link_count, link_capacity;
    bool whole; /* stored bytes and what a series' links lead to are asked for */
    int depth;
    char path[MAX_PATH];
    airy_status status;
};

/* Two reasons not to go on. */
static bool refuse(struct lister *l, bool memory)
{
    l->status = memory ? airy_fail(AIRY_ERR_MEMORY, "out of memory for the file's list of objects")
                       : airy_fail(AIRY_ERR_UNSUPPORTED,
                                   "the file has more than %d objects or links", (int)MAX_ENTRIES);
    return false;
}

static bool reserve(struct lister *l, void **array, size_t *capacity, size_t count, size_t size)
{
    if (count >= MAX_ENTRIES)
        return refuse(l, false);
    if (count < *capacity)
        return true;
    const size_t larger = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(*array, larger * size);
    if (!grown)
        return refuse(l, true);
    *array = grown;
    *capacity = larger;
    return true;
}

/* The object's slot, or the free one it would take. */
static struct object_id *find_seen(struct object_id *seen, size_t capacity, struct object_id id)
{
    /* Both count: the datasets of a series lie at one address in many files. */
    const uint64_t key[2] = {id.file, id.address};
    size_t at = (size_t)airy_hash_bytes(AIRY_HASH_START, key, sizeof(key)) % capacity;
    while (seen[at].address != 0 && (seen[at].address != id.address || seen[at].file != id.file))
        at = (at + 1) % capacity;
    return &seen[at];
}

static bool grow_seen(struct lister *l)
{
    const size_t larger = l->seen_capacity ? 2 * l->seen_capacity : 256;
    struct object_id *table = larger <= 4 * MAX_ENTRIES ? calloc(larger, sizeof(*table)) : NULL;
    if (!table)
        return refuse(l, larger <= 4 * MAX_ENTRIES);
    for (size_t i = 0; i < l->seen_capacity; i++)
        if (l->seen[i].address != 0)
            *find_seen(table, larger, l->seen[i]) = l->seen[i];
    free(l->seen);
    l->seen = table;
    l->seen_capacity = larger;
    return true;
}

/* False if the object was listed before (or cannot be remembered). */
static bool remember(struct lister *l, hid_t object)
{
    H5O_info_t info;
    if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 || info.addr == 0)
        return false;
    if (2 * l->seen_count >= l->seen_capacity && !grow_seen(l))
        return false;
    const struct object_id id = {info.fileno, info.addr};
    struct object_id *slot = find_seen(l->seen, l->seen_capacity, id);
    if (slot->address != 0)
        return false;
    *slot = id;
    l->seen_count++;
    return true;
}

static airy_hdf5_entry *new_entry(struct lister *l)
{
    if (!reserve(l, (void **)&l->entries, &l->capacity, l->count, sizeof(*l->entries)))
        return NULL;
    airy_hdf5_entry *entry = &l->entries[l->count++];
    memset(entry, 0, sizeof(*entry));
    snprintf(entry->path, sizeof(entry->path), "%.*s", (int)sizeof(entry->path) - 1, l->path);
    return entry;
}

static void describe_dataset(airy_hdf5_entry *entry, hid_t dataset, bool sums)
{
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset),
                creation = H5Dget_create_plist(dataset);
    hsize_t shape[H5S_MAX_RANK] = {0}, chunk[H5S_MAX_RANK] = {0};
    snprintf(entry->dtype, sizeof(entry->dtype), "unknown");
    uint64_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    if (type >= 0)
        airy_hdf5_type_text(entry->dtype, sizeof(entry->dtype), type);
    if (space >= 0) {
        const int ndim = H5Sget_simple_extent_dims(space, shape, NULL);
        entry->ndim = ndim < 0 ? 0 : ndim > 8 ? 8 : ndim;
        for (int axis = 0; axis < ndim; axis++)
            if (__builtin_mul_overflow(bytes, (uint64_t)shape[axis], &bytes))
                bytes = UINT64_MAX;
    }
    if (creation >= 0) {
        airy_filter_text(entry->filters, sizeof(entry->filters), creation);
        const H5D_layout_t layout = H5Pget_layout(creation);
        if (layout == H5D_CHUNKED)
            H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
        else if (layout == H5D_VIRTUAL)
            snprintf(entry->filters, sizeof(entry->filters), "virtual");
    }
    for (int axis = 0; axis < entry->ndim; axis++) {
        entry->shape[axis] = shape[axis];
        entry->chunk[axis] = chunk[axis];
    }
    entry->bytes = bytes;
    entry->stored_bytes = sums ? airy_chunk_stored_bytes(dataset) : 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (creation >= 0)
        H5Pclose(creation);
}

/* Where a link that cannot be followed points. */
static void describe_link(airy_hdf5_entry *entry, hid_t file, const char *path)
{
    H5L_info_t info;
    entry->ndim = -1;
    snprintf(entry->dtype, sizeof(entry->dtype), "broken link");
    if (H5Lget_info(file, path, &info, H5P_DEFAULT) < 0 || info.type == H5L_TYPE_HARD ||
        info.u.val_size == 0 || info.u.val_size > MAX_PATH)
        return;
    char value[MAX_PATH + 1] = "";
    const char *target = value, *other = NULL;
    if (H5Lget_val(file, path, value, MAX_PATH, H5P_DEFAULT) < 0)
        return;
    if (info.type == H5L_TYPE_EXTERNAL &&
        H5Lunpack_elink_val(value, info.u.val_size, NULL, &other, &target) < 0)
        return;
    snprintf(entry->filters, sizeof(entry->filters), "%.40s%s%.45s", other ? other : "",
             other ? "::" : "", target);
}

/* Right after the failed call: damaged, or written by a newer libhdf5. */
static void describe_unreadable(airy_hdf5_entry *entry)
{
    if (!entry)
        return;
    entry->ndim = -1;
    snprintf(entry->dtype, sizeof(entry->dtype), "unreadable");
    airy_hdf5_message(entry->filters, sizeof(entry->filters));
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *user);

static void visit_object(struct lister *l, hid_t object)
{
    const H5I_type_t type = H5Iget_type(object);
    if ((type != H5I_GROUP && type != H5I_DATASET) || !remember(l, object))
        return;
    if (type == H5I_DATASET) {
        airy_hdf5_entry *entry = new_entry(l);
        if (entry)
            describe_dataset(entry, object, l->whole);
    } else if (l->depth < MAX_DEPTH) {
        l->depth++;
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, l);
        l->depth--;
    }
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    struct lister *l = user;
    const size_t length = strlen(l->path);
    /* Of a result's two names for the standard errors, results are read by this one. */
    H5L_info_t sem;
    if (strcmp(name, "intensity_errors") == 0 && H5Lexists(group, "sem", H5P_DEFAULT) > 0 &&
        H5Lget_info(group, "sem", &sem, H5P_DEFAULT) >= 0 &&
        visit_link(group, "sem", &sem, user) < 0)
        return -1;
    if (length + strlen(name) + 2 > sizeof(l->path))
        return 0;
    snprintf(l->path + length, sizeof(l->path) - length, "/%s", name);
    if (info->type == H5L_TYPE_HARD) {
        const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
        if (object >= 0) {
            visit_object(l, object);
            H5Oclose(object);
        } else {
            describe_unreadable(new_entry(l));
        }
    } else if (reserve(l, (void **)&l->links, &l->link_capacity, l->link_count,
                       sizeof(*l->links))) {
        l->links[l->link_count] = strdup(l->path);
        if (l->links[l->link_count])
            l->link_count++;
        else
            l->status = airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    }
    l->path[length] = 0;
    return l->status == AIRY_OK ? 0 : -1;
}

bool airy_hdf5_in_series(const char *name)
{
    if (strncmp(name, "data_", 5) != 0)
        return false;
    const char *digits = name + 5;
    return *digits && digits[strspn(digits, "0123456789")] == 0;
}

static bool is_of_series(const char *path)
{
    static const char group[] = AIRY_HDF5_SERIES_GROUP "/";
    return strncmp(path, group, sizeof(group) - 1) == 0 &&
           airy_hdf5_in_series(path + sizeof(group) - 1);
}

/* Links found on the way join the end of the list. */
static void follow_links(struct lister *l, hid_t file)
{
    for (size_t i = 0; i < l->link_count && l->status == AIRY_OK; i++) {
        if (!l->whole && is_of_series(l->links[i]))
            continue;
        snprintf(l->path, sizeof(l->path), "%s", l->links[i]);
        const hid_t object = H5Oopen(file, l->path, H5P_DEFAULT);
        if (object >= 0) {
            visit_object(l, object);
            H5Oclose(object);
        } else {
            airy_hdf5_entry *entry = new_entry(l);
            if (entry)
                describe_link(entry, file, l->links[i]);
        }
    }
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const airy_hdf5_entry *)a)->path, ((const airy_hdf5_entry *)b)->path);
}

static airy_status make_list(airy_hdf5_entry **entries, size_t *count, hid_t file, bool whole)
{
    struct lister *l;
    AIRY_TRY(airy_memory_calloc((void **)&l, 1, sizeof(*l), "a list of datasets"));
    l->whole = whole;
    const hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    if (root < 0) {
        l->status =
            airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "the root group cannot be opened");
    } else {
        visit_object(l, root);
        H5Gclose(root);
        follow_links(l, file);
    }
    const airy_status status = l->status;
    if (status == AIRY_OK) {
        if (l->count > 0)
            qsort(l->entries, l->count, sizeof(*l->entries), by_path);
        *entries = l->entries;
        *count = l->count;
    } else {
        free(l->entries);
    }
    free(l->seen);
    for (size_t i = 0; i < l->link_count; i++)
        free(l->links[i]);
    free(l->links);
    free(l);
    return status;
}

airy_status airy_hdf5_list_open(airy_hdf5_entry **entries, size_t *count, hid_t file)
{
    return make_list(entries, count, file, false);
}

airy_status airy_hdf5_list(airy_hdf5_entry **entries, size_t *count, const char *path)
{
    AIRY_FAIL_IF(!entries || !count || !path, AIRY_ERR_PARAM,
                 "airy_hdf5_list: an argument is NULL");
    AIRY_TRY(airy_hdf5_lock());
    hid_t file;
    airy_status status = airy_hdf5_open_any(&file, path);
    if (status == AIRY_OK) {
        airy_hdf5_entry *made = NULL;
        status = make_list(&made, count, file, true);
        if (status == AIRY_OK && (status = airy_probe_result(file)) != AIRY_OK)
            airy_hdf5_list_free(made);
        else if (status == AIRY_OK)
            *entries = made;
        H5Fclose(file);
    }
    airy_hdf5_unlock();
    return airy_hint_becomes(AIRY_HINT_REGULAR, AIRY_HINT_FOLDER, status);
}

void airy_hdf5_list_free(airy_hdf5_entry *entries)
{
    free(entries);
}
