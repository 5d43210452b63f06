#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/stack.h"
#include "base/memory.h"
#include "base/size.h"
#include "codec/chunks.h"
#include "io/file/plain_file.h"
#include "io/stack/file.h"

struct airy_stack_writer {
    char *path, *partial; /* partial: of the master */
    char *dataset;
    bool mastered, finished;         /* mastered: there is a master under its partial name */
    airy_stack_writer_params params; /* complete; without geometry and mask */
    size_t frame_bytes, chunk_bound;
    struct airy_stack_file *files; /* [count] */
    size_t count, each;            /* each: frames of a file, but for the last */
    uint8_t *added, *placed;       /* one bit a frame */
};

static bool is_series(const airy_stack_writer *w)
{
    return w->params.frames_per_file > 0;
}

static struct airy_stack_file *file_of(const airy_stack_writer *w, size_t frame)
{
    return &w->files[frame / w->each];
}

static airy_status check_params(airy_stack_writer *w, const airy_stack_writer_params *p)
{
    const size_t size = airy_dtype_size(p->dtype);
    airy_codec_params *codec = &w->params.codec;
    AIRY_FAIL_IF(size == 0, AIRY_ERR_DTYPE, "stack writer: dtype = %d is not known", (int)p->dtype);
    AIRY_FAIL_IF(p->frames == 0 || airy_mul_size(&w->frame_bytes, p->height, p->width) ||
                     airy_mul_size(&w->frame_bytes, w->frame_bytes, size) || w->frame_bytes == 0,
                 AIRY_ERR_PARAM, "stack writer: %zu frames of %zu x %zu pixels", p->frames,
                 p->height, p->width);
    AIRY_FAIL_IF(w->frame_bytes >= UINT32_MAX, AIRY_ERR_UNSUPPORTED,
                 "stack writer: a frame of %zu bytes, HDF5 chunks have fewer than %u",
                 w->frame_bytes, UINT32_MAX);
    if (codec->elem_size == 0)
        codec->elem_size = (uint32_t)size;
    AIRY_FAIL_IF(codec->elem_size != size && codec->codec != AIRY_CODEC_LZ4, AIRY_ERR_PARAM,
                 "stack writer: codec's element size = %u, expected %zu of %s", codec->elem_size,
                 size, airy_dtype_name(p->dtype));
    AIRY_FAIL_IF(codec->codec == AIRY_CODEC_BSZSTD, AIRY_ERR_UNSUPPORTED,
                 "stack writer: codec = bszstd, which is decoded only: write bslz4, lz4 or bshuf");
    airy_block_layout layout;
    AIRY_TRY(airy_block_layout_make(&layout, w->frame_bytes, codec));
    w->chunk_bound = airy_encode_bound(w->frame_bytes, codec);
    AIRY_FAIL_IF(p->dataset && p->dataset[0] != '/', AIRY_ERR_PARAM,
                 "stack writer: dataset '%s', expected a path from /", p->dataset);
    return AIRY_OK;
}

/* How many files, and that their numbers fit. */
static airy_status check_files(airy_stack_writer *w, const airy_stack_writer_params *p)
{
    w->each = p->frames;
    w->count = 1;
    if (p->frames_per_file == 0)
        return AIRY_OK;
    w->each = airy_min_size(p->frames, p->frames_per_file);
    w->count = (p->frames - 1) / w->each + 1;
    AIRY_FAIL_IF(p->dataset, AIRY_ERR_PARAM,
                 "stack writer: dataset '%s' and several files, whose datasets have names of their "
                 "own",
                 p->dataset);
    AIRY_FAIL_IF(w->count > AIRY_STACK_MAX_FILES, AIRY_ERR_PARAM,
                 "stack writer: %zu files of %zu frames, expected at most %d files", w->count,
                 w->each, AIRY_STACK_MAX_FILES);
    AIRY_FAIL_IF(p->frames > INT32_MAX, AIRY_ERR_PARAM,
                 "stack writer: %zu frames in several files, expected at most %d", p->frames,
                 INT32_MAX);
    return AIRY_OK;
}

