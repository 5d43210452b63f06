#include "io/hdf5/external.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "airy/file.h"
#include "base/error.h"
#include "io/hdf5/util.h"
#include "io/file/plain_file.h"

struct airy_folder {
    struct airy_folder *next;
    char folder[];
};

/*
 * Those of the process: who decides about it allows them, such as the user of a command, as
 * HDF5_EXTFILE_PREFIX does. None is ever taken out, so that who has found one may go on.
 */
static struct airy_folder *allowed_folders;
static pthread_mutex_t allowed_mutex = PTHREAD_MUTEX_INITIALIZER;

airy_status airy_folder_add(struct airy_folder **list, const char *folder)
{
    struct stat about;
    char *real = realpath(folder, NULL);
    const bool good = real && stat(real, &about) == 0 && S_ISDIR(about.st_mode);
    struct airy_folder *entry = good ? malloc(sizeof(*entry) + strlen(real) + 1) : NULL;
    if (entry) {
        strcpy(entry->folder, real);
        entry->next = *list;
        *list = entry;
    }
    free(real);
    AIRY_FAIL_ON_IF(!good, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE, "'%s' is no folder", folder);
    AIRY_FAIL_IF(!entry, AIRY_ERR_MEMORY, "out of memory for the name of a folder");
    return AIRY_OK;
}

void airy_folders_free(struct airy_folder **list)
{
    while (*list) {
        struct airy_folder *next = (*list)->next;
        free(*list);
        *list = next;
    }
}

airy_status airy_external_folder_allow(const char *folder)
{
    AIRY_FAIL_IF(!folder || !*folder, AIRY_ERR_PARAM,
                 "airy_external_folder_allow: folder is missing");
    pthread_mutex_lock(&allowed_mutex);
    const airy_status status = airy_folder_add(&allowed_folders, folder);
    pthread_mutex_unlock(&allowed_mutex);
    return status;
}

/* A real path lies in a real folder, or deeper. */
static bool is_below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return length > 0 && strncmp(path, folder, length) == 0 &&
           (folder[length - 1] == '/' || path[length] == '/');
}

static bool is_below_any(const char *path, const struct airy_folder *list)
{
    while (list && !is_below(path, list->folder))
        list = list->next;
    return list != NULL;
}

static bool is_below_allowed(const char *path)
{
    pthread_mutex_lock(&allowed_mutex);
    const bool found = is_below_any(path, allowed_folders);
    pthread_mutex_unlock(&allowed_mutex);
    return found || is_below_any(path, airy_hdf5_allowed());
}

/* What looks at the external files of one dataset. */
struct look {
    const char *file; /* the HDF5 file, an absolute path */
    char prefix[PATH_MAX];
    bool source;   /* libhdf5 itself will open the dataset, as a source of a virtual one */
    bool prefixed; /* by the user's HDF5_EXTFILE_PREFIX, which names a folder as the option does */
    char why[3 * PATH_MAX];
};

/*
 * The folder that libhdf5 puts in front of relative names: HDF5_EXTFILE_PREFIX, else the access
 * property ${ORIGIN}, which is the folder of the HDF5 file.
 */
static void find_prefix(struct look *l)
{
    static const char origin[] = "${ORIGIN}";
    const char *slash = strrchr(l->file, '/'), *variable = getenv("HDF5_EXTFILE_PREFIX");
    const int folder = slash ? (int)(slash - l->file) : 0;
    l->prefixed = variable && *variable;
    const char *prefix = l->prefixed ? variable : origin;
    if (strcmp(prefix, ".") == 0)
        l->prefix[0] = 0; /* libhdf5 reads it as the working directory */
    else if (strncmp(prefix, origin, sizeof(origin) - 1) == 0)
        snprintf(l->prefix, sizeof(l->prefix), "%.*s%s", folder, l->file,
                 prefix + sizeof(origin) - 1);
    else
        snprintf(l->prefix, sizeof(l->prefix), "%s", prefix);
}

