/* Images of `airy stream`: chunks as they are stored, or pixels encoded here. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/stream.h"

void stream_close_file(struct stream_file *file)
{
    if (file->path)
        close(file->fd);
    free(file->pixels);
    *file = (struct stream_file){0};
}

static size_t frame_bytes(const struct stream_source *s)
{
    return s->info.height * s->info.width * airy_dtype_size(s->info.dtype);
}

/* A frame's bytes as they lie in the file, whole. */
static airy_status read_stored(void *bytes, struct stream_file *file, const airy_stack_place *place,
                               const struct common *common)
{
    if (!file->path || strcmp(file->path, place->path) != 0) {
        if (file->path)
            close(file->fd);
        file->path = NULL;
        file->fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file->fd < 0) {
            tool_fail(common, "%s: cannot be opened: %s", place->path, strerror(errno));
            return AIRY_ERR_CANCELLED;
        }
        file->path = place->path;
    }
    for (size_t done = 0; done < place->size;) {
        const ssize_t got = pread(file->fd, (char *)bytes + done, place->size - done,
                                  (off_t)(place->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            tool_fail(common, "%s: %s at byte %llu", place->path,
                      got < 0 ? strerror(errno) : "ends too soon",
                      (unsigned long long)place->offset + done);
            return AIRY_ERR_CANCELLED;
        }
        done += (size_t)got;
    }
    return AIRY_OK;
}

/* What the payloads are: as stored where every channel is, in a codec that a stream has. */
struct form {
    bool stored;
    airy_codec_params codec;
    airy_stack_place places[AIRY_STREAM_CHANNELS];
};

static size_t frame_of(const struct stream_source *s, size_t index, size_t channel)
{
    return s->first + (index * s->p->channels + channel) * s->step;
}

static airy_status choose_form(struct form *form, const struct stream_source *s, size_t index)
{
    const struct stream_params *p = s->p;
    const airy_codec stored = s->info.codec.codec, wish = p->has_filter ? p->filter : stored;
    size_t encoded = 0, plain = 0;
    for (size_t i = 0; i < p->channels; i++) {
        const airy_status status =
            airy_stack_get_place(s->stack, frame_of(s, index, i), &form->places[i]);
        if (status != AIRY_OK)
            return status;
        encoded += form->places[i].path && form->places[i].encoded;
        plain += form->places[i].path && !form->places[i].encoded;
    }
    form->codec = (airy_codec_params){.elem_size = (uint32_t)airy_dtype_size(s->info.dtype)};
    if (encoded == p->channels && stored == wish &&
        (stored == AIRY_CODEC_BSLZ4 || stored == AIRY_CODEC_LZ4)) {
        form->stored = true;
        form->codec = s->info.codec;
        if (form->codec.elem_size == 0)
            form->codec.elem_size = (uint32_t)airy_dtype_size(s->info.dtype);
        return AIRY_OK;
    }
    form->codec.codec = p->has_filter ? p->filter : AIRY_CODEC_NONE;
    form->stored = form->codec.codec == AIRY_CODEC_NONE && plain == p->channels;
    return AIRY_OK;
}

size_t stream_image_bytes(const struct stream_source *s, size_t index)
{
    struct form form = {0};
    size_t bytes = 0;
    if (choose_form(&form, s, index) != AIRY_OK || !form.stored)
        return s->p->channels * frame_bytes(s);
    for (size_t i = 0; i < s->p->channels; i++)
        bytes += form.places[i].size;
    return bytes;
}

