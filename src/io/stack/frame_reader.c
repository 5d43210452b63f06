/* Frames in order from raw, NPY, HDF5 and TIFF files and from pipes. */
#include "airy/frames.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/stack.h"
#include "base/error.h"
#include "base/image_memory.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/image/formats.h"
#include "io/image/pixels.h"
#include "io/file/plain_file.h"

/* NPY_START: bytes of the longest header. PATIENCE_MS: of a silent pipe, before `stop` is asked. */
enum { NPY_START = (1 << 16) + 12, PATIENCE_MS = 100 };

struct airy_frame_reader {
    airy_frame_reader_info info;
    char *path;
    int fd; /* raw, NPY; -1: none */
    bool pipe, swapped;
    bool half; /* NPY: f16 in the file, where stored_bytes are those of f16 */
    bool (*stop)(void *user);
    void *stop_user;
    uint64_t start;      /* of frame 0 in the file */
    uint64_t next;       /* frame */
    size_t stored_bytes; /* of a frame in the file */
    void *stored;        /* one frame, where it is converted */
    size_t cut;          /* bytes of the frame inside of which a pipe ended */
    airy_stack *stack;
    struct airy_tiff_pages *pages;
};

/* Types that are not read as they are become F32. */
static airy_status set_shape(airy_frame_reader *r, airy_dtype stored, size_t height, size_t width)
{
    airy_frame_reader_info *info = &r->info;
    AIRY_FAIL_IF(stored == AIRY_DTYPE_U64 || stored == AIRY_DTYPE_I64, AIRY_ERR_UNSUPPORTED,
                 "frames of %s, expected integers of at most 32 bits or floats",
                 airy_dtype_name(stored));
    const bool same = stored == AIRY_DTYPE_U8 || stored == AIRY_DTYPE_U16 ||
                      stored == AIRY_DTYPE_I16 || stored == AIRY_DTYPE_F32;
    size_t count;
    info->stored = stored;
    info->dtype = same ? stored : AIRY_DTYPE_F32;
    info->height = height;
    info->width = width;
    AIRY_FAIL_IF(height == 0 || width == 0 || airy_mul_size(&count, height, width) ||
                     airy_mul_size(&r->stored_bytes, count, airy_dtype_size(stored)) ||
                     airy_mul_size(&info->frame_bytes, count, airy_dtype_size(info->dtype)),
                 AIRY_ERR_SHAPE, "frames of %zu x %zu %s, expected a size", height, width,
                 airy_dtype_name(stored));
    if (same)
        return AIRY_OK;
    return airy_image_alloc(&r->stored, r->stored_bytes);
}

static airy_status open_raw(airy_frame_reader *r, uint64_t size, const airy_frame_reader_params *p)
{
    AIRY_FAIL_IF(p->height == 0 || p->width == 0, AIRY_ERR_PARAM,
                 "a raw file, whose frames must be told: %zu x %zu samples", p->height, p->width);
    AIRY_TRY(set_shape(r, p->dtype, p->height, p->width));
    r->info.format = AIRY_FRAMES_RAW;
    r->start = p->header_bytes;
    if (r->pipe) {
        r->info.frames = UINT64_MAX;
        return AIRY_OK;
    }
    AIRY_FAIL_IF(size < p->header_bytes, AIRY_ERR_FORMAT,
                 "%llu bytes, less than the %llu of its header", (unsigned long long)size,
                 (unsigned long long)p->header_bytes);
    r->info.frames = (size - p->header_bytes) / r->stored_bytes;
    r->info.stray_bytes = (size - p->header_bytes) % r->stored_bytes;
    return AIRY_OK;
}

/* Frames of an array: [width], [height, width], [frames, height, width], or one more in front. */
static airy_status array_frames(airy_frame_reader *r, const airy_image *array, size_t height)
{
    AIRY_FAIL_HINT_IF(array->is_complex, AIRY_ERR_UNSUPPORTED, AIRY_HINT_COMPLEX, AIRY_SUBJECT_NONE,
                      AIRY_COMPLEX_REFUSED);
    const size_t *shape = array->shape;
    const int ndim = array->ndim;
    const size_t width = shape[ndim - 1], rows = ndim > 1 ? shape[ndim - 2] : 1;
    if (ndim > 2) {
        AIRY_TRY(set_shape(r, array->dtype, rows, width));
        r->info.frames = ndim == 4 ? shape[0] * shape[1] : shape[0];
        return AIRY_OK;
    }
    const size_t each = height ? height : rows;
    AIRY_FAIL_IF(rows % each, AIRY_ERR_SHAPE,
                 "%zu lines, expected a multiple of the %zu that a frame has", rows, each);
    r->info.frames = rows / each;
    return set_shape(r, array->dtype, each, width);
}

