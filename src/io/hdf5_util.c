#include "io/hdf5_util.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "io/file_probe.h"
#include "io/file_sink.h"
#include "io/file_format.h"
#include "io/plain_file.h"

/* More than libhdf5 takes to begin, or to open a file: 1.10 reads through NULL without it. */
enum { ROOM = 3 << 20 };
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

static bool has_room(void)
{
    void *block;
    if (airy_memory_alloc(&block, ROOM) != AIRY_OK)
        return false;
    airy_memory_release(block);
    return true;
}

airy_status airy_hdf5_lock(void)
{
    pthread_mutex_lock(&hdf5.mutex);
    if (hdf5.driver < 0 && !has_room()) {
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

void airy_hdf5_unlock(void)
{
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

struct found_message {
    char *text;
    size_t size;
};

static herr_t take_first(unsigned n, const H5E_error2_t *error, void *user)
{
    struct found_message *found = user;
    if (n > 0 || !error->desc)
        return 0;
    /* Failed system calls come as a list of facts; the system's own words are among them. */
    static const char mark[] = "error message = '";
    const char *words = strstr(error->desc, mark);
    const char *start = words ? words + sizeof(mark) - 1 : error->desc;
    const size_t length = words ? strcspn(start, "'") : strlen(start);
    snprintf(found->text, found->size, "%.*s", (int)length, start);
    return 0;
}

void airy_hdf5_message(char *text, size_t size)
{
    snprintf(text, size, "no reason given");
    struct found_message found = {text, size};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &found);
}

static herr_t take_numbers(unsigned n, const H5E_error2_t *error, void *user)
{
    if (n == 0)
        *(H5E_error2_t *)user = *error;
    return 0;
}

bool airy_hdf5_failed_io(void)
{
    H5E_error2_t first = {.maj_num = -1};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_numbers, &first);
    return first.maj_num == H5E_IO;
}

/* The same without the file's end. */
static bool system_failed(void)
{
    H5E_error2_t first = {.maj_num = -1};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_numbers, &first);
    return first.maj_num == H5E_IO && first.min_num != H5E_TRUNCATED;
}

airy_status airy_hdf5_fail(airy_status status, const char *format, ...)
{
    char what[512], why[400];
    airy_hdf5_message(why, sizeof(why));
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return airy_fail(status, "%s: %s", what, why);
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
    AIRY_FAIL_IF(
        !found && fits, AIRY_ERR_FORMAT,
        "'%s' is a FITS file, expected HDF5; its extensions are images FILE[NAME] or FILE[N]",
        path);
    AIRY_FAIL_IF(!found, AIRY_ERR_FORMAT,
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
        AIRY_FAIL_IF(!folder, AIRY_ERR_IO,
                     "cannot open '%s': the working directory has no name: %s", path,
                     strerror(errno));
        if (asprintf(absolute, "%s/%s", folder, path) < 0)
            *absolute = NULL;
        free(folder);
    }
    AIRY_FAIL_IF(!*absolute, AIRY_ERR_MEMORY, "out of memory for a path");
    return AIRY_OK;
}

airy_status airy_hdf5_check_room(const char *path)
{
    AIRY_FAIL_IF(!has_room(), AIRY_ERR_MEMORY, "out of memory for the cache of '%s'", path);
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
        return airy_hdf5_fail(system_failed() ? AIRY_ERR_IO : AIRY_ERR_FORMAT,
                              "cannot open '%s' as HDF5", path);
    *file = opened;
    return AIRY_OK;
}

airy_status airy_hdf5_open_any(hid_t *file, const char *path)
{
    enum airy_image_format format;
    const airy_status status = airy_hdf5_open(file, path);
    if (status == AIRY_ERR_FORMAT && airy_image_format_of(&format, path) == AIRY_OK &&
        format == AIRY_FORMAT_UNKNOWN)
        return airy_fail(AIRY_ERR_FORMAT,
                         "'%s' is of no known format: neither its suffix nor what it begins with "
                         "is of one",
                         path);
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

hid_t airy_hdf5_native(airy_dtype dtype)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return H5T_NATIVE_UINT8;
    case AIRY_DTYPE_I8:
        return H5T_NATIVE_INT8;
    case AIRY_DTYPE_U16:
        return H5T_NATIVE_UINT16;
    case AIRY_DTYPE_I16:
        return H5T_NATIVE_INT16;
    case AIRY_DTYPE_U32:
        return H5T_NATIVE_UINT32;
    case AIRY_DTYPE_I32:
        return H5T_NATIVE_INT32;
    case AIRY_DTYPE_U64:
        return H5T_NATIVE_UINT64;
    case AIRY_DTYPE_I64:
        return H5T_NATIVE_INT64;
    case AIRY_DTYPE_F64:
        return H5T_NATIVE_DOUBLE;
    default:
        return H5T_NATIVE_FLOAT;
    }
}