/* The folder of a path as it is given, and the folder of what it leads to. */
static bool is_beside(const char *path, const char *file)
{
    char given[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(file, '/');
    const int length = slash ? (int)(slash - file) : 0;
    snprintf(given, sizeof(given), "%.*s", length ? length : 1, length ? file : "/");
    if (realpath(given, real) && is_below(path, real))
        return true;
    if (!realpath(file, real))
        return false;
    char *last = strrchr(real, '/');
    last[last == real] = 0;
    return is_below(path, real);
}

static bool is_allowed(const struct look *l, const char *path)
{
    char prefix[PATH_MAX];
    if (is_beside(path, l->file) || is_below_allowed(path))
        return true;
    return l->prefixed && l->prefix[0] && realpath(l->prefix, prefix) && is_below(path, prefix);
}

/* False: why says what forbids this file. One that is not there is left to libhdf5's sentence. */
static bool check_file(struct look *l, const char *name)
{
    char path[2 * PATH_MAX], real[PATH_MAX];
    struct stat about;
    if (l->source && name[0] != '/' && !l->prefixed) {
        snprintf(l->why, sizeof(l->why),
                 "its data lie in '%s', which libhdf5 would look for in the working directory when "
                 "it reads a virtual dataset; read '%s' itself, or set HDF5_EXTFILE_PREFIX",
                 name, l->file);
        return false;
    }
    if (name[0] == '/' || !l->prefix[0])
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "%s/%s", l->prefix, name);
    if (stat(path, &about) != 0)
        return true;
    const char *other = airy_file_other_kind(about.st_mode);
    if (other)
        snprintf(l->why, sizeof(l->why),
                 "its data lie in '%s', which is %s, not a regular file; write them into a file",
                 path, other);
    else if (!realpath(path, real) || !is_allowed(l, real))
        snprintf(
            l->why, sizeof(l->why),
            "its data lie in '%s', outside the HDF5 file's folder; --external-folder DIR allows "
            "the files of a folder (airy_external_folder_allow)",
            path);
    return !l->why[0];
}

static void check_all(struct look *l, hid_t creation, int count)
{
    find_prefix(l);
    for (int i = 0; i < count && !l->why[0]; i++) {
        char name[PATH_MAX + 1] = "";
        off_t offset;
        hsize_t size;
        if (H5Pget_external(creation, (unsigned)i, sizeof(name), name, &offset, &size) < 0 ||
            memchr(name, 0, sizeof(name)) == NULL)
            snprintf(l->why, sizeof(l->why), "the names of its external files cannot be read");
        else
            (void)check_file(l, name);
    }
}

void airy_hdf5_refuse(hid_t dataset, const char *why)
{
    airy_probe *probe = airy_probe_of(dataset);
    if (probe && !probe->refused)
        probe->refused = strdup(why);
    H5Dclose(dataset);
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_EFL, H5E_CANTOPENFILE,
             "%s", why);
}

static hid_t open_checked(hid_t from, const char *name, hid_t access, bool source)
{
    const hid_t dataset = H5Dopen2(from, name, access);
    const hid_t creation = dataset < 0 ? -1 : H5Dget_create_plist(dataset);
    const int count = creation < 0 ? 0 : H5Pget_external_count(creation);
    const airy_probe *probe = count > 0 ? airy_probe_of(dataset) : NULL;
    struct look *look = count > 0 && probe ? calloc(1, sizeof(*look)) : NULL;
    if (look) {
        look->file = probe->path;
        look->source = source;
        check_all(look, creation, count);
    }
    if (creation >= 0)
        H5Pclose(creation);
    hid_t result = dataset;
    if (look ? look->why[0] != 0 : count != 0) {
        airy_hdf5_refuse(dataset,
                         look ? look->why : "the place of its external data cannot be determined");
        result = -1;
    }
    free(look);
    return result;
}

hid_t airy_hdf5_dataset_with(hid_t from, const char *name, hid_t access)
{
    return open_checked(from, name, access, false);
}

hid_t airy_hdf5_dataset_own(hid_t from, const char *name)
{
    return open_checked(from, name, airy_hdf5_dataset_access(), false);
}

/*
 * libhdf5 opens no dataset twice with two prefixes of external files. One that it reads as a source
 * is open with none, one of our own (a virtual dataset may name itself) with ours.
 */
hid_t airy_hdf5_dataset_source(hid_t from, const char *name)
{
    const hid_t dataset = open_checked(from, name, H5P_DEFAULT, true);
    return dataset >= 0 ? dataset : open_checked(from, name, airy_hdf5_dataset_access(), true);
}