static airy_status open_npy(airy_frame_reader *r, uint64_t size, size_t height)
{
    struct airy_image_header header;
    void *text;
    const size_t head = airy_min_size((size_t)size, NPY_START);
    AIRY_TRY(airy_image_alloc(&text, head));
    airy_status status = airy_file_pread(r->fd, text, head, 0);
    if (status == AIRY_OK)
        status = airy_npy_parse(&header, text, head);
    free(text);
    AIRY_TRY(status);
    AIRY_FAIL_IF(header.data != size - header.bytes, AIRY_ERR_FORMAT,
                 "%llu bytes behind the header, its shape needs %zu",
                 (unsigned long long)(size - header.bytes), header.data);
    AIRY_FAIL_IF(header.fortran && header.image.ndim > 1, AIRY_ERR_UNSUPPORTED,
                 "in Fortran order, expected C order: 'airy convert' writes it so");
    r->info.format = AIRY_FRAMES_NPY;
    r->start = header.bytes;
    r->swapped = header.swapped;
    r->half = header.half;
    status = array_frames(r, &header.image, height);
    r->stored_bytes /= r->half ? 2 : 1;
    return status;
}

static airy_status open_hdf5(airy_frame_reader *r, const char *path)
{
    const char *const paths[] = {path};
    airy_stack_info info;
    AIRY_TRY(airy_stack_create(&r->stack, paths, 1));
    AIRY_TRY(airy_stack_get_info(r->stack, &info));
    r->info.format = AIRY_FRAMES_HDF5;
    r->info.frames = info.frames;
    return set_shape(r, info.dtype, info.height, info.width);
}

static airy_status open_tiff(airy_frame_reader *r, const char *path)
{
    airy_image shape;
    AIRY_TRY(airy_tiff_open(&r->pages, &shape, path));
    r->info.format = AIRY_FRAMES_TIFF;
    return array_frames(r, &shape, 0);
}

static bool has_suffix(const char *path, const char *suffix)
{
    const size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcasecmp(path + n - m, suffix) == 0;
}

/* What a regular file is, by its first bytes; for TIFF, whose are short, by its name, too. */
static airy_status find_format(airy_frame_format *format, int fd, uint64_t size, const char *path)
{
    char start[8] = "";
    AIRY_TRY(airy_file_pread(fd, start, airy_min_size(sizeof(start), (size_t)size), 0));
    const bool tiff = memcmp(start, "II*\0", 4) == 0 || memcmp(start, "MM\0*", 4) == 0 ||
                      memcmp(start, "II+\0", 4) == 0 || memcmp(start, "MM\0+", 4) == 0;
    *format = memcmp(start, "\x93NUMPY", 6) == 0 ? AIRY_FRAMES_NPY
              : memcmp(start, "\211HDF\r\n\032\n", 8) == 0 || has_suffix(path, ".h5") ||
                      has_suffix(path, ".hdf5") || has_suffix(path, ".nxs")
                  ? AIRY_FRAMES_HDF5
              : tiff && (has_suffix(path, ".tif") || has_suffix(path, ".tiff")) ? AIRY_FRAMES_TIFF
                                                                                : AIRY_FRAMES_RAW;
    return AIRY_OK;
}

static airy_status open_file(airy_frame_reader *r, const char *path,
                             const airy_frame_reader_params *params)
{
    struct stat about;
    uint64_t size = 0;
    airy_frame_format format = AIRY_FRAMES_RAW;
    const bool input = strcmp(path, "-") == 0;
    if (input || (stat(path, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode)))) {
        r->pipe = true;
        r->fd = input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
        AIRY_FAIL_HINT_IF(r->fd < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_NONE,
                          "cannot be opened: %s", strerror(errno));
        return open_raw(r, 0, params);
    }
    if (access(path, F_OK) != 0 && strstr(path, "::"))
        return open_hdf5(r, path);
    AIRY_TRY(airy_file_open(&r->fd, &size, path));
    AIRY_TRY(find_format(&format, r->fd, size, path));
    switch (format) {
    case AIRY_FRAMES_NPY:
        return open_npy(r, size, params->height);
    case AIRY_FRAMES_HDF5:
        return open_hdf5(r, path);
    case AIRY_FRAMES_TIFF:
        return open_tiff(r, path);
    default:
        return open_raw(r, size, params);
    }
}

