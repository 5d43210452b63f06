#include "io/hdf5/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sink_file {
    H5FD_t head; /* libhdf5's part comes first */
    int fd;
    dev_t device;
    ino_t inode;
    haddr_t end, size; /* allocated, in the file */
    struct airy_sink *sink;
};

struct sink_info {
    struct airy_sink *sink; /* what the access properties carry to open */
};

static hid_t sink_driver = -1; /* registered once, under the lock */

static H5FD_t *sink_open(const char *name, unsigned flags, hid_t fapl, haddr_t max_address)
{
    (void)max_address;
    const struct sink_info *info = H5Pget_driver_info(fapl);
    struct stat about;
    struct sink_file *file = info ? calloc(1, sizeof(*file)) : NULL;
    const int fd =
        file ? open(name, (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &about) != 0) {
        if (fd >= 0)
            close(fd);
        free(file);
        return NULL;
    }
    file->fd = fd;
    file->sink = info->sink;
    file->device = about.st_dev;
    file->inode = about.st_ino;
    file->size = (haddr_t)about.st_size;
    return &file->head;
}

static herr_t sink_close(H5FD_t *base)
{
    struct sink_file *file = (struct sink_file *)base;
    close(file->fd);
    free(file);
    return 0;
}

static int compare_files(const H5FD_t *first, const H5FD_t *second)
{
    const struct sink_file *a = (const struct sink_file *)first,
                           *b = (const struct sink_file *)second;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static herr_t query_features(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct sink_file *)file)->end;
}

static herr_t set_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((struct sink_file *)file)->end = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct sink_file *)file)->size;
}

static herr_t sink_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                        void *buffer)
{
    (void)type;
    (void)transfer;
    struct sink_file *file = (struct sink_file *)base;
    size_t done = 0;
    while (done < size) {
        const ssize_t n =
            pread(file->fd, (char *)buffer + done, size - done, (off_t)(address + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    memset((char *)buffer + done, 0, size - done);
    return 0;
}

static void note_failure(struct airy_sink *sink, int error, size_t size, haddr_t address)
{
    if (sink->error != 0)
        return;
    sink->error = error ? error : EIO;
    sink->size = size;
    sink->offset = address;
}

/* The bytes that are held back are these; their place is noted. */
static bool hold_back(struct airy_sink *sink, const void *bytes, size_t size, haddr_t address)
{
    if (!sink->held || sink->held != bytes || sink->held_size != size)
        return false;
    sink->held = NULL;
    sink->held_at = address;
    return true;
}

static herr_t sink_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, const void *buffer)
{
    (void)type;
    (void)transfer;
    struct sink_file *file = (struct sink_file *)base;
    size_t done = hold_back(file->sink, buffer, size, address) ? size : 0;
    while (done < size && file->sink->error == 0) {
        const ssize_t n =
            pwrite(file->fd, (const char *)buffer + done, size - done, (off_t)(address + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            note_failure(file->sink, n < 0 ? errno : ENOSPC, size - done, address + done);
        else
            done += (size_t)n;
    }
    if (address + size > file->size)
        file->size = address + size;
    return 0;
}

static herr_t sink_truncate(H5FD_t *base, hid_t transfer, hbool_t closing)
{
    (void)transfer;
    (void)closing;
    struct sink_file *file = (struct sink_file *)base;
    if (file->end != file->size && file->sink->error == 0) {
        if (ftruncate(file->fd, (off_t)file->end) != 0)
            note_failure(file->sink, errno, 0, file->end);
        file->size = file->end;
    }
    return 0;
}

/*
 * Nothing is locked here. But only of a driver that could does libhdf5 note in the superblock that
 * the file is open for writing, without which others may not read it while it is (SWMR).
 */
static herr_t sink_lock(H5FD_t *file, hbool_t writes)
{
    (void)file;
    (void)writes;
    return 0;
}

static herr_t sink_unlock(H5FD_t *file)
{
    (void)file;
    return 0;
}

hid_t airy_sink_register(void)
{
    static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)601, /* libhdf5 leaves 512 and up to testing and private
                                             drivers */
#endif
        .name = "airy_sink",
        .maxaddr = (haddr_t)1 << 62,
        .fc_degree = H5F_CLOSE_STRONG,
        .fapl_size = sizeof(struct sink_info),
        .open = sink_open,
        .close = sink_close,
        .cmp = compare_files,
        .query = query_features,
        .get_eoa = get_allocated,
        .set_eoa = set_allocated,
        .get_eof = get_end,
        .read = sink_read,
        .write = sink_write,
        .truncate = sink_truncate,
        .lock = sink_lock,
        .unlock = sink_unlock,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    sink_driver = H5FDregister(&driver);
    return sink_driver;
}

static airy_status create(hid_t *file, struct airy_sink *sink, const char *path, size_t meta_block,
                          H5F_libver_t oldest)
{
    *sink = (struct airy_sink){0};
    AIRY_TRY(airy_hdf5_check_room(path));
    const struct sink_info info = {sink};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t opened = -1;
    if (access >= 0 && H5Pset_driver(access, sink_driver, &info) >= 0 &&
        H5Pset_libver_bounds(access, oldest, H5F_LIBVER_LATEST) >= 0 &&
        H5Pset_meta_block_size(access, meta_block) >= 0)
        opened = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    airy_status status = AIRY_OK;
    if (opened < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot create '%s'", path);
    if (access >= 0)
        H5Pclose(access);
    *file = opened;
    return status;
}

airy_status airy_sink_create(hid_t *file, struct airy_sink *sink, const char *path,
                             size_t meta_block)
{
    return create(file, sink, path, meta_block, H5F_LIBVER_EARLIEST);
}

airy_status airy_sink_create_growing(hid_t *file, struct airy_sink *sink, const char *path,
                                     size_t meta_block)
{
    return create(file, sink, path, meta_block, H5F_LIBVER_LATEST);
}

void airy_sink_hold(struct airy_sink *sink, const void *bytes, size_t size)
{
    sink->held = bytes;
    sink->held_size = size;
}

bool airy_sink_held(struct airy_sink *sink, uint64_t *offset)
{
    const bool held = sink->held == NULL;
    sink->held = NULL;
    *offset = sink->held_at;
    return held;
}

airy_status airy_sink_result(const struct airy_sink *sink, const char *path)
{
    AIRY_FAIL_HINT_IF(sink->error, AIRY_ERR_IO, airy_hint_of_errno(sink->error), AIRY_SUBJECT_NONE,
                      "cannot write %llu bytes at %llu of '%s': %s", (unsigned long long)sink->size,
                      (unsigned long long)sink->offset, path, strerror(sink->error));
    return AIRY_OK;
}
