#include "io/hdf5/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "io/hdf5/heap.h"
#include "io/file/plain_file.h"

/* Larger than any file: libhdf5 compares it with the size that the superblock claims. */
#define ENDLESS ((haddr_t)1 << 60)

#define PUSH_AS(minor, ...)                                                                        \
    ((void)H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, minor,         \
                    __VA_ARGS__))
#define PUSH(...) PUSH_AS(H5E_READERROR, __VA_ARGS__)

/* A relative name that begins with one of the folders which the user named in this variable. */
static bool has_prefix_of(const char *name, const char *variable)
{
    const char *folder = getenv(variable);
    while (folder && *folder) {
        const size_t length = strcspn(folder, ":");
        if (length > 0 && strncmp(name, folder, length) == 0 &&
            (folder[length - 1] == '/' || name[length] == '/'))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

static H5FD_t *probe_open(const char *name, unsigned flags, hid_t fapl, haddr_t max_address)
{
    (void)fapl;
    (void)max_address;
    if (flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT)) {
        PUSH("this file driver only reads");
        return NULL;
    }
    /*
     * libhdf5's last guess for a file that a link names is the working directory, where another
     * run's file of that name may lie.
     */
    if (name[0] != '/' && !has_prefix_of(name, "HDF5_EXT_PREFIX") &&
        !has_prefix_of(name, "HDF5_VDS_PREFIX")) {
        PUSH("'%s' is not there: it is looked for beside the file that names it only", name);
        return NULL;
    }
    struct stat about;
    const bool there = stat(name, &about) == 0;
    const char *other = there ? airy_file_other_kind(about.st_mode) : NULL;
    if (other) { /* a link may name a pipe, which must not be waited for */
        PUSH("'%s' is %s, not a regular file", name, other);
        return NULL;
    }
    const int fd = there ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0) {
        PUSH("cannot open '%s': %s", name, strerror(errno));
        return NULL;
    }
    airy_probe *probe = NULL;
    char *path = NULL;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        PUSH("'%s' is not a regular file", name);
        goto fail;
    }
    probe = calloc(1, sizeof(*probe));
    path = strdup(name);
    if (!probe || !path)
        goto fail;
    probe->fd = fd;
    probe->path = path;
    probe->device = about.st_dev;
    probe->inode = about.st_ino;
    probe->size = (uint64_t)about.st_size;
    return &probe->head;
fail:
    free(path);
    free(probe);
    close(fd);
    return NULL;
}

static herr_t probe_close(H5FD_t *file)
{
    airy_probe *probe = (airy_probe *)file;
    close(probe->fd);
    free(probe->path);
    free(probe->refused);
    free(probe);
    return 0;
}

static int compare_files(const H5FD_t *first, const H5FD_t *second)
{
    const airy_probe *a = (const airy_probe *)first, *b = (const airy_probe *)second;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static herr_t query_features(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    /* No sieve and no accumulator for raw data: a noted read must be the read of one chunk. */
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_SUPPORTS_SWMR_IO;
#ifdef H5FD_FEAT_POSIX_COMPAT_HANDLE
    /* Behind a symbolic link to a master its data files are found beside the master itself. */
    *flags |= H5FD_FEAT_POSIX_COMPAT_HANDLE;
#endif
    return 0;
}

static haddr_t get_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const airy_probe *)file)->end;
}

static herr_t set_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((airy_probe *)file)->end = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)file;
    (void)type;
    return ENDLESS;
}

static herr_t get_handle(H5FD_t *file, hid_t fapl, void **handle)
{
    (void)fapl;
    *handle = &((airy_probe *)file)->fd; /* libhdf5 wants a descriptor here; airy_probe_of goes
                                            back from it */
    return 0;
}

/* libhdf5 gives global heaps the type of raw data. */
static herr_t check_heap(airy_probe *probe, H5FD_mem_t type, haddr_t address, size_t size,
                         const void *bytes)
{
    if ((type != H5FD_MEM_DRAW && type != H5FD_MEM_GHEAP) || !airy_heap_begins(bytes, size))
        return 0;
    bool unread = false;
    const char *fault = airy_heap_fault(bytes, probe->fd, address, probe->size, &unread);
    if (!fault)
        return 0;
    if (unread && !probe->error)
        probe->error = EIO;
    PUSH("the global heap at %llu of '%s' is damaged: %s", (unsigned long long)address, probe->path,
         fault);
    return -1;
}

static herr_t probe_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, void *buffer)
{
    (void)transfer;
    airy_probe *probe = (airy_probe *)file;
    if (probe->recording && type == H5FD_MEM_DRAW) {
        probe->hits++;
        probe->offset = address;
        probe->length = size;
        return 0;
    }
    if (address > probe->size || size > probe->size - address) {
        PUSH_AS(H5E_TRUNCATED,
                "%zu bytes at %llu lie behind the end of '%s' (%llu bytes), which is "
                "shorter than its index states",
                size, (unsigned long long)address, probe->path, (unsigned long long)probe->size);
        return -1;
    }
    unsigned char *out = buffer;
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(probe->fd, out + done, size - done, (off_t)(address + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!probe->error)
                probe->error = n < 0 ? errno : EIO;
            PUSH("cannot read %zu bytes at %llu of '%s': %s", size, (unsigned long long)address,
                 probe->path, n < 0 ? strerror(errno) : "the file became shorter");
            return -1;
        }
        done += (size_t)n;
    }
    return check_heap(probe, type, address, size, buffer);
}

static herr_t refuse_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *buffer)
{
    (void)file;
    (void)type;
    (void)transfer;
    (void)address;
    (void)size;
    (void)buffer;
    return -1;
}

hid_t airy_probe_register(void)
{
    static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)600, /* libhdf5 leaves 512 and up to testing and private
                                             drivers */
#endif
        .name = "airy_probe",
        .maxaddr = (haddr_t)1 << 62,
        .fc_degree = H5F_CLOSE_WEAK,
        .open = probe_open,
        .close = probe_close,
        .cmp = compare_files,
        .query = query_features,
        .get_eoa = get_allocated,
        .set_eoa = set_allocated,
        .get_eof = get_end,
        .get_handle = get_handle,
        .read = probe_read,
        .write = refuse_write,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    return H5FDregister(&driver);
}

airy_probe *airy_probe_of(hid_t object)
{
    void *handle = NULL;
    const hid_t file = H5Iget_file_id(object);
    if (file < 0)
        return NULL;
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0)
        handle = NULL;
    H5Fclose(file);
    return handle ? (airy_probe *)(void *)((char *)handle - offsetof(airy_probe, fd)) : NULL;
}

herr_t airy_probe_chunk(airy_probe *probe, hid_t dataset, const hsize_t *offset, uint32_t *mask)
{
    uint8_t nothing[64]; /* the driver writes nothing here while it records */
    probe->hits = 0;
    probe->recording = true;
    const herr_t read = H5Dread_chunk(dataset, H5P_DEFAULT, offset, mask, nothing);
    probe->recording = false;
    return read;
}

airy_status airy_probe_result(hid_t object)
{
    const airy_probe *probe = airy_probe_of(object);
    AIRY_FAIL_HINT_IF(probe && probe->error, AIRY_ERR_IO, airy_hint_of_errno(probe->error),
                      AIRY_SUBJECT_FILE, "cannot read '%s': %s", probe->path,
                      strerror(probe->error));
    AIRY_FAIL_IF(probe && probe->refused, AIRY_ERR_IO, "a dataset of '%s' is refused: %s",
                 probe->path, probe->refused);
    return AIRY_OK;
}