airy_status airy_frame_reader_create(airy_frame_reader **reader, const char *path,
                                     const airy_frame_reader_params *params)
{
    static const airy_frame_reader_params none = {.height = 0};
    AIRY_FAIL_IF(!reader || !path || !*path, AIRY_ERR_PARAM,
                 "airy_frame_reader_create: reader or path is missing");
    airy_frame_reader *r;
    AIRY_TRY(airy_memory_calloc((void **)&r, 1, sizeof(*r), "a frame reader"));
    r->fd = -1;
    r->path = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    r->stop = params ? params->stop : NULL;
    r->stop_user = params ? params->stop_user : NULL;
    airy_status status = r->path ? open_file(r, path, params ? params : &none)
                                 : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status != AIRY_OK && r->path)
        status = airy_fail_path(status, r->path);
    if (status != AIRY_OK) {
        airy_frame_reader_destroy(&r);
        return status;
    }
    *reader = r;
    return AIRY_OK;
}

airy_status airy_frame_reader_get_info(const airy_frame_reader *reader,
                                       airy_frame_reader_info *info)
{
    AIRY_FAIL_IF(!reader || !info, AIRY_ERR_PARAM,
                 "airy_frame_reader_get_info: reader or info is missing");
    *info = reader->info;
    return AIRY_OK;
}

/* Bytes have come, or the pipe is at its end; false: nobody wants any more. */
static bool wait_pipe(const airy_frame_reader *r)
{
    struct pollfd pipe = {.fd = r->fd, .events = POLLIN};
    while (r->stop && poll(&pipe, 1, PATIENCE_MS) <= 0)
        if (r->stop(r->stop_user))
            return false;
    return true;
}

/* Bytes from a pipe; *got is smaller at its end, or where nobody wants any more. */
static airy_status read_pipe(airy_frame_reader *r, void *bytes, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size && wait_pipe(r)) {
        const ssize_t n = read(r->fd, (char *)bytes + *got, size - *got);
        if (n < 0 && errno == EINTR)
            continue;
        AIRY_FAIL_HINT_IF(n < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_FILE,
                          "'%s': %s", r->path, strerror(errno));
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return AIRY_OK;
}

/* The header in front of the first frame. */
static airy_status skip_header(airy_frame_reader *r)
{
    char part[4096];
    size_t got;
    while (r->start > 0) {
        const size_t want = airy_min_size(sizeof(part), (size_t)r->start);
        AIRY_TRY(read_pipe(r, part, want, &got));
        AIRY_FAIL_ON_IF(got < want, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                        "'%s' ends inside its header", r->path);
        r->start -= want;
    }
    return AIRY_OK;
}

static airy_status read_frames_of_pipe(airy_frame_reader *r, void *frames, size_t count,
                                       size_t *got)
{
    size_t bytes = 0;
    AIRY_TRY(skip_header(r));
    if (!r->cut)
        AIRY_TRY(read_pipe(r, frames, count * r->stored_bytes, &bytes));
    *got = bytes / r->stored_bytes;
    r->cut += bytes % r->stored_bytes;
    AIRY_FAIL_HINT_IF(
        r->cut && *got == 0, AIRY_ERR_CORRUPT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
        "'%s' ends inside frame %llu: %zu of %zu bytes; %llu whole frames came before it", r->path,
        (unsigned long long)r->next, r->cut, r->stored_bytes, (unsigned long long)r->next);
    return AIRY_OK;
}

/* Stored frames, in the machine's byte order. */
static airy_status read_stored(airy_frame_reader *r, void *frames, size_t count)
{
    const size_t element = airy_dtype_size(r->info.stored);
    if (r->fd >= 0 && !r->stack && !r->pages) {
        const size_t size = count * r->stored_bytes;
        uint8_t *to = (uint8_t *)frames + (r->half ? size : 0);
        AIRY_TRY(airy_file_pread(r->fd, to, size, r->start + r->next * r->stored_bytes));
        if (r->half)
            airy_image_widen(frames, size / 2, r->swapped);
        else if (r->swapped)
            airy_image_swap(frames, size / element, element);
        return AIRY_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t *frame = (uint8_t *)frames + i * r->stored_bytes;
        AIRY_TRY(r->stack ? airy_stack_read(r->stack, (size_t)r->next + i, frame, r->stored_bytes)
                          : airy_tiff_read(r->pages, frame));
    }
    return AIRY_OK;
}

