/* Images of the job stream: chunks as they are stored, or pixels encoded here. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "base/thread.h"
#include "io/file/plain_file.h"
#include "jobs/stream/stream.h"

void airy_play_close_file(struct airy_play_file *file)
{
    if (file->path)
        close(file->fd);
    free(file->pixels);
    *file = (struct airy_play_file){0};
}

static size_t frame_bytes(const struct airy_play_source *s)
{
    return s->info.height * s->info.width * airy_dtype_size(s->info.dtype);
}

/* A frame's bytes as they lie in the file, whole. */
static airy_status read_stored(void *bytes, struct airy_play_file *file,
                               const airy_stack_place *place)
{
    uint64_t size;
    if (!file->path || strcmp(file->path, place->path) != 0) {
        if (file->path)
            close(file->fd);
        file->path = NULL;
        AIRY_TRY(airy_file_open(&file->fd, &size, place->path));
        file->path = place->path;
    }
    const airy_status status = airy_file_pread(file->fd, bytes, place->size, place->offset);
    return status == AIRY_OK ? AIRY_OK : airy_fail_path(status, place->path);
}

/* What the payloads are: as stored where every channel is, in a codec that a stream has. */
struct form {
    bool stored;
    airy_codec_params codec;
    airy_stack_place places[AIRY_STREAM_CHANNELS];
};

static size_t frame_of(const struct airy_play_source *s, size_t index, size_t channel)
{
    return s->first + (index * s->v->channels + channel) * s->step;
}

static airy_status choose_form(struct form *form, const struct airy_play_source *s, size_t index)
{
    const size_t channels = s->v->channels;
    const airy_codec stored = s->info.codec.codec,
                     wish = s->has_filter ? (airy_codec)s->v->filter : stored;
    size_t encoded = 0, plain = 0;
    for (size_t i = 0; i < channels; i++) {
        AIRY_TRY(airy_stack_get_place(s->stack, frame_of(s, index, i), &form->places[i]));
        encoded += form->places[i].path && form->places[i].encoded;
        plain += form->places[i].path && !form->places[i].encoded;
    }
    form->codec = (airy_codec_params){.elem_size = (uint32_t)airy_dtype_size(s->info.dtype)};
    if (encoded == channels && stored == wish &&
        (stored == AIRY_CODEC_BSLZ4 || stored == AIRY_CODEC_LZ4)) {
        form->stored = true;
        form->codec = s->info.codec;
        if (form->codec.elem_size == 0)
            form->codec.elem_size = (uint32_t)airy_dtype_size(s->info.dtype);
        return AIRY_OK;
    }
    form->codec.codec = s->has_filter ? wish : AIRY_CODEC_NONE;
    form->stored = form->codec.codec == AIRY_CODEC_NONE && plain == channels;
    return AIRY_OK;
}

size_t airy_play_image_bytes(const struct airy_play_source *s, size_t index)
{
    struct form form = {0};
    size_t bytes = 0;
    if (choose_form(&form, s, index) != AIRY_OK || !form.stored)
        return s->v->channels * frame_bytes(s);
    for (size_t i = 0; i < s->v->channels; i++)
        bytes += form.places[i].size;
    return bytes;
}

/* Room for a frame, and behind it for the payloads of an image. */
static airy_status make_room(struct airy_play_file *file, size_t plain, size_t bound,
                             size_t channels)
{
    size_t size = 0;
    if (file->pixels)
        return AIRY_OK;
    const bool large = bound == 0 || airy_mul_size(&size, channels, bound) ||
                       airy_add_size(&size, size, plain);
    file->pixels = large ? NULL : malloc(size);
    AIRY_FAIL_IF(!file->pixels, AIRY_ERR_MEMORY, "out of memory for an image of %zu frame%s",
                 channels, channels == 1 ? "" : "s");
    return AIRY_OK;
}

