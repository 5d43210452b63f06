/*
 * The parts of a stack: files, runs of frames, and segments. A segment is a dataset with its
 * layout, its codec and the places of its frames.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "codec/framing.h"
#include "io/hdf5/sources.h"
#include "io/stack/internal.h"

enum {
    HEADERS_TRIED = 16,    /* chunks looked at for the codec's block size */
    MAX_CACHE = 512 << 20, /* bytes of libhdf5's chunk cache for an odd layout */
    FREE_FRAMES = 1 << 20, /* that a file may lack; of more it must have one of FREE_FRACTION */
    FREE_FRACTION = 1024,
};

#define MAX_FRAME_BYTES ((uint64_t)1 << 34)

static airy_status grow(void **array, size_t count, size_t size)
{
    /* Doubling: there is room unless count is a power of two. */
    if (count & (count - 1))
        return AIRY_OK;
    size_t bytes;
    AIRY_FAIL_IF(airy_mul_size(&bytes, count ? 2 * count : 1, size), AIRY_ERR_MEMORY,
                 "a stack of %zu parts", count);
    void *larger = realloc(*array, bytes);
    AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for a stack of %zu parts", count);
    *array = larger;
    return AIRY_OK;
}

airy_status airy_stack_add_run(airy_stack *stack, struct stack_run run)
{
    if (stack->run_count > 0) {
        struct stack_run *last = &stack->runs[stack->run_count - 1];
        if (last->segment == run.segment && last->from + last->count == run.from &&
            last->first + last->count == run.first) {
            last->count += run.count;
            return AIRY_OK;
        }
    }
    AIRY_TRY(grow((void **)&stack->runs, stack->run_count, sizeof(*stack->runs)));
    stack->runs[stack->run_count++] = run;
    return AIRY_OK;
}

airy_status airy_stack_get_facts(struct stack_facts *facts, hid_t dataset, const char *name)
{
    const hid_t type = H5Dget_type(dataset);
    if (type < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s: its type cannot be read",
                              name);
    const airy_status known = airy_hdf5_dtype(&facts->dtype, &facts->native, type, name);
    H5Tclose(type);
    AIRY_TRY(known);
    const hid_t space = H5Dget_space(dataset);
    facts->ndim = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    const bool simple = facts->ndim >= 0 && H5Sget_simple_extent_type(space) == H5S_SIMPLE &&
                        H5Sget_simple_extent_dims(space, facts->shape, NULL) == facts->ndim;
    if (space >= 0)
        H5Sclose(space);
    const int ndim = simple ? facts->ndim : 0;
    AIRY_FAIL_ON_IF(ndim < 2, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: %d dimension%s, expected 2 (one frame) or more", name, ndim,
                    ndim == 1 ? "" : "s");
    size_t frames = 1;
    bool overflow = false;
    for (int axis = 0; axis < facts->ndim - 2; axis++)
        overflow |= airy_mul_size(&frames, frames, facts->shape[axis]);
    facts->height = facts->shape[facts->ndim - 2];
    facts->width = facts->shape[facts->ndim - 1];
    size_t bytes = 0, all;
    overflow = overflow || airy_mul_size(&bytes, facts->height, facts->width) ||
               airy_mul_size(&bytes, bytes, airy_dtype_size(facts->dtype)) ||
               airy_mul_size(&all, bytes, frames);
    AIRY_FAIL_ON_IF(overflow, AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                    "%s: more bytes than an address can count", name);
    AIRY_FAIL_ON_IF(frames == 0 || bytes == 0, AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                    "%s: %zu frames of %zu x %zu pixels, expected at least one", name, frames,
                    facts->height, facts->width);
    facts->frames = frames;
    facts->frame_bytes = bytes;
    return AIRY_OK;
}