/* What was read into r->stored. */
static void convert_frame(const airy_frame_reader *r, float *frame)
{
    const size_t n = r->info.height * r->info.width;
    const airy_image one = {.dtype = r->info.stored, .ndim = 1, .shape = {n}, .data = r->stored};
    for (size_t k = 0; k < n; k++)
        frame[k] = (float)airy_image_value(&one, k);
}

static airy_status read_converted(airy_frame_reader *r, float *frames, size_t count)
{
    const size_t n = r->info.height * r->info.width;
    for (size_t i = 0; i < count; i++) {
        AIRY_TRY(read_stored(r, r->stored, 1));
        convert_frame(r, frames + i * n);
        r->next++;
    }
    return AIRY_OK;
}

/* A frame behind which the pipe ends is given; the call after it says that the pipe was cut. */
static airy_status convert_frames_of_pipe(airy_frame_reader *r, float *frames, size_t count,
                                          size_t *got)
{
    const size_t n = r->info.height * r->info.width;
    size_t one = 1;
    for (*got = 0; *got < count && one; *got += one) {
        const airy_status status = read_frames_of_pipe(r, r->stored, 1, &one);
        if (status != AIRY_OK)
            return *got ? AIRY_OK : status;
        if (one)
            convert_frame(r, frames + *got * n);
    }
    return AIRY_OK;
}

airy_status airy_frame_reader_read(airy_frame_reader *reader, void *frames, size_t count,
                                   size_t *got)
{
    AIRY_FAIL_IF(!reader || (count && !frames) || !got, AIRY_ERR_PARAM,
                 "airy_frame_reader_read: an argument is missing");
    airy_frame_reader *r = reader;
    size_t bytes, found = 0;
    AIRY_FAIL_ON_IF(airy_mul_size(&bytes, count, r->info.frame_bytes), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %zu frames", "count", count);
    airy_status status;
    if (r->pipe) {
        status = r->stored ? convert_frames_of_pipe(r, frames, count, &found)
                           : read_frames_of_pipe(r, frames, count, &found);
        AIRY_TRY(status);
        r->next += found;
    } else {
        const uint64_t left = r->info.frames - r->next;
        found = left < count ? (size_t)left : count;
        status = r->stored ? read_converted(r, frames, found) : read_stored(r, frames, found);
        if (status != AIRY_OK) {
            r->next += found == 1 && airy_status_is_of_frame(status);
            return airy_fail_path(airy_hint_leaving_out(status), r->path);
        }
        r->next += r->stored ? 0 : found;
    }
    *got = found;
    return AIRY_OK;
}

airy_status airy_frame_reader_skip(airy_frame_reader *reader, uint64_t count)
{
    AIRY_FAIL_IF(!reader, AIRY_ERR_PARAM, "airy_frame_reader_skip: reader is missing");
    airy_frame_reader *r = reader;
    AIRY_FAIL_ON_IF(!r->pipe && count > r->info.frames - r->next, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s': %llu frames behind number %llu, it has %llu", r->path,
                    (unsigned long long)count, (unsigned long long)r->next,
                    (unsigned long long)r->info.frames);
    if (!r->pipe && !r->pages) {
        r->next += count;
        return AIRY_OK;
    }
    void *frame;
    size_t got = 1;
    airy_status status = AIRY_OK;
    AIRY_TRY(airy_image_alloc(&frame, r->info.frame_bytes));
    for (uint64_t i = 0; i < count && status == AIRY_OK; i++) {
        status = airy_frame_reader_read(r, frame, 1, &got);
        if (status == AIRY_OK && got == 0)
            status = airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_FILE, "'%s' ends behind %llu frames",
                                  r->path, (unsigned long long)r->next);
    }
    free(frame);
    return status;
}

bool airy_frame_reader_uses(const airy_frame_reader *reader, const char *path)
{
    struct stat a, b;
    if (!reader || !path || stat(path, &b) != 0)
        return false;
    if (reader->stack)
        return airy_stack_uses(reader->stack, path);
    return stat(reader->path, &a) == 0 && S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

void airy_frame_reader_destroy(airy_frame_reader **reader)
{
    if (!reader || !*reader)
        return;
    airy_frame_reader *r = *reader;
    if (r->fd >= 0)
        close(r->fd);
    if (r->pages)
        airy_tiff_close(&r->pages);
    airy_stack_destroy(&r->stack);
    free(r->stored);
    free(r->path);
    free(r);
    *reader = NULL;
}