static airy_status check_free(const airy_stack_writer *w, const char *path)
{
    AIRY_FAIL_ON_IF(!w->params.force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", path);
    return AIRY_OK;
}

/* None of them is begun. */
static airy_status name_files(airy_stack_writer *w)
{
    AIRY_TRY(airy_memory_calloc((void **)&w->files, w->count, sizeof(*w->files),
                                "the files of a stack"));
    AIRY_TRY(check_free(w, w->path));
    if (is_series(w))
        AIRY_TRY(airy_stack_master_check(w->path));
    for (size_t i = 0; i < w->count; i++) {
        struct airy_stack_file *f = &w->files[i];
        f->first = i * w->each;
        f->frames = f->left = airy_min_size(w->each, w->params.frames - f->first);
        if (is_series(w)) {
            AIRY_TRY(airy_stack_data_path(&f->path, w->path, i + 1));
            AIRY_TRY(check_free(w, f->path));
        } else {
            f->path = strdup(w->path);
            AIRY_FAIL_IF(!f->path, AIRY_ERR_MEMORY, "out of memory for a path");
        }
    }
    return AIRY_OK;
}

/* What is known before the first frame: a master whole, or the only file. */
static airy_status begin(airy_stack_writer *w)
{
    airy_status status;
    if (is_series(w)) {
        AIRY_TRY(airy_file_begin(&w->partial, w->path));
        w->mastered = true;
        status = airy_stack_master_write(w->partial, w->files, w->count, &w->params);
    } else {
        AIRY_TRY(airy_hdf5_lock());
        status = airy_stack_file_begin(&w->files[0], &w->params, false);
        airy_hdf5_unlock();
    }
    w->params.geometry = NULL; /* the caller's */
    w->params.mask = NULL;
    return status;
}

static airy_status prepare(airy_stack_writer *w, const char *path,
                           const airy_stack_writer_params *params)
{
    w->params = *params;
    w->path = strdup(path);
    w->dataset = strdup(params->dataset ? params->dataset : "/entry/data/data");
    AIRY_FAIL_IF(!w->path || !w->dataset, AIRY_ERR_MEMORY, "out of memory for a path");
    w->params.dataset = w->dataset;
    AIRY_TRY(check_params(w, params));
    AIRY_TRY(check_files(w, params));
    const size_t bits = params->frames / 8 + 1;
    AIRY_TRY(airy_memory_calloc((void **)&w->added, bits, 1, "the frames of a stack"));
    AIRY_TRY(airy_memory_calloc((void **)&w->placed, bits, 1, "the frames of a stack"));
    AIRY_TRY(name_files(w));
    return begin(w);
}

airy_status airy_stack_writer_create(airy_stack_writer **writer, const char *path,
                                     const airy_stack_writer_params *params)
{
    AIRY_FAIL_IF(!writer || !path || !*path || !params, AIRY_ERR_PARAM,
                 "airy_stack_writer_create: an argument is NULL");
    airy_stack_writer *w;
    AIRY_TRY(airy_memory_calloc((void **)&w, 1, sizeof(*w), "a stack writer"));
    const airy_status status = prepare(w, path, params);
    if (status != AIRY_OK) {
        airy_stack_writer_destroy(&w);
        return status;
    }
    *writer = w;
    return AIRY_OK;
}

static airy_status check_frame(const airy_stack_writer *w, size_t frame)
{
    AIRY_FAIL_ON_IF(frame >= w->params.frames, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, the stack has %zu", "frame", frame, w->params.frames);
    return AIRY_OK;
}

enum { FRAME_NAME = 32 };

static void name_frame(char where[FRAME_NAME], size_t frame)
{
    snprintf(where, FRAME_NAME, "frame %zu", frame);
}

/* A chunk that no reader could decode is refused here, where its maker can be found. */
static airy_status check_chunk(const airy_stack_writer *w, size_t frame, const void *chunk,
                               size_t size)
{
    const airy_codec codec = w->params.codec.codec;
    char where[FRAME_NAME];
    name_frame(where, frame);
    if (codec == AIRY_CODEC_NONE || codec == AIRY_CODEC_BSHUF) {
        AIRY_FAIL_ON_IF(size != w->frame_bytes, AIRY_ERR_PARAM, AIRY_SUBJECT_FRAME,
                        "%s: %zu bytes, expected %zu", where, size, w->frame_bytes);
        return AIRY_OK;
    }
    uint64_t decoded = 0;
    uint32_t block;
    AIRY_FAIL_ON_IF(size > w->chunk_bound, AIRY_ERR_PARAM, AIRY_SUBJECT_FRAME,
                    "%s: a chunk of %zu bytes, expected at most %zu", where, size, w->chunk_bound);
    const airy_status status =
        airy_chunk_header(&decoded, &block, chunk, size, codec, w->params.codec.elem_size);
    if (status != AIRY_OK)
        return airy_fail_frame(AIRY_ERR_PARAM, where);
    AIRY_FAIL_ON_IF(decoded != w->frame_bytes, AIRY_ERR_PARAM, AIRY_SUBJECT_FRAME,
                    "%s: its chunk decodes to %llu bytes, expected %zu", where,
                    (unsigned long long)decoded, w->frame_bytes);
    return AIRY_OK;
}

/* Lock held. */
static airy_status place_chunk(struct airy_stack_file *f, const void *chunk,
                               airy_frame_place *place)
{
    const hsize_t offset[3] = {place->frame - f->first, 0, 0};
    airy_sink_hold(&f->sink, chunk, place->size);
    const herr_t done = H5Dwrite_chunk(f->dataset, H5P_DEFAULT, 0, offset, place->size, chunk);
    place->written = !airy_sink_held(&f->sink, &place->offset);
    if (f->sink.error)
        return airy_sink_result(&f->sink, f->partial);
    return done < 0 ? airy_about(AIRY_SUBJECT_FILE, f->partial,
                                 airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE,
                                                "cannot write frame %zu of '%s'", place->frame,
                                                f->partial))
                    : AIRY_OK;
}

/* A frame is placed once, in a file that is open from then on. Lock held. */
static airy_status begin_frame(airy_stack_writer *writer, size_t frame)
{
    struct airy_stack_file *file = file_of(writer, frame);
    const uint8_t bit = (uint8_t)(1u << frame % 8);
    char where[FRAME_NAME];
    name_frame(where, frame);
    AIRY_FAIL_ON_IF(writer->placed[frame / 8] & bit, AIRY_ERR_PARAM, AIRY_SUBJECT_FRAME,
                    "%s has its place already", where);
    if (!file->made)
        AIRY_TRY(airy_stack_file_begin(file, &writer->params, true));
    writer->placed[frame / 8] |= bit;
    return AIRY_OK;
}

/* The last frame of a file completes it. */
static airy_status end_frame(airy_stack_writer *writer, size_t frame)
{
    struct airy_stack_file *file = file_of(writer, frame);
    const uint8_t bit = (uint8_t)(1u << frame % 8),
                  before = __atomic_fetch_or(&writer->added[frame / 8], bit, __ATOMIC_RELAXED);
    if (before & bit || __atomic_sub_fetch(&file->left, 1, __ATOMIC_ACQ_REL) > 0)
        return AIRY_OK;
    return airy_stack_file_complete(file);
}

airy_status airy_stack_writer_place(airy_stack_writer *writer, size_t frame, const void *chunk,
                                    size_t size, airy_frame_place *place)
{
    AIRY_FAIL_IF(!writer || !chunk || !place || writer->finished, AIRY_ERR_PARAM,
                 "airy_stack_writer_place: no open writer, no chunk or no place");
    AIRY_TRY(check_frame(writer, frame));
    AIRY_TRY(check_chunk(writer, frame, chunk, size));
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = begin_frame(writer, frame);
    if (status == AIRY_OK) {
        *place = (airy_frame_place){.frame = frame, .size = size};
        status = place_chunk(file_of(writer, frame), chunk, place);
    }
    airy_hdf5_unlock();
    return status;
}

airy_status airy_stack_writer_skip(airy_stack_writer *writer, size_t frame)
{
    AIRY_FAIL_IF(!writer || writer->finished, AIRY_ERR_PARAM,
                 "airy_stack_writer_skip: no open writer");
    AIRY_TRY(check_frame(writer, frame));
    AIRY_TRY(airy_hdf5_lock());
    const airy_status status = begin_frame(writer, frame);
    airy_hdf5_unlock();
    return status == AIRY_OK ? end_frame(writer, frame) : status;
}

airy_status airy_stack_writer_put(airy_stack_writer *writer, const airy_frame_place *place,
                                  const void *chunk, size_t size)
{
    AIRY_FAIL_IF(!writer || !chunk || !place || writer->finished, AIRY_ERR_PARAM,
                 "airy_stack_writer_put: no open writer, no chunk or no place");
    AIRY_FAIL_ON_IF(place->frame >= writer->params.frames || size != place->size, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s = %zu of %zu bytes, the stack has %zu, and %zu bytes were placed", "frame",
                    place->frame, size, writer->params.frames, place->size);
    struct airy_stack_file *file = file_of(writer, place->frame);
    AIRY_FAIL_IF(!file->open, AIRY_ERR_PARAM, "frame %zu: its file is complete, or not begun",
                 place->frame);
    if (!place->written) {
        const airy_status status = airy_file_pwrite(file->bytes, chunk, size, place->offset);
        if (status != AIRY_OK)
            return airy_fail_context(status, "'%s'", file->partial);
        airy_writeback_add(file->writeback, place->offset, place->offset + size);
    }
    return end_frame(writer, place->frame);
}

airy_status airy_stack_writer_add(airy_stack_writer *writer, size_t frame, const void *chunk,
                                  size_t size)
{
    airy_frame_place place;
    AIRY_TRY(airy_stack_writer_place(writer, frame, chunk, size, &place));
    return airy_stack_writer_put(writer, &place, chunk, size);
}

const airy_stack_writer_params *airy_stack_writer_get_params(const airy_stack_writer *writer)
{
    return &writer->params;
}

static size_t first_missing(const airy_stack_writer *w)
{
    size_t frame = 0;
    while (frame < w->params.frames && (w->added[frame / 8] >> frame % 8 & 1))
        frame++;
    return frame;
}

/* Before anything of an old stack goes: what is no file cannot be written over. */
static airy_status check_targets(const airy_stack_writer *w)
{
    struct stat is;
    for (size_t i = 0; i < w->count; i++)
        AIRY_FAIL_ON_IF(lstat(w->files[i].path, &is) == 0 && !S_ISREG(is.st_mode), AIRY_ERR_IO,
                        AIRY_SUBJECT_FILE, "cannot write over '%s': it is no file",
                        w->files[i].path);
    return AIRY_OK;
}

/*
 * Data files of the master that was replaced, the first `before` of it, that the new one lacks. What
 * cannot go is no reason to fail: the new stack is whole.
 */
static void remove_surplus(const airy_stack_writer *w, size_t before)
{
    struct stat is;
    for (size_t number = w->count + 1; number <= before; number++) {
        char *path = NULL;
        if (airy_stack_data_path(&path, w->path, number) == AIRY_OK && lstat(path, &is) == 0 &&
            S_ISREG(is.st_mode))
            unlink(path);
        free(path);
    }
    if (before > w->count)
        airy_file_sync_folder(w->path);
}

/* Data files, then the master: under its name are never frames of two stacks. */
static airy_status publish_series(airy_stack_writer *w)
{
    const bool force = w->params.force;
    size_t before = 0;
    AIRY_TRY(check_targets(w));
    if (force)
        AIRY_TRY(airy_stack_data_count(&before, w->path));
    AIRY_FAIL_HINT_IF(force && unlink(w->path) != 0 && errno != ENOENT, AIRY_ERR_IO,
                      airy_hint_of_errno(errno), AIRY_SUBJECT_FILE, "cannot remove '%s': %s",
                      w->path, strerror(errno));
    if (force)
        airy_file_sync_folder(w->path);
    airy_status status = AIRY_OK;
    size_t done = 0;
    while (status == AIRY_OK && done < w->count) {
        struct airy_stack_file *f = &w->files[done];
        status = airy_file_move(f->partial, f->path, force);
        f->made = status != AIRY_OK;
        done += status == AIRY_OK;
    }
    if (status == AIRY_OK) {
        airy_file_sync_folder(w->path);
        status = airy_file_rename(w->partial, w->path, force);
    }
    w->mastered = status != AIRY_OK;
    for (size_t i = 0; i < done && status != AIRY_OK; i++)
        unlink(w->files[i].path);
    if (status == AIRY_OK)
        remove_surplus(w, before);
    return status;
}

airy_status airy_stack_writer_finish(airy_stack_writer *writer)
{
    AIRY_FAIL_IF(!writer || writer->finished, AIRY_ERR_PARAM,
                 "airy_stack_writer_finish: no open writer");
    const size_t missing = first_missing(writer);
    AIRY_FAIL_ON_IF(missing < writer->params.frames, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s': frame %zu of %zu was not added", writer->path, missing,
                    writer->params.frames);
    for (size_t i = 0; i < writer->count; i++)
        AIRY_FAIL_ON_IF(!writer->files[i].complete, AIRY_ERR_IO, AIRY_SUBJECT_FILE,
                        "'%s' could not be completed", writer->files[i].path);
    if (is_series(writer)) {
        AIRY_TRY(publish_series(writer));
    } else {
        struct airy_stack_file *file = &writer->files[0];
        AIRY_TRY(airy_file_rename(file->partial, file->path, writer->params.force));
        file->made = false;
    }
    writer->finished = true;
    return AIRY_OK;
}

void airy_stack_writer_destroy(airy_stack_writer **writer)
{
    if (!writer || !*writer)
        return;
    airy_stack_writer *dead = *writer;
    *writer = NULL;
    for (size_t i = 0; dead->files && i < dead->count; i++) {
        airy_stack_file_discard(&dead->files[i]);
        free(dead->files[i].path);
        free(dead->files[i].partial);
    }
    if (dead->mastered)
        airy_file_remove(dead->partial);
    free(dead->files);
    free(dead->path);
    free(dead->partial);
    free(dead->added);
    free(dead->placed);
    free(dead->dataset);
    free(dead);
}