/* Frames that are not sent as they are stored: decoded, and encoded where that is asked for. */
static airy_status read_pixels(airy_stream_image **image, struct stream_file *file,
                               const struct stream_source *s, const struct form *form, size_t index)
{
    const size_t plain = frame_bytes(s), channels = s->p->channels,
                 bound = form->codec.codec ? airy_encode_bound(plain, &form->codec) : plain;
    size_t sizes[AIRY_STREAM_CHANNELS];
    if (bound == 0)
        return AIRY_ERR_MEMORY;
    if (!file->pixels)
        file->pixels = malloc(plain + channels * bound);
    if (!file->pixels)
        return AIRY_ERR_MEMORY;
    char *pixels = file->pixels, *encoded = pixels + plain;
    for (size_t i = 0; i < channels; i++) {
        char *to = encoded + i * bound;
        sizes[i] = bound;
        const airy_status read = airy_stack_read(s->stack, frame_of(s, index, i),
                                                 form->codec.codec ? pixels : to, plain),
                          status = read == AIRY_OK && form->codec.codec
                                       ? airy_encode(to, &sizes[i], pixels, plain, &form->codec)
                                       : read;
        if (status != AIRY_OK)
            return status;
    }
    const airy_status status = airy_stream_image_create(image, &s->series, &form->codec, sizes);
    for (size_t i = 0; status == AIRY_OK && i < channels; i++)
        memcpy(airy_stream_image_data(*image, i), encoded + i * bound, sizes[i]);
    return status;
}

airy_status stream_read_image(airy_stream_image **image, struct stream_file *file,
                              const struct stream_source *s, size_t index)
{
    struct form form = {0};
    size_t sizes[AIRY_STREAM_CHANNELS];
    airy_status status = choose_form(&form, s, index);
    if (status != AIRY_OK)
        return status;
    if (!form.stored)
        return read_pixels(image, file, s, &form, index);
    for (size_t i = 0; i < s->p->channels; i++)
        sizes[i] = form.places[i].size;
    status = airy_stream_image_create(image, &s->series, &form.codec, sizes);
    for (size_t i = 0; status == AIRY_OK && i < s->p->channels; i++)
        status = read_stored(airy_stream_image_data(*image, i), file, &form.places[i], s->common);
    if (status != AIRY_OK)
        airy_stream_image_destroy(image);
    return status;
}

/* ---- all of them ahead ---- */

/* Images are handed out in order, so all before the first that fails are looked at. */
struct keeping {
    struct stream_source *source;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t lock;
    size_t failed_at; /* the first image that could not be read, with its status and sentence */
    airy_error error;
};

static void note_failure(struct keeping *k, size_t index, airy_status status)
{
    pthread_mutex_lock(&k->lock);
    if (!atomic_exchange(&k->failed, true) || index < k->failed_at) {
        k->failed_at = index;
        airy_error_get(&k->error);
        k->error.status = status;
    }
    pthread_mutex_unlock(&k->lock);
}

static void *keep_some(void *user)
{
    struct keeping *k = user;
    struct stream_source *s = k->source;
    struct stream_file file = {0};
    for (size_t i; !atomic_load(&k->failed) && !tool_interrupted() &&
                   (i = atomic_fetch_add(&k->next, 1)) < s->images;) {
        const airy_status status = stream_read_image(&s->kept[i], &file, s, i);
        if (status != AIRY_OK)
            note_failure(k, i, status);
    }
    stream_close_file(&file);
    return NULL;
}

int stream_keep_images(struct stream_source *s)
{
    struct keeping k = {.source = s, .lock = PTHREAD_MUTEX_INITIALIZER};
    s->kept = calloc(s->images, sizeof(void *));
    if (!s->kept)
        return tool_fail(s->common, "out of memory for %zu images; lower --preload", s->images);
    tool_work(tool_threads(s->common), keep_some, &k);
    if (!atomic_load(&k.failed))
        return AIRY_EXIT_OK;
    return k.error.status == AIRY_ERR_CANCELLED ? AIRY_EXIT_FAILED
                                                : tool_failed_as(s->common, &k.error);
}

void stream_free_images(struct stream_source *s)
{
    for (size_t i = 0; s->kept && i < s->images; i++)
        airy_stream_image_destroy(&s->kept[i]);
    free(s->kept);
    s->kept = NULL;
}
