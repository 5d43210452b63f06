/* Frames out of a stack: bytes by pread, pixels by our decoders, the rest by libhdf5. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/stack/internal.h"

const struct stack_segment *airy_stack_locate(const airy_stack *stack, size_t frame, size_t *inside)
{
    size_t low = 0, high = stack->run_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (stack->runs[middle].first <= frame)
            low = middle;
        else
            high = middle;
    }
    const struct stack_run *run = &stack->runs[low];
    *inside = run->from + (frame - run->first);
    return &stack->segments[run->segment];
}

/* file: NULL, or of a place that is in one. */
static struct airy_place get_place(const airy_stack *stack, const struct stack_segment *segment,
                                   size_t inside, const struct stack_file **file)
{
    struct airy_place place = {.kind = AIRY_PLACE_LIBRARY};
    size_t index = segment->file;
    if (segment->plain)
        place = airy_plain_place(stack, segment, inside, &index);
    if (file && index < stack->file_count)
        *file = &stack->files[index];
    if (segment->broken || !segment->direct || segment->plain)
        return place;
    /* Where a place cannot be read now, reading the frame tries again, and says why. */
    if (segment->table && airy_stack_table_fill(stack, segment, inside) != AIRY_OK)
        return place;
    if (segment->places)
        return segment->places[inside];
    place.kind = segment->fill_only ? AIRY_PLACE_FILL : AIRY_PLACE_STORED;
    size_t skip;
    if (place.kind == AIRY_PLACE_STORED) {
        const bool overflow = airy_mul_size(&skip, inside, stack->frame_bytes);
        place.offset = overflow ? UINT64_MAX : segment->start + skip;
        if (overflow || place.offset < segment->start || place.offset > segment->end ||
            stack->frame_bytes > segment->end - place.offset)
            place.kind = AIRY_PLACE_CUT;
    }
    return place;
}

/* The pipeline decodes one codec; frames of segments with another come decoded. */
static bool same_codec(const airy_codec_params *a, const airy_codec_params *b)
{
    return a->codec == b->codec && a->elem_size == b->elem_size &&
           (a->codec != AIRY_CODEC_BSHUF || a->block_bytes == b->block_bytes);
}

static struct airy_frame_source source_at(const airy_stack *stack,
                                          const struct stack_segment *segment,
                                          const struct airy_place *place)
{
    struct airy_frame_source source = {AIRY_SOURCE_LIBRARY, stack->frame_bytes};
    if (place->kind == AIRY_PLACE_CHUNK && same_codec(&segment->codec, &stack->codec))
        source = (struct airy_frame_source){AIRY_SOURCE_CHUNK, place->size};
    else if (place->kind == AIRY_PLACE_STORED)
        source.kind = AIRY_SOURCE_STORED;
    else if (place->kind == AIRY_PLACE_FILL)
        source.kind = AIRY_SOURCE_FILL;
    return source;
}

void airy_stack_source(const airy_stack *stack, size_t frame, struct airy_frame_source *source)
{
    size_t inside;
    const struct stack_segment *segment = airy_stack_locate(stack, frame, &inside);
    const struct airy_place place = get_place(stack, segment, inside, NULL);
    *source = source_at(stack, segment, &place);
}

airy_status airy_stack_where(const airy_stack *stack, size_t frame, char *text, size_t size)
{
    AIRY_FAIL_IF(!stack, AIRY_ERR_PARAM, "airy_stack_where: stack is NULL");
    AIRY_FAIL_IF(!text, AIRY_ERR_PARAM, "airy_stack_where: text is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_where"));
    AIRY_FAIL_ON_IF(frame >= stack->frames, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, the stack has %zu", "frame", frame, stack->frames);
    size_t inside;
    const struct stack_segment *segment = airy_stack_locate(stack, frame, &inside);
    if (segment->plain)
        airy_plain_where(stack, segment, inside, frame, text, size);
    else if (inside == frame)
        snprintf(text, size, "%s frame %zu", segment->name, frame);
    else
        snprintf(text, size, "%s frame %zu (%zu of the stack)", segment->name, inside, frame);
    return AIRY_OK;
}