/* Frames that are not sent as they are stored: decoded, and encoded where that is asked for. */
static airy_status read_pixels(airy_stream_image **image, struct airy_play_file *file,
                               const struct airy_play_source *s, const struct form *form,
                               size_t index)
{
    const bool encodes = form->codec.codec != AIRY_CODEC_NONE;
    const size_t plain = frame_bytes(s), channels = s->v->channels,
                 bound = encodes ? airy_encode_bound(plain, &form->codec) : plain;
    size_t sizes[AIRY_STREAM_CHANNELS];
    AIRY_TRY(make_room(file, plain, bound, channels));
    char *pixels = file->pixels, *encoded = pixels + plain;
    for (size_t i = 0; i < channels; i++) {
        char *to = encoded + i * bound;
        sizes[i] = bound;
        AIRY_TRY(airy_stack_read(s->stack, frame_of(s, index, i), encodes ? pixels : to, plain));
        if (encodes)
            AIRY_TRY(airy_encode(to, &sizes[i], pixels, plain, &form->codec));
    }
    AIRY_TRY(airy_stream_image_create(image, &s->series, &form->codec, sizes));
    for (size_t i = 0; i < channels; i++)
        memcpy(airy_stream_image_data(*image, i), encoded + i * bound, sizes[i]);
    return AIRY_OK;
}

airy_status airy_play_read_image(airy_stream_image **image, struct airy_play_file *file,
                                 const struct airy_play_source *s, size_t index)
{
    struct form form = {0};
    size_t sizes[AIRY_STREAM_CHANNELS];
    AIRY_TRY(choose_form(&form, s, index));
    if (!form.stored)
        return read_pixels(image, file, s, &form, index);
    for (size_t i = 0; i < s->v->channels; i++)
        sizes[i] = form.places[i].size;
    airy_status status = airy_stream_image_create(image, &s->series, &form.codec, sizes);
    for (size_t i = 0; status == AIRY_OK && i < s->v->channels; i++)
        status = read_stored(airy_stream_image_data(*image, i), file, &form.places[i]);
    if (status != AIRY_OK)
        airy_stream_image_destroy(image);
    return status;
}

/* ---- all of them ahead ---- */

/* All images before the first that fails are looked at, so that it is the same in every run. */
struct keeping {
    struct airy_play_source *source;
    struct airy_play_file *files; /* [threads] */
    atomic_size_t failed_at;      /* the first image that could not be read; SIZE_MAX: none */
    atomic_bool stopped;
    pthread_mutex_t lock, step; /* of the error; of the job's hook */
    airy_error error;
};

static void note_failure(struct keeping *k, size_t index, airy_status status)
{
    pthread_mutex_lock(&k->lock);
    if (index < atomic_load(&k->failed_at)) {
        atomic_store(&k->failed_at, index);
        k->error.status = AIRY_OK;
        (void)airy_error_first(&k->error, status);
    }
    pthread_mutex_unlock(&k->lock);
}

static void keep_image(void *user, size_t index, unsigned worker)
{
    struct keeping *k = user;
    struct airy_play_source *s = k->source;
    if (pthread_mutex_trylock(&k->step) == 0) {
        if (!atomic_load(&k->stopped) && !airy_job_step(s->job, 0, 1))
            atomic_store(&k->stopped, true);
        pthread_mutex_unlock(&k->step);
    }
    if (atomic_load(&k->stopped) || index > atomic_load(&k->failed_at))
        return;
    const airy_status status = airy_play_read_image(&s->kept[index], &k->files[worker], s, index);
    if (status != AIRY_OK)
        note_failure(k, index, status);
}

static airy_status keep_all(struct keeping *k, airy_pool *pool)
{
    const unsigned threads = airy_pool_size(pool);
    AIRY_TRY(airy_memory_calloc((void **)&k->files, threads, sizeof(k->files[0]), "files"));
    airy_pool_run(pool, k->source->images, keep_image, k);
    for (unsigned i = 0; i < threads; i++)
        airy_play_close_file(&k->files[i]);
    free(k->files);
    if (atomic_load(&k->failed_at) < SIZE_MAX)
        return airy_error_restore(&k->error);
    AIRY_FAIL_IF(atomic_load(&k->stopped), AIRY_ERR_CANCELLED,
                 "the stream was cancelled before its first image");
    return AIRY_OK;
}

airy_status airy_play_keep_images(struct airy_play_source *s)
{
    struct keeping k = {.source = s,
                        .failed_at = SIZE_MAX,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .step = PTHREAD_MUTEX_INITIALIZER};
    airy_pool *pool = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&s->kept, s->images, sizeof(void *), "images"));
    AIRY_TRY(airy_pool_create(&pool, (unsigned)s->v->threads));
    const airy_status status = keep_all(&k, pool);
    airy_pool_destroy(&pool);
    return status;
}

void airy_play_free_images(struct airy_play_source *s)
{
    for (size_t i = 0; s->kept && i < s->images; i++)
        airy_stream_image_destroy(&s->kept[i]);
    free(s->kept);
    s->kept = NULL;
}
