/* Frames into files that grow: NPY, TIFF and headerless here, HDF5 in frame_sink_hdf5.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/stack/frame_sink.h"
#include "io/image/formats.h"
#include "io/file/plain_file.h"

struct airy_frame_writer {
    const struct airy_frame_sink_fns *fns;
    struct airy_frame_sink *sink;
    char *path, *partial; /* partial: NULL when it has its name */
    int fd;               /* of the file; negative: none */
    bool force;
    uint64_t frames;
};

/* NPY: the header is written again once the number of frames is known. Headerless: without. */
struct npy_sink {
    int fd;
    airy_image shape; /* [frames, height, width(, 2)] */
    bool headerless;
    size_t header, frame;
    uint64_t at;
};

static airy_status put_header(struct npy_sink *s)
{
    char header[AIRY_NPY_HEADER];
    if (s->headerless)
        return AIRY_OK;
    s->header = airy_npy_header(header, &s->shape, s->header);
    return airy_file_pwrite(s->fd, header, s->header, 0);
}

static void npy_destroy(struct airy_frame_sink *sink)
{
    free(sink);
}

static airy_status npy_create(struct airy_frame_sink **sink, int fd, const char *partial,
                              const airy_frame_writer_params *params)
{
    struct npy_sink *s;
    (void)partial;
    AIRY_TRY(airy_memory_calloc((void **)&s, 1, sizeof(*s), "an NPY file"));
    s->shape = (airy_image){.dtype = params->dtype,
                            .ndim = params->is_complex ? 4 : 3,
                            .shape = {SIZE_MAX, params->height, params->width, 2},
                            .is_complex = airy_frame_sink_is_complex(params)};
    s->frame = params->height * params->width * airy_dtype_size(params->dtype) *
               (params->is_complex ? 2 : 1);
    s->headerless = params->headerless;
    s->fd = fd;
    const airy_status status = put_header(s);
    if (status != AIRY_OK) {
        free(s);
        return status;
    }
    s->at = s->header;
    *sink = (struct airy_frame_sink *)s;
    return AIRY_OK;
}

static airy_status npy_add(struct airy_frame_sink *sink, const void *frames, size_t count)
{
    struct npy_sink *s = (struct npy_sink *)sink;
    AIRY_TRY(airy_file_pwrite(s->fd, frames, count * s->frame, s->at));
    s->at += count * s->frame;
    return AIRY_OK;
}

static airy_status npy_finish(struct airy_frame_sink *sink, uint64_t frames)
{
    struct npy_sink *s = (struct npy_sink *)sink;
    s->shape.shape[0] = (size_t)frames;
    AIRY_TRY(put_header(s));
    AIRY_FAIL_HINT_IF(fsync(s->fd) != 0 && errno != EINVAL && errno != EROFS, AIRY_ERR_IO,
                      airy_hint_of_errno(errno), AIRY_SUBJECT_NONE, "fsync: %s", strerror(errno));
    return AIRY_OK;
}

static const struct airy_frame_sink_fns npy_fns = {
    .create = npy_create, .add = npy_add, .finish = npy_finish, .destroy = npy_destroy};

/* TIFF: a page a frame. */
struct tiff_sink {
    struct airy_tiff_pages *pages;
    airy_image page;
    size_t frame;
};

static airy_status tiff_create(struct airy_frame_sink **sink, int fd, const char *partial,
                               const airy_frame_writer_params *params)
{
    struct tiff_sink *s;
    (void)partial;
    AIRY_FAIL_IF(params->is_complex, AIRY_ERR_UNSUPPORTED,
                 "TIFF holds no complex numbers, expected .h5 or .npy");
    AIRY_FAIL_IF(params->height > UINT32_MAX || params->width > UINT32_MAX, AIRY_ERR_UNSUPPORTED,
                 "frames of %zu x %zu are more than TIFF's 32 bits", params->height, params->width);
    AIRY_TRY(airy_memory_calloc((void **)&s, 1, sizeof(*s), "a TIFF file"));
    s->page =
        (airy_image){.dtype = params->dtype, .ndim = 2, .shape = {params->height, params->width}};
    s->frame = params->height * params->width * airy_dtype_size(params->dtype);
    /* 32-bit offsets reach as far, with room for the pages' directories. */
    const uint64_t most = ((uint64_t)3 << 30) / (s->frame + 512);
    const airy_status status =
        airy_tiff_create(&s->pages, fd, params->frames == 0 || params->frames > most);
    if (status != AIRY_OK) {
        free(s);
        return status;
    }
    *sink = (struct airy_frame_sink *)s;
    return AIRY_OK;
}

static airy_status tiff_add(struct airy_frame_sink *sink, const void *frames, size_t count)
{
    struct tiff_sink *s = (struct tiff_sink *)sink;
    for (size_t i = 0; i < count; i++) {
        s->page.data = (uint8_t *)frames + i * s->frame;
        AIRY_TRY(airy_tiff_add(s->pages, &s->page));
    }
    return AIRY_OK;
}