airy_status airy_stack_get_place(const airy_stack *stack, size_t frame, airy_stack_place *out)
{
    AIRY_FAIL_IF(!stack, AIRY_ERR_PARAM, "airy_stack_get_place: stack is NULL");
    AIRY_FAIL_IF(!out, AIRY_ERR_PARAM, "airy_stack_get_place: place is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_get_place"));
    AIRY_FAIL_ON_IF(frame >= stack->frames, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, the stack has %zu", "frame", frame, stack->frames);
    size_t inside;
    const struct stack_segment *segment = airy_stack_locate(stack, frame, &inside);
    const struct stack_file *file = NULL;
    const struct airy_place place = get_place(stack, segment, inside, &file);
    const struct airy_frame_source source = source_at(stack, segment, &place);
    *out = (airy_stack_place){0};
    if (airy_source_is_there(&source) && !file->memory)
        *out = (airy_stack_place){.path = file->path,
                                  .offset = place.offset,
                                  .size = source.size,
                                  .encoded = source.kind == AIRY_SOURCE_CHUNK};
    return AIRY_OK;
}

airy_status airy_stack_keep(const airy_stack *stack, const char *output)
{
    AIRY_FAIL_HINT_IF(
        airy_stack_uses(stack, output), AIRY_ERR_PARAM, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
        "output '%s' is a file that frames are read from; choose another name", output);
    return AIRY_OK;
}

bool airy_stack_uses(const airy_stack *stack, const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 &&
           airy_stack_find_file(stack, about.st_dev, about.st_ino) != SIZE_MAX;
}

/* "where: " before the sentence of a failure. */
static airy_status fail_at(const airy_stack *stack, size_t frame, airy_status status)
{
    char where[600], number[40];
    size_t inside;
    airy_error error;
    airy_error_get(&error);
    if (airy_stack_where(stack, frame, where, sizeof(where)) != AIRY_OK)
        return status;
    if (!airy_stack_locate(stack, frame, &inside)->plain || error.subject != AIRY_SUBJECT_FILE)
        return airy_fail_frame(status, where);
    snprintf(number, sizeof(number), "frame %zu", frame); /* the sentence names the file */
    return airy_about(AIRY_SUBJECT_FRAME, where, airy_fail_context(status, "%s", number));
}

