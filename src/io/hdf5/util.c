#include "io/hdf5/util.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "io/hdf5/probe.h"
#include "io/hdf5/sink.h"
#include "io/file/format.h"
#include "io/file/plain_file.h"

/*
 * Readings of one piece of metadata whose checksum fails, where a file says that it is being
 * written. libhdf5 waits for 1 ns behind the first one and twice as long behind each further one:
 * 0.27 s in all, and for ever by its default of 100.
 */
enum { ATTEMPTS = 28 };

/*
 * Our driver and filters are registered with libhdf5 once; the rest is valid between lock and
 * unlock only.
 */
static struct {
    pthread_mutex_t mutex;
    hid_t driver, read_access, dataset_access;
    H5E_auto2_t print;
    void *print_data;
    const struct airy_folder *allowed;
} hdf5 = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .driver = -1, .read_access = -1, .dataset_access = -1};

/*
 * libhdf5 forgets what it has allocated for an object header whose continuation cannot be read, as
 * in cut files, and complains of that on standard error at exit ("infinite loop closing library").
 * Registered after its own handler, so this one runs before it.
 */
static void silence_exit(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static bool register_all(void)
{
    if (hdf5.driver > 0 && H5Iget_type(hdf5.driver) == H5I_VFL)
        return true;
    if (atexit(silence_exit) != 0)
        return false;
    hdf5.driver = airy_probe_register();
    hdf5.read_access = H5Pcreate(H5P_FILE_ACCESS);
    hdf5.dataset_access = H5Pcreate(H5P_DATASET_ACCESS);
    return hdf5.driver > 0 && hdf5.read_access > 0 && hdf5.dataset_access > 0 &&
           H5Pset_efile_prefix(hdf5.dataset_access, "${ORIGIN}") >= 0 &&
           H5Pset_driver(hdf5.read_access, hdf5.driver, NULL) >= 0 &&
           H5Pset_metadata_read_attempts(hdf5.read_access, ATTEMPTS) >= 0 &&
           airy_sink_register() > 0 && airy_filter_register() >= 0;
}

airy_status airy_hdf5_lock(void)
{
    pthread_mutex_lock(&hdf5.mutex);
    if (hdf5.driver < 0 && !airy_hdf5_has_room()) {
        pthread_mutex_unlock(&hdf5.mutex);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for libhdf5");
    }
    if (H5open() >= 0 && H5Eget_auto2(H5E_DEFAULT, &hdf5.print, &hdf5.print_data) >= 0 &&
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0) {
        if (register_all())
            return AIRY_OK;
        H5Eset_auto2(H5E_DEFAULT, hdf5.print, hdf5.print_data);
    }
    pthread_mutex_unlock(&hdf5.mutex);
    return airy_fail(AIRY_ERR_IO, "libhdf5 cannot be initialised");
}

airy_status airy_hdf5_lock_allowing(const struct airy_folder *folders)
{
    AIRY_TRY(airy_hdf5_lock());
    hdf5.allowed = folders;
    return AIRY_OK;
}

const struct airy_folder *airy_hdf5_allowed(void)
{
    return hdf5.allowed;
}

void airy_hdf5_unlock(void)
{
    hdf5.allowed = NULL;
    H5Eset_auto2(H5E_DEFAULT, hdf5.print, hdf5.print_data);
    pthread_mutex_unlock(&hdf5.mutex);
}

hid_t airy_hdf5_read_access(void)
{
    return hdf5.read_access;
}

hid_t airy_hdf5_dataset_access(void)
{
    return hdf5.dataset_access;
}

/*
 * Superblock version 3: byte 8 is the version, byte 11 the consistency flags; this one: a program
 * writes and lets others read (SWMR).
 */
enum { VERSION_AT = 8, FLAGS_AT = 11, SUPERBLOCK_START = 12, WRITTEN_FOR_READERS = 4 };

/* The signature stands at 0 or at a power of two from 512 on (behind a user block). */
static airy_status check_signature(bool *growing, const char *path)
{
    static const uint8_t signature[9] = "\211HDF\r\n\032\n";
    int fd;
    uint64_t size;
    AIRY_TRY(airy_file_open(&fd, &size, path));
    bool found = false, fits = false;
    airy_status status = AIRY_OK;
    for (uint64_t at = 0; status == AIRY_OK && !found && at + VERSION_AT <= size;
         at = at ? 2 * at : 512) {
        uint8_t bytes[SUPERBLOCK_START] = {0};
        status = airy_file_pread(fd, bytes, airy_min_size(sizeof(bytes), size - at), at);
        found = status == AIRY_OK && memcmp(bytes, signature, VERSION_AT) == 0;
        fits = fits || (at == 0 && memcmp(bytes, "SIMPLE  =", VERSION_AT + 1) == 0);
        *growing = found && bytes[VERSION_AT] >= 3 && (bytes[FLAGS_AT] & WRITTEN_FOR_READERS);
    }
    close(fd);
    if (status != AIRY_OK)
        return airy_fail_context(status, "'%s'", path);
    AIRY_FAIL_HINT_IF(
        !found && fits, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
        "'%s' is a FITS file, expected HDF5; its extensions are images FILE[NAME] or FILE[N]",
        path);
    AIRY_FAIL_ON_IF(!found, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' (%llu bytes) is no HDF5 file: its signature is missing", path,
                    (unsigned long long)size);
    return AIRY_OK;
}

/*
 * The driver opens absolute paths only. Not realpath(): links are relative to the path as given,
 * too.
 */
static airy_status make_absolute(char **absolute, const char *path)
{
    if (path[0] == '/') {
        *absolute = strdup(path);
    } else {
        char *folder = getcwd(NULL, 0);
        AIRY_FAIL_HINT_IF(!folder, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_FILE,
                          "cannot open '%s': the working directory has no name: %s", path,
                          strerror(errno));
        if (asprintf(absolute, "%s/%s", folder, path) < 0)
            *absolute = NULL;
        free(folder);
    }
    AIRY_FAIL_IF(!*absolute, AIRY_ERR_MEMORY, "out of memory for a path");
    return AIRY_OK;
}

airy_status airy_hdf5_open(hid_t *file, const char *path)
{
    bool growing = false;
    char *absolute;
    AIRY_TRY(check_signature(&growing, path));
    AIRY_TRY(airy_hdf5_check_room(path));
    AIRY_TRY(make_absolute(&absolute, path));
    const hid_t opened =
        H5Fopen(absolute, H5F_ACC_RDONLY | (growing ? H5F_ACC_SWMR_READ : 0), hdf5.read_access);
    free(absolute);
    if (opened < 0)
        return airy_hdf5_fail(airy_hdf5_failed_system() ? AIRY_ERR_IO : AIRY_ERR_FORMAT,
                              AIRY_SUBJECT_FILE, "cannot open '%s' as HDF5", path);
    *file = opened;
    return AIRY_OK;
}

airy_status airy_hdf5_open_any(hid_t *file, const char *path)
{
    enum airy_image_format format;
    const airy_status status = airy_hdf5_open(file, path);
    const size_t length = strlen(path);
    AIRY_FAIL_HINT_IF(status == AIRY_ERR_FORMAT && length > 5 &&
                          strcmp(path + length - 5, ".poni") == 0,
                      AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s' is a PONI file: it holds a geometry, and no frames", path);
    if (status == AIRY_ERR_FORMAT && airy_image_format_of(&format, path) == AIRY_OK &&
        format == AIRY_FORMAT_UNKNOWN)
        return airy_hinted(
            AIRY_HINT_RAW,
            airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                         "'%s' is of no known format: neither its suffix nor what it begins with "
                         "is of one",
                         path));
    return status;
}

bool airy_hdf5_exists(hid_t file, const char *path)
{
    /* H5Lexists wants the steps before the last to be there. */
    char part[1024];
    bool found = true;
    for (const char *end = path; *end && found;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        const size_t length = (size_t)(end - path);
        found = length < sizeof(part);
        if (found) {
            memcpy(part, path, length);
            part[length] = 0;
            found = strspn(part, "/") == length || H5Lexists(file, part, H5P_DEFAULT) > 0;
        }
    }
    return found && *path;
}