airy_status airy_stack_settle_frame(airy_stack *stack, size_t height, size_t width,
                                    airy_dtype dtype, const char *name, const char *like)
{
    const char *first = stack->segment_count ? stack->segments[0].name : like;
    if (stack->frame_bytes == 0) {
        stack->height = height;
        stack->width = width;
        stack->dtype = dtype;
        stack->frame_bytes = height * width * airy_dtype_size(dtype);
    }
    AIRY_FAIL_ON_IF(height != stack->height || width != stack->width, AIRY_ERR_SHAPE,
                    AIRY_SUBJECT_DATASET,
                    "%s: frames of %zu x %zu pixels, expected %zu x %zu as in %s", name, height,
                    width, stack->height, stack->width, first);
    AIRY_FAIL_ON_IF(dtype != stack->dtype, AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                    "%s: pixels are %s, expected %s as in %s", name, airy_dtype_name(dtype),
                    airy_dtype_name(stack->dtype), first);
    return AIRY_OK;
}

/* The slot of a file, or the free one it would take. */
static size_t *find_slot(const airy_stack *stack, dev_t device, ino_t inode)
{
    const uint64_t key[2] = {device, inode};
    const size_t count = stack->file_slot_count;
    size_t at = (size_t)airy_hash_bytes(AIRY_HASH_START, key, sizeof(key)) % count;
    for (;; at = (at + 1) % count) {
        size_t *slot = &stack->file_slots[at];
        const struct stack_file *file = *slot ? &stack->files[*slot - 1] : NULL;
        if (!file || (file->device == device && file->inode == inode))
            return slot;
    }
}

size_t airy_stack_find_file(const airy_stack *stack, dev_t device, ino_t inode)
{
    const size_t *slot = stack->file_slot_count ? find_slot(stack, device, inode) : NULL;
    return slot && *slot ? *slot - 1 : SIZE_MAX;
}

/* Room for one more file in the table. */
static airy_status grow_slots(airy_stack *stack)
{
    if (2 * (stack->file_count + 1) <= stack->file_slot_count)
        return AIRY_OK;
    const size_t larger = airy_max_size(64, 2 * stack->file_slot_count);
    void *slots = NULL;
    AIRY_TRY(airy_memory_calloc(&slots, larger, sizeof(size_t), "a stack's files"));
    free(stack->file_slots);
    stack->file_slots = slots;
    stack->file_slot_count = larger;
    for (size_t i = 0; i < stack->file_count; i++)
        *find_slot(stack, stack->files[i].device, stack->files[i].inode) = i + 1;
    return AIRY_OK;
}

airy_status airy_stack_append_file(airy_stack *stack, const struct stack_file *file)
{
    AIRY_TRY(grow((void **)&stack->files, stack->file_count, sizeof(*stack->files)));
    AIRY_TRY(grow_slots(stack));
    stack->files[stack->file_count] = *file;
    *find_slot(stack, file->device, file->inode) = ++stack->file_count;
    return AIRY_OK;
}

/* The file behind an open dataset, known by device and inode. */
static airy_status find_file(airy_stack *stack, size_t *index, const airy_probe *probe)
{
    *index = airy_stack_find_file(stack, probe->device, probe->inode);
    if (*index != SIZE_MAX)
        return AIRY_OK;
    struct stack_file file = {.device = probe->device, .inode = probe->inode, .fd = -1};
    if (stack->file_count < AIRY_STACK_OPEN_FILES) {
        /* The driver's own descriptor: the very file that the addresses were taken from. */
        file.fd = fcntl(probe->fd, F_DUPFD_CLOEXEC, 0);
        AIRY_FAIL_HINT_IF(file.fd < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_FILE,
                          "cannot keep '%s' open: %s", probe->path, strerror(errno));
    }
    file.path = strdup(probe->path);
    *index = stack->file_count;
    const airy_status status = file.path
                                   ? airy_stack_append_file(stack, &file)
                                   : airy_fail(AIRY_ERR_MEMORY, "out of memory for a file's name");
    if (status != AIRY_OK) {
        free(file.path);
        if (file.fd >= 0)
            close(file.fd);
    }
    return status;
}