static airy_status read_bytes(const struct stack_file *file, void *data, size_t size,
                              uint64_t offset)
{
    int fd;
    bool own;
    if (file->memory) { /* its places lie inside */
        memcpy(data, (const uint8_t *)file->memory + offset, size);
        return AIRY_OK;
    }
    AIRY_TRY(airy_stack_open_file(&fd, &own, file));
    size_t done = 0;
    ssize_t n = 1;
    while (done < size && n > 0) {
        n = pread(fd, (uint8_t *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            done += (size_t)n;
    }
    const int reason = errno;
    if (own)
        close(fd);
    AIRY_FAIL_HINT_IF(n < 0, AIRY_ERR_IO, airy_hint_of_errno(reason), AIRY_SUBJECT_NONE,
                      "cannot read %zu bytes at %llu: %s", size, (unsigned long long)offset,
                      strerror(reason));
    AIRY_FAIL_IF(done < size, AIRY_ERR_IO, "%zu of %zu bytes at %llu: the file became shorter",
                 done, size, (unsigned long long)offset);
    return AIRY_OK;
}

static airy_status decode_place(const airy_stack *stack, const struct stack_segment *segment,
                                struct airy_place place, const struct stack_file *file,
                                void *pixels)
{
    void *chunk;
    AIRY_TRY(airy_memory_alloc(&chunk, place.size));
    airy_status status = read_bytes(file, chunk, place.size, place.offset);
    if (status == AIRY_OK)
        status = airy_decode(pixels, stack->frame_bytes, chunk, place.size, &segment->codec);
    airy_memory_release(chunk);
    return status;
}

static airy_status read_pixels(const airy_stack *stack, const struct stack_segment *segment,
                               size_t inside, void *pixels)
{
    const struct stack_file *file = NULL;
    if (segment->table)
        AIRY_TRY(airy_stack_table_fill(stack, segment, inside));
    const struct airy_place place = get_place(stack, segment, inside, &file);
    if (segment->broken)
        return airy_error_raise(segment->broken);
    AIRY_FAIL_IF(place.kind == AIRY_PLACE_ODD, AIRY_ERR_CORRUPT,
                 "the file's index has no sound entry for its chunk");
    if (place.kind == AIRY_PLACE_CUT)
        return airy_hinted(AIRY_HINT_GROWING,
                           airy_fail(AIRY_ERR_IO,
                                     "%zu bytes at %llu lie behind the end of the file (%llu "
                                     "bytes), which is shorter than its index states",
                                     segment->places ? (size_t)place.size : stack->frame_bytes,
                                     (unsigned long long)place.offset,
                                     (unsigned long long)segment->end));
    if (place.kind == AIRY_PLACE_LIBRARY && segment->plain)
        return airy_plain_read_frame(stack, segment, inside, pixels);
    if (place.kind == AIRY_PLACE_LIBRARY)
        return airy_stack_library_read(stack, (size_t)(segment - stack->segments), inside, pixels);
    if (place.kind == AIRY_PLACE_CHUNK)
        return decode_place(stack, segment, place, file, pixels);
    /* Also with a fill value: it says what lies where nothing was measured. */
    AIRY_FAIL_IF(place.kind == AIRY_PLACE_FILL, AIRY_ERR_UNWRITTEN, "the frame was never written");
    return read_bytes(file, pixels, stack->frame_bytes, place.offset);
}

/* Whether a frame was never written, or not all of it; frames that cannot be looked up were. */
static bool is_unwritten(const airy_stack *stack, size_t frame)
{
    size_t inside;
    const struct stack_segment *segment = airy_stack_locate(stack, frame, &inside);
    if (segment->plain || segment->broken ||
        (segment->table && airy_stack_table_fill(stack, segment, inside) != AIRY_OK))
        return false;
    const struct airy_place place = get_place(stack, segment, inside, NULL);
    return place.kind == AIRY_PLACE_FILL ||
           (place.kind == AIRY_PLACE_LIBRARY &&
            airy_stack_library_written(stack, (size_t)(segment - stack->segments), inside) ==
                AIRY_ERR_UNWRITTEN);
}

airy_status airy_stack_count_unwritten(const airy_stack *stack, size_t *count)
{
    size_t found = 0;
    AIRY_FAIL_IF(!stack || !count, AIRY_ERR_PARAM,
                 "airy_stack_count_unwritten: an argument is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_count_unwritten"));
    for (size_t i = 0; i < stack->frames; i++)
        found += is_unwritten(stack, i);
    *count = found;
    return AIRY_OK;
}

airy_status airy_stack_read(const airy_stack *stack, size_t frame, void *pixels, size_t size)
{
    AIRY_FAIL_IF(!stack, AIRY_ERR_PARAM, "airy_stack_read: stack is NULL");
    AIRY_FAIL_IF(!pixels, AIRY_ERR_PARAM, "airy_stack_read: pixels is NULL");
    AIRY_FAIL_ON_IF(!stack->pipe && frame >= stack->frames, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, the stack has %zu", "frame", frame, stack->frames);
    AIRY_FAIL_ON_IF(size != stack->frame_bytes, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu bytes, expected %zu of a frame", "size", size, stack->frame_bytes);
    if (stack->pipe)
        return airy_stack_pipe_read(stack, frame, pixels);
    size_t inside;
    const struct stack_segment *segment = airy_stack_locate(stack, frame, &inside);
    const airy_status status = read_pixels(stack, segment, inside, pixels);
    return status == AIRY_OK ? AIRY_OK : fail_at(stack, frame, status);
}

airy_status airy_stack_fetch_part(const airy_stack *stack, size_t frame, void *dst, size_t size,
                                  size_t from)
{
    size_t inside;
    const struct stack_segment *segment = airy_stack_locate(stack, frame, &inside);
    const struct stack_file *file = NULL;
    const struct airy_place place = get_place(stack, segment, inside, &file);
    assert(airy_place_is_there(&place));
    const airy_status status = read_bytes(file, dst, size, place.offset + from);
    return status == AIRY_OK ? AIRY_OK : fail_at(stack, frame, status);
}

airy_status airy_stack_fetch(const airy_stack *stack, size_t frame, void *dst, size_t size)
{
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_fetch"));
    AIRY_FAIL_ON_IF(frame >= stack->frames, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, the stack has %zu", "frame", frame, stack->frames);
    struct airy_frame_source source;
    airy_stack_source(stack, frame, &source);
    AIRY_FAIL_ON_IF(size != source.size, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu bytes, frame %zu has %zu", "size", size, frame, source.size);
    if (source.kind != AIRY_SOURCE_CHUNK)
        return airy_stack_read(stack, frame, dst, size);
    return airy_stack_fetch_part(stack, frame, dst, size, 0);
}