static airy_status tiff_finish(struct airy_frame_sink *sink, uint64_t frames)
{
    (void)frames;
    return airy_tiff_finish(((struct tiff_sink *)sink)->pages);
}

static void tiff_destroy(struct airy_frame_sink *sink)
{
    airy_tiff_close(&((struct tiff_sink *)sink)->pages);
    free(sink);
}

static const struct airy_frame_sink_fns tiff_fns = {
    .create = tiff_create, .add = tiff_add, .finish = tiff_finish, .destroy = tiff_destroy};

/* NULL: no such format. */
static const struct airy_frame_sink_fns *find_format(const char *path)
{
    static const struct {
        const char *suffix;
        const struct airy_frame_sink_fns *fns;
    } formats[] = {{".npy", &npy_fns},
                   {".tif", &tiff_fns},
                   {".tiff", &tiff_fns},
                   {".h5", &airy_frame_sink_hdf5},
                   {".hdf5", &airy_frame_sink_hdf5},
                   {".nxs", &airy_frame_sink_hdf5}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcasecmp(dot, formats[i].suffix) == 0)
            return formats[i].fns;
    return NULL;
}

bool airy_frame_writer_has_format(const char *path)
{
    return path && find_format(path) != NULL;
}

static airy_status check_params(const airy_frame_writer_params *p)
{
    size_t bytes = airy_dtype_size(p->dtype);
    AIRY_FAIL_IF(bytes == 0, AIRY_ERR_DTYPE, "frames: dtype = %d is not known", (int)p->dtype);
    AIRY_FAIL_IF(airy_frame_sink_is_complex(p) && !airy_dtype_is_float(p->dtype), AIRY_ERR_DTYPE,
                 "frames: complex numbers of %s, expected float32 or float64",
                 airy_dtype_name(p->dtype));
    AIRY_FAIL_IF(p->height == 0 || p->width == 0 || airy_mul_size(&bytes, bytes, p->height) ||
                     airy_mul_size(&bytes, bytes, p->width) || airy_mul_size(&bytes, bytes, 2),
                 AIRY_ERR_SHAPE, "frames of %zu x %zu, expected a size", p->height, p->width);
    return AIRY_OK;
}

airy_status airy_frame_writer_create(airy_frame_writer **writer, const char *path,
                                     const airy_frame_writer_params *params)
{
    AIRY_FAIL_IF(!writer || !path || !*path || !params, AIRY_ERR_PARAM,
                 "airy_frame_writer_create: an argument is missing");
    AIRY_TRY(check_params(params));
    const struct airy_frame_sink_fns *fns = params->headerless ? &npy_fns : find_format(path);
    AIRY_FAIL_ON_IF(!fns, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "'%s': suffix of no format of frames, expected .h5, .npy or .tif", path);
    AIRY_FAIL_ON_IF(!params->force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", path);
    airy_frame_writer *w;
    AIRY_TRY(airy_memory_calloc((void **)&w, 1, sizeof(*w), "a frame writer"));
    w->fns = fns;
    w->force = params->force;
    w->fd = -1;
    w->path = strdup(path);
    airy_status status = w->path ? airy_file_create(&w->fd, &w->partial, path)
                                 : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status == AIRY_OK)
        status = fns->create(&w->sink, w->fd, w->partial, params);
    if (status != AIRY_OK) {
        airy_fail_path(status, path);
        airy_frame_writer_destroy(&w);
        return status;
    }
    *writer = w;
    return AIRY_OK;
}

airy_status airy_frame_writer_add(airy_frame_writer *writer, const void *frames, size_t count)
{
    AIRY_FAIL_IF(!writer || (count && !frames) || !writer->sink, AIRY_ERR_PARAM,
                 "airy_frame_writer_add: no open writer or no frames");
    if (count == 0)
        return AIRY_OK;
    const airy_status status = writer->fns->add(writer->sink, frames, count);
    if (status != AIRY_OK)
        return airy_fail_path(status, writer->partial);
    writer->frames += count;
    return AIRY_OK;
}

airy_status airy_frame_writer_finish(airy_frame_writer *writer)
{
    AIRY_FAIL_IF(!writer || !writer->sink, AIRY_ERR_PARAM,
                 "airy_frame_writer_finish: no open writer");
    AIRY_FAIL_ON_IF(writer->frames == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s': no frame was added", writer->path);
    const airy_status status = writer->fns->finish(writer->sink, writer->frames);
    writer->fns->destroy(writer->sink);
    writer->sink = NULL;
    AIRY_TRY(status);
    AIRY_TRY(airy_file_rename(writer->partial, writer->path, writer->force));
    free(writer->partial);
    writer->partial = NULL;
    return AIRY_OK;
}

void airy_frame_writer_destroy(airy_frame_writer **writer)
{
    if (!writer || !*writer)
        return;
    airy_frame_writer *w = *writer;
    if (w->sink)
        w->fns->destroy(w->sink);
    if (w->fd >= 0)
        close(w->fd);
    if (w->partial)
        airy_file_remove(w->partial);
    free(w->partial);
    free(w->path);
    free(w);
    *writer = NULL;
}