airy_status airy_stack_note_file(airy_stack *stack, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 ||
        airy_stack_find_file(stack, about.st_dev, about.st_ino) != SIZE_MAX)
        return AIRY_OK;
    const struct stack_file file = {
        .path = strdup(path), .device = about.st_dev, .inode = about.st_ino, .fd = -1};
    AIRY_FAIL_IF(!file.path, AIRY_ERR_MEMORY, "out of memory for a file's name");
    const airy_status status = airy_stack_append_file(stack, &file);
    if (status != AIRY_OK)
        free(file.path);
    return status;
}

/*
 * Encoders may use any block size; what the chunks say counts, not what the dataset's filter
 * parameters say.
 */
static void find_block_size(struct stack_segment *segment, const airy_probe *probe,
                            size_t frame_bytes)
{
    if (segment->codec.codec != AIRY_CODEC_BSLZ4 && segment->codec.codec != AIRY_CODEC_LZ4)
        return;
    int tried = 0;
    for (size_t frame = 0; frame < segment->frames && tried < HEADERS_TRIED; frame++) {
        const struct airy_place *place = &segment->places[frame];
        if (place->kind != AIRY_PLACE_CHUNK)
            continue;
        tried++;
        uint8_t header[AIRY_CHUNK_HEADER_BYTES];
        uint64_t decoded;
        uint32_t block;
        airy_block_layout layout;
        airy_codec_params codec = segment->codec;
        if (place->size < sizeof(header) ||
            pread(probe->fd, header, sizeof(header), (off_t)place->offset) !=
                (ssize_t)sizeof(header) ||
            airy_chunk_header(&decoded, &block, header, sizeof(header), codec.codec,
                              codec.elem_size) != AIRY_OK ||
            decoded != frame_bytes)
            continue;
        codec.block_bytes = block;
        if (airy_block_layout_make(&layout, frame_bytes, &codec) != AIRY_OK)
            continue;
        segment->codec.block_bytes = block;
        return;
    }
}

/* Bytes of a piece that the file has. */
static uint64_t clip(uint64_t offset, uint64_t bytes, uint64_t size)
{
    const uint64_t left = offset < size ? size - offset : 0;
    return bytes < left ? bytes : left;
}

/*
 * Refuse shapes of damaged headers with more frames than the file can hold, each of which would
 * fail by itself.
 */