hid_t airy_hdf5_element(airy_dtype dtype, bool is_complex)
{
    const hid_t part = airy_hdf5_native(dtype);
    const size_t size = airy_dtype_size(dtype);
    if (!is_complex)
        return H5Tcopy(part);
    const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * size);
    if (type >= 0 && (H5Tinsert(type, "r", 0, part) < 0 || H5Tinsert(type, "i", size, part) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

static bool is_member(hid_t type, unsigned number, const char *name)
{
    char *found = H5Tget_member_name(type, number);
    const bool same = found && strcmp(found, name) == 0;
    H5free_memory(found);
    return same;
}

bool airy_hdf5_is_complex(airy_dtype *dtype, hid_t type)
{
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2 ||
        !is_member(type, 0, "r") || !is_member(type, 1, "i"))
        return false;
    const hid_t real = H5Tget_member_type(type, 0), imaginary = H5Tget_member_type(type, 1);
    const size_t size = real < 0 ? 0 : H5Tget_size(real);
    const bool found = real >= 0 && imaginary >= 0 && H5Tget_class(real) == H5T_FLOAT &&
                       (size == 4 || size == 8) && H5Tequal(real, imaginary) > 0;
    if (real >= 0)
        H5Tclose(real);
    if (imaginary >= 0)
        H5Tclose(imaginary);
    if (found)
        *dtype = size == 4 ? AIRY_DTYPE_F32 : AIRY_DTYPE_F64;
    return found;
}

static const char *class_name(H5T_class_t class)
{
    switch (class) {
    case H5T_INTEGER:
        return "integer";
    case H5T_FLOAT:
        return "float";
    case H5T_STRING:
        return "string";
    case H5T_BITFIELD:
        return "bit field";
    case H5T_OPAQUE:
        return "opaque";
    case H5T_COMPOUND:
        return "compound";
    case H5T_REFERENCE:
        return "reference";
    case H5T_ENUM:
        return "enumeration";
    case H5T_VLEN:
        return "variable length";
    case H5T_ARRAY:
        return "array";
    default:
        return "unknown";
    }
}

static bool dtype_of_size(airy_dtype *dtype, bool is_float, bool is_signed, size_t size)
{
    if (is_float && size == 2) /* half precision: exact in single */
        size = 4;
    for (int i = 0; i < AIRY_DTYPE_COUNT; i++) {
        const airy_dtype candidate = (airy_dtype)i;
        if (airy_dtype_size(candidate) == size && airy_dtype_is_float(candidate) == is_float &&
            airy_dtype_is_signed(candidate) == is_signed) {
            *dtype = candidate;
            return true;
        }
    }
    return false;
}

airy_status airy_hdf5_dtype(airy_dtype *dtype, bool *native, hid_t type, const char *what)
{
    airy_dtype part;
    AIRY_FAIL_IF(airy_hdf5_is_complex(&part, type), AIRY_ERR_UNSUPPORTED,
                 "%s: " AIRY_COMPLEX_REFUSED, what);
    H5T_class_t class = H5Tget_class(type);
    const bool is_enum = class == H5T_ENUM;
    const hid_t base = is_enum ? H5Tget_super(type) : H5Tcopy(type);
    if (base < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, "%s: the type cannot be read", what);
    class = H5Tget_class(base);
    const bool is_float = class == H5T_FLOAT;
    const bool is_signed = is_float || H5Tget_sign(base) == H5T_SGN_2;
    const size_t size = H5Tget_size(base);
    airy_dtype found = AIRY_DTYPE_F32;
    const bool known = (class == H5T_INTEGER || is_float) &&
                       dtype_of_size(&found, is_float, is_signed, size);
    const bool equal = known && H5Tequal(base, airy_hdf5_native(found)) > 0;
    H5Tclose(base);
    AIRY_FAIL_IF(class != H5T_INTEGER && class != H5T_FLOAT, AIRY_ERR_FORMAT,
                 "%s: elements are of class '%s', expected integers or floats", what,
                 class_name(class));
    AIRY_FAIL_IF(!known, AIRY_ERR_UNSUPPORTED, "%s: %ss of %zu bytes, expected 1, 2, 4 or 8", what,
                 class_name(class), size);
    *dtype = found;
    *native = equal;
    return AIRY_OK;
}

void airy_hdf5_type_text(char *text, size_t size, hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    const size_t bytes = H5Tget_size(type);
    airy_dtype part;
    if (airy_hdf5_is_complex(&part, type)) {
        snprintf(text, size, "complex%zu", 16 * airy_dtype_size(part));
    } else if (class == H5T_INTEGER || class == H5T_FLOAT) {
        const bool is_signed = class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
        const char *kind = class == H5T_FLOAT ? "float" : is_signed ? "int" : "uint";
        const bool swapped = bytes > 1 && H5Tget_order(type) == H5T_ORDER_BE;
        snprintf(text, size, "%s%zu%s", kind, 8 * bytes, swapped ? " big-endian" : "");
    } else {
        snprintf(text, size, "%s", class_name(class));
    }
}