static airy_status check_sense(const struct stack_segment *segment, const struct stack_facts *facts)
{
    const char *name = segment->name;
    const bool contiguous = segment->direct && !segment->places;
    const size_t whole = (size_t)(segment->stored_bytes / facts->frame_bytes);
    if (contiguous && whole == facts->frames)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(facts->frames > AIRY_STACK_MAX_FRAMES, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_DATASET, "%s: %zu frames, expected at most %d", name,
                    facts->frames, AIRY_STACK_MAX_FRAMES);
    AIRY_FAIL_ON_IF(contiguous && facts->frames > FREE_FRAMES &&
                        whole < facts->frames / FREE_FRACTION,
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: %zu frames, of which the file holds %zu", name, facts->frames, whole);
    AIRY_FAIL_ON_IF(
        facts->frame_bytes > MAX_FRAME_BYTES, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
        "%s: frames of %zu bytes, expected at most %llu where the file does not hold them "
        "as they are",
        name, facts->frame_bytes, (unsigned long long)MAX_FRAME_BYTES);
    return AIRY_OK;
}

static airy_status add_contiguous(struct stack_segment *segment, hid_t dataset,
                                  const airy_probe *probe, const struct stack_facts *facts)
{
    const haddr_t offset = H5Dget_offset(dataset);
    segment->direct = true;
    segment->fill_only = offset == HADDR_UNDEF;
    segment->start = offset;
    segment->end = probe->size;
    segment->codec = (airy_codec_params){.elem_size = (uint32_t)airy_dtype_size(facts->dtype)};
    if (!segment->fill_only)
        segment->stored_bytes =
            clip(offset, (uint64_t)facts->frames * facts->frame_bytes, probe->size) /
            facts->frame_bytes * facts->frame_bytes;
    return AIRY_OK;
}

static airy_status add_chunked(struct stack_segment *segment, hid_t dataset,
                               const airy_probe *probe, const struct stack_facts *facts,
                               const char *name)
{
    AIRY_FAIL_ON_IF(facts->frames > AIRY_STACK_MAX_FRAMES, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_DATASET, "%s: %zu frames, expected at most %d", name,
                    facts->frames, AIRY_STACK_MAX_FRAMES);
    const struct airy_chunk_grid grid = {.ndim = facts->ndim,
                                         .shape = facts->shape,
                                         .frames = facts->frames,
                                         .frame_bytes = facts->frame_bytes,
                                         .filtered = segment->codec.codec != AIRY_CODEC_NONE};
    segment->direct = true;
    segment->end = probe->size;
    AIRY_TRY(airy_stack_table_open(segment, dataset, &grid));
    find_block_size(segment, probe, facts->frame_bytes);
    return AIRY_OK;
}

/*
 * Bytes of the chunks that two frames touch: with them in libhdf5's cache none is decoded twice,
 * though readers pass a border one by one.
 */
static size_t cache_for_frame(const hsize_t *chunk, const struct stack_facts *facts)
{
    size_t bytes = 2 * airy_dtype_size(facts->dtype);
    for (int axis = 0; axis < facts->ndim; axis++) {
        if (chunk[axis] == 0)
            return 0; /* refused on reading */
        const hsize_t across = axis < facts->ndim - 2 ? chunk[axis]
                                                      : (facts->shape[axis] + chunk[axis] - 1) /
                                                            chunk[axis] * chunk[axis];
        if (airy_mul_size(&bytes, bytes, across) || bytes > MAX_CACHE)
            return MAX_CACHE;
    }
    return bytes;
}

static airy_status add_layout(airy_stack *stack, struct stack_segment *segment, hid_t dataset,
                              hid_t creation, const struct stack_facts *facts)
{
    const char *name = segment->name;
    AIRY_TRY(airy_filter_check(creation, name));
    char text[96];
    airy_filter_text(text, sizeof(text), creation);
    segment->filters = strdup(text);
    AIRY_FAIL_ON_IF(!segment->filters, AIRY_ERR_MEMORY, AIRY_SUBJECT_DATASET, "%s: out of memory",
                    name);
    const airy_probe *probe = airy_probe_of(dataset);
    AIRY_FAIL_ON_IF(!probe, AIRY_ERR_IO, AIRY_SUBJECT_DATASET,
                    "%s: its file's driver cannot be reached", name);
    AIRY_TRY(find_file(stack, &segment->file, probe));

    bool exact = false;
    hsize_t chunk[H5S_MAX_RANK] = {0};
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (airy_chunk_is_unwritten(dataset, creation) ||
        (layout == H5D_CONTIGUOUS && facts->native && H5Pget_external_count(creation) == 0))
        return add_contiguous(segment, dataset, probe, facts);
    if (layout == H5D_CHUNKED && H5Pget_chunk(creation, facts->ndim, chunk) == facts->ndim) {
        airy_filter_codec(&segment->codec, &exact, creation);
        exact = exact && facts->native && chunk[facts->ndim - 2] == facts->height &&
                chunk[facts->ndim - 1] == facts->width;
        for (int axis = 0; axis < facts->ndim - 2; axis++)
            exact = exact && chunk[axis] == 1;
        const size_t size = airy_dtype_size(facts->dtype);
        const airy_codec codec = segment->codec.codec;
        if (codec == AIRY_CODEC_LZ4 || codec == AIRY_CODEC_NONE)
            segment->codec.elem_size = (uint32_t)size;
        if (exact && segment->codec.elem_size == size)
            return add_chunked(segment, dataset, probe, facts, name);
        segment->cache_bytes = cache_for_frame(chunk, facts);
    }
    segment->codec = (airy_codec_params){.elem_size = (uint32_t)airy_dtype_size(facts->dtype)};
    segment->stored_bytes = clip(0, airy_chunk_stored_bytes(dataset), probe->size);
    bool packed = false;
    const airy_status sources = layout == H5D_VIRTUAL ? airy_sources_look(&packed, dataset, name)
                                                      : AIRY_OK;
    /* Too many paths through all of it may be few through one frame. */
    if (sources != AIRY_OK && sources != AIRY_ERR_UNSUPPORTED && sources != AIRY_ERR_UNWRITTEN)
        airy_log(AIRY_LOG_WARN, "%s", airy_last_error());
    segment->sources_missing = sources != AIRY_OK;
    segment->sources_packed = packed || sources != AIRY_OK;
    return AIRY_OK;
}

static void free_segment(struct stack_segment *segment)
{
    free(segment->name);
    free(segment->path);
    free(segment->dataset);
    free(segment->filters);
    free(segment->places);
    airy_stack_table_destroy(&segment->table);
    free(segment->broken);
}

void airy_stack_drop_segments(airy_stack *stack, size_t keep)
{
    while (stack->segment_count > keep)
        free_segment(&stack->segments[--stack->segment_count]);
}

airy_status airy_stack_add_blank(airy_stack *stack, size_t *index, const char *path,
                                 const char *dataset)
{
    AIRY_TRY(grow((void **)&stack->segments, stack->segment_count, sizeof(*stack->segments)));
    struct stack_segment segment = {.file = SIZE_MAX, .dtype = stack->dtype};
    const int written = asprintf(&segment.name, "%s::%s", path, dataset);
    if (written < 0)
        segment.name = NULL;
    segment.path = strdup(path);
    segment.dataset = strdup(dataset);
    if (!segment.name || !segment.path || !segment.dataset) {
        free_segment(&segment);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for the name of a dataset");
    }
    *index = stack->segment_count;
    stack->segments[stack->segment_count++] = segment;
    return AIRY_OK;
}

airy_status airy_stack_add_segment(airy_stack *stack, size_t *index, hid_t dataset,
                                   const char *path, const char *name)
{
    struct stack_facts facts;
    const size_t before = stack->segment_count;
    AIRY_TRY(airy_stack_add_blank(stack, index, path, name));
    airy_status status = AIRY_OK;
    const hid_t creation = H5Dget_create_plist(dataset);
    struct stack_segment *segment = &stack->segments[*index];
    AIRY_TRY_OR(out, airy_stack_get_facts(&facts, dataset, segment->name));
    AIRY_TRY_OR(out, airy_stack_settle_frame(stack, facts.height, facts.width, facts.dtype,
                                             segment->name, segment->name));
    segment->frames = facts.frames;
    segment->dtype = facts.dtype;
    if (creation < 0)
        status = airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                                "%s: its layout cannot be read", segment->name);
    else
        status = add_layout(stack, segment, dataset, creation, &facts);
    if (status == AIRY_OK)
        status = check_sense(segment, &facts);
out:
    if (creation >= 0)
        H5Pclose(creation);
    if (status != AIRY_OK)
        airy_stack_drop_segments(stack, before);
    return status;
}

static airy_status open_again(int *fd, const struct stack_file *file)
{
    *fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    AIRY_FAIL_HINT_IF(*fd < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_FILE,
                      "cannot open '%s' again: %s", file->path, strerror(errno));
    struct stat about = {0};
    const airy_status status = fstat(*fd, &about) == 0
                                   ? airy_stack_check_file(file, about.st_dev, about.st_ino)
                                   : airy_fail_system(AIRY_SUBJECT_FILE, errno,
                                                      "cannot open '%s' again: %s", file->path,
                                                      strerror(errno));
    if (status != AIRY_OK)
        close(*fd);
    return status;
}

airy_status airy_stack_open_file(int *fd, bool *own, const struct stack_file *file)
{
    *fd = file->fd;
    *own = *fd < 0;
    return *own ? open_again(fd, file) : AIRY_OK;
}
