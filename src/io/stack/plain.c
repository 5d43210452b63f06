/*
 * Files other than HDF5 as a part of a stack. Few files are looked into when they are opened; of a
 * long series of single frames the first one stands for all, and each is checked when it is read.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"
#include "io/file/checksums.h"
#include "io/file/plain_file.h"
#include "io/stack/plain_frames.h"
#include "io/stack/internal.h"

enum {
    INDEXED = 4096, /* files whose headers are read at once */
    THREADS = 16    /* that do it: on a file server the time is waiting */
};

struct stack_plain {
    struct airy_plain_frames **known; /* [count]; NULL: looked into when it is read */
    struct airy_kept_error **broken;  /* [count] of files that cannot be read, or NULL */
    char **named;                     /* [count] FILE[EXT] where it is one, or NULL */
    size_t *first;                    /* [count + 1] frame of the segment */
    struct airy_header *headers;      /* [count] what those of known files state */
    size_t count;
    struct airy_plain_options options;
    struct airy_plain_frames head; /* of the first file that could be read; no tables */
    airy_fits *kept;               /* the file of FITS that was read last, or NULL */
};

/* What threads look into. */
struct looking {
    const struct stack_plain *plain;
    const char *const *paths;
    struct stack_file *files; /* [count] */
    airy_status *status;
    struct airy_kept_error **errors;
    size_t from;
    size_t open; /* so many files may stay open: the first of them */
};

/* The file of FILE[EXT], else the path itself. */
static const char *file_part(char room[4096], const char *path)
{
    const char *ext;
    return airy_fits_split(room, 4096, &ext, path) ? room : path;
}

static void note(struct looking *job, size_t i, airy_status status)
{
    job->status[i] = status;
    if (status != AIRY_OK)
        job->errors[i] = airy_error_keep();
}

static airy_status look_up(struct stack_file *file, const char *path)
{
    char room[4096];
    struct stat about;
    const char *name = file_part(room, path);
    AIRY_TRY(airy_file_stat(&about, name));
    *file = (struct stack_file){.path = strdup(name),
                                .device = about.st_dev,
                                .inode = about.st_ino,
                                .size = (uint64_t)about.st_size,
                                .fd = -1};
    AIRY_FAIL_IF(!file->path, AIRY_ERR_MEMORY, "out of memory for a path");
    return AIRY_OK;
}

static void look_up_one(void *arg, size_t i, unsigned worker)
{
    struct looking *job = arg;
    (void)worker;
    note(job, i, look_up(&job->files[i], job->paths[i]));
}

/* A file of several frames stays open, if it may. */
static airy_status look_into(struct airy_plain_frames *frames, const struct looking *job, size_t i)
{
    int fd;
    bool own;
    struct stack_file *file = &job->files[i];
    AIRY_TRY(airy_stack_open_file(&fd, &own, file));
    const airy_status status =
        airy_plain_index(frames, job->paths[i], fd, file->size, &job->plain->options);
    if (status == AIRY_OK && i < job->open && frames->frames > 1)
        file->fd = fd;
    else if (own)
        close(fd);
    return status;
}

/* A single packed frame of several files: it is unpacked again when it is read. */
static bool is_unpacked_late(const struct stack_plain *plain, const struct airy_plain_frames *f)
{
    return f->is_packed && f->frames == 1 && plain->count > 1;
}

static void look_into_one(void *arg, size_t k, unsigned worker)
{
    struct looking *job = arg;
    const size_t i = job->from + k;
    struct airy_plain_frames *frames = malloc(sizeof(*frames));
    (void)worker;
    if (!frames) {
        note(job, i, airy_fail(AIRY_ERR_MEMORY, "out of memory for a file's headers"));
        return;
    }
    const airy_status status = look_into(frames, job, i);
    note(job, i, status);
    if (status != AIRY_OK) {
        free(frames);
        return;
    }
    job->plain->known[i] = frames;
    airy_plain_header(&job->plain->headers[i], frames->text);
    if (is_unpacked_late(job->plain, frames)) { /* thousands of them would not fit memory */
        free(frames->held);
        frames->held = NULL;
    }
}

static void run_over(struct looking *job, size_t from, size_t count, airy_pool_fn fn)
{
    airy_pool *pool = NULL;
    job->from = from;
    if (count > 1 && airy_pool_create(&pool, THREADS) != AIRY_OK)
        pool = NULL; /* one after another */
    airy_pool_run(pool, count, fn, job);
    airy_pool_destroy(&pool);
}

/* The first sentence of a failure; count: all are well. */
static size_t find_failed(const struct looking *job, size_t count)
{
    size_t i = 0;
    while (i < count && job->status[i] == AIRY_OK)
        i++;
    return i;
}

/* The first file that could be read, or their number. */
static size_t find_head(const struct stack_plain *plain)
{
    size_t i = 0;
    while (i < plain->count && !plain->known[i])
        i++;
    return i;
}

/* What that file holds; the failure of the first where there is none. */
static airy_status settle_head(airy_stack *stack, struct stack_plain *plain,
                               const struct looking *job)
{
    const size_t i = find_head(plain);
    if (i == plain->count)
        return airy_error_raise(job->errors[0]);
    plain->head = *plain->known[i];
    plain->head.starts = NULL;
    plain->head.held = NULL;
    plain->head.others = NULL;
    plain->head.text = plain->head.text ? strdup(plain->head.text) : NULL;
    return airy_stack_settle_frame(stack, plain->head.height, plain->head.width, plain->head.dtype,
                                   job->paths[i], job->paths[i]);
}

/* What only the first file is asked for goes. */
static void forget(struct stack_plain *plain, size_t i)
{
    struct airy_plain_frames *f = plain->known[i];
    free(f->text);
    f->text = NULL;
    if (is_unpacked_late(plain, f)) {
        airy_plain_release(f);
        free(f);
        plain->known[i] = NULL;
    }
}

static airy_status settle_files(airy_stack *stack, struct stack_plain *plain,
                                const struct looking *job)
{
    const char *like = job->paths[find_head(plain)];
    for (size_t i = 0; i < plain->count; i++) {
        size_t frames = plain->head.frames;
        if (plain->known[i]) {
            const struct airy_plain_frames *f = plain->known[i];
            frames = f->frames;
            stack->headerless |= f->headerless;
            stack->rest_bytes += f->rest;
            AIRY_TRY(
                airy_stack_settle_frame(stack, f->height, f->width, f->dtype, job->paths[i], like));
            forget(plain, i);
        } else if (job->status[i] != AIRY_OK) {
            const airy_status failed = airy_error_raise(job->errors[i]);
            if (!job->errors[i])
                return failed;
            plain->broken[i] = job->errors[i];
            job->errors[i] = NULL;
            airy_log(AIRY_LOG_WARN, "%s; its %zu frame%s cannot be read", airy_last_error(), frames,
                     frames == 1 ? "" : "s");
        }
        plain->first[i + 1] = plain->first[i] + frames;
        AIRY_FAIL_ON_IF(plain->first[i + 1] > AIRY_STACK_MAX_FRAMES, AIRY_ERR_UNSUPPORTED,
                        AIRY_SUBJECT_FILE, "%s: more than %d frames", job->paths[i],
                        AIRY_STACK_MAX_FRAMES);
    }
    return AIRY_OK;
}

/* Names, sizes, and what the headers of few files or of the first one say. */
static airy_status look(airy_stack *stack, struct stack_plain *plain, struct looking *job)
{
    run_over(job, 0, plain->count, look_up_one);
    const size_t failed = find_failed(job, plain->count);
    if (failed < plain->count)
        return airy_error_raise(job->errors[failed]);
    const bool few = plain->count <= INDEXED || plain->options.has_raw;
    run_over(job, 0, few ? plain->count : 1, look_into_one);
    if (!few && (!plain->known[0] || plain->known[0]->frames > 1))
        run_over(job, 1, plain->count - 1, look_into_one);
    AIRY_TRY(settle_head(stack, plain, job));
    return settle_files(stack, plain, job);
}

static airy_status add_segment(airy_stack *stack, struct stack_plain *plain,
                               const struct looking *job)
{
    size_t index;
    const size_t base = stack->file_count;
    for (size_t i = 0; i < plain->count; i++) {
        if (strcmp(job->files[i].path, job->paths[i]) != 0 &&
            !(plain->named[i] = strdup(job->paths[i])))
            return airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
        AIRY_TRY(airy_stack_append_file(stack, &job->files[i]));
        job->files[i].path = NULL; /* the stack's now */
    }
    AIRY_TRY(airy_stack_add_blank(stack, &index, job->paths[0], ""));
    struct stack_segment *segment = &stack->segments[index];
    free(segment->name);
    segment->name = strdup(job->paths[0]);
    segment->filters = strdup(plain->head.codec);
    segment->file = base;
    segment->frames = plain->first[plain->count];
    segment->codec = (airy_codec_params){.elem_size = (uint32_t)airy_dtype_size(stack->dtype)};
    for (size_t i = 0; i < plain->count; i++)
        segment->stored_bytes += stack->files[base + i].size;
    AIRY_FAIL_IF(!segment->name || !segment->filters, AIRY_ERR_MEMORY, "out of memory for a path");
    AIRY_TRY(
        airy_stack_add_run(stack, (struct stack_run){stack->frames, segment->frames, index, 0}));
    stack->frames += segment->frames;
    segment->plain = plain;
    return AIRY_OK;
}

void airy_plain_destroy(struct stack_plain **plain)
{
    struct stack_plain *dead = *plain;
    *plain = NULL;
    if (!dead)
        return;
    for (size_t i = 0; i < dead->count; i++) {
        if (dead->known && dead->known[i])
            airy_plain_release(dead->known[i]);
        if (dead->known)
            free(dead->known[i]);
        if (dead->broken)
            free(dead->broken[i]);
        if (dead->named)
            free(dead->named[i]);
    }
    airy_fits_close(&dead->kept);
    free(dead->known);
    free(dead->broken);
    free(dead->named);
    free(dead->first);
    free(dead->headers);
    free(dead->head.text);
    free(dead);
}

static airy_status make_tables(struct stack_plain *plain, struct looking *job, size_t count)
{
    AIRY_TRY(airy_memory_calloc((void **)&plain->known, count, sizeof(void *), "files"));
    AIRY_TRY(airy_memory_calloc((void **)&plain->broken, count, sizeof(void *), "files"));
    AIRY_TRY(airy_memory_calloc((void **)&plain->named, count, sizeof(void *), "files"));
    AIRY_TRY(airy_memory_calloc((void **)&plain->headers, count, sizeof(*plain->headers), "files"));
    AIRY_TRY(airy_memory_calloc((void **)&plain->first, count + 1, sizeof(*plain->first), "files"));
    AIRY_TRY(airy_memory_calloc((void **)&job->files, count, sizeof(*job->files), "files"));
    AIRY_TRY(airy_memory_calloc((void **)&job->status, count, sizeof(*job->status), "files"));
    return airy_memory_calloc((void **)&job->errors, count, sizeof(void *), "files");
}

airy_status airy_stack_add_plain(airy_stack *stack, const char *const *paths, size_t count,
                                 const airy_stack_params *params)
{
    struct stack_plain *plain;
    AIRY_TRY(airy_memory_calloc((void **)&plain, 1, sizeof(*plain), "files of a stack"));
    struct looking job = {.plain = plain, .paths = paths};
    if (stack->file_count < AIRY_STACK_OPEN_FILES)
        job.open = AIRY_STACK_OPEN_FILES - stack->file_count;
    plain->count = count;
    plain->options =
        (struct airy_plain_options){.has_raw = params->raw != NULL,
                                    .raw_if_headerless = params->raw && params->raw_if_headerless,
                                    .raw_rest = params->raw_rest,
                                    .verify = !stack->unverified && airy_checksums_wanted(),
                                    .raw = params->raw ? *params->raw : (airy_raw_frames){0},
                                    .npy_height = params->npy_height};
    airy_status status = make_tables(plain, &job, count);
    if (status == AIRY_OK)
        status = look(stack, plain, &job);
    if (status == AIRY_OK)
        status = add_segment(stack, plain, &job);
    for (size_t i = 0; i < count; i++) {
        if (job.files && job.files[i].path && job.files[i].fd >= 0)
            close(job.files[i].fd);
        if (job.files)
            free(job.files[i].path);
        if (job.errors)
            free(job.errors[i]);
    }
    free(job.files);
    free(job.status);
    free(job.errors);
    if (status != AIRY_OK &&
        (stack->segment_count == 0 || stack->segments[stack->segment_count - 1].plain != plain))
        airy_plain_destroy(&plain);
    return status;
}

/* The file of a frame of the segment, and its number in it. */
static size_t find_file(const struct stack_plain *plain, size_t inside, size_t *frame)
{
    size_t low = 0, high = plain->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (plain->first[middle] <= inside)
            low = middle;
        else
            high = middle;
    }
    *frame = inside - plain->first[low];
    return low;
}

struct airy_place airy_plain_place(const airy_stack *stack, const struct stack_segment *segment,
                                   size_t inside, size_t *file)
{
    const struct stack_plain *plain = segment->plain;
    struct airy_place place = {.kind = AIRY_PLACE_LIBRARY};
    size_t frame;
    const size_t i = find_file(plain, inside, &frame);
    const uint64_t offset = plain->known[i] ? airy_plain_offset(plain->known[i], frame)
                                            : UINT64_MAX;
    *file = segment->file + i;
    if (offset == UINT64_MAX)
        return place;
    const uint64_t size = plain->known[i]->size;
    const bool there = offset <= size && stack->frame_bytes <= size - offset;
    place.kind = there ? AIRY_PLACE_STORED : AIRY_PLACE_LIBRARY; /* whose read says what is wrong */
    place.offset = offset;
    return place;
}

/* A frame of a file whose own header differs from `like`, of path. */
static unsigned find_other(const struct airy_plain_frames *frames, const struct airy_header *like,
                           const char *path, unsigned held, const char *name, airy_status *status)
{
    for (const struct airy_frame_header *o = frames ? frames->others : NULL; o; o = o->next) {
        const unsigned part = like->parts ? airy_header_differ(like, &o->header, held) : 0;
        char frame[4200];
        snprintf(frame, sizeof(frame), "%s frame %zu", name, o->frame);
        if (part) {
            *status = airy_header_refuse(part, like, path, &o->header, frame);
            return part;
        }
    }
    return 0;
}

/* Of a file that was not looked into before. */
static airy_status check_header(const airy_stack *stack, const struct airy_plain_frames *found,
                                const char *path)
{
    struct airy_header header;
    airy_status status = AIRY_OK;
    if (!stack->held || !stack->like.parts)
        return AIRY_OK;
    airy_plain_header(&header, found->text);
    const unsigned part = header.parts ? airy_header_differ(&stack->like, &header, stack->held) : 0;
    if (part)
        return airy_header_refuse(part, &stack->like, stack->like_path, &header, path);
    (void)find_other(found, &stack->like, stack->like_path, stack->held, path, &status);
    return status;
}

airy_status airy_plain_hold(const struct stack_segment *segment, const airy_stack *stack,
                            struct airy_header *like, const char **path, unsigned *differs)
{
    const struct stack_plain *plain = segment->plain;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < plain->count && status == AIRY_OK; i++) {
        const struct airy_plain_frames *known = plain->known[i];
        const struct airy_header *header = &plain->headers[i];
        const char *name = stack->files[segment->file + i].path;
        /* A first frame that states nothing leaves it to the others of its file. */
        if (known && !header->parts)
            header = &known->stated;
        if (header->parts && !like->parts) {
            *like = *header;
            *path = name;
        }
        *differs = header->parts ? airy_header_differ(like, header, stack->held) : 0;
        if (*differs)
            return airy_header_refuse(*differs, like, *path, header, name);
        *differs = find_other(known, like, *path, stack->held, name, &status);
    }
    return status;
}

static airy_status read_from(const airy_stack *stack, const struct stack_segment *segment, size_t i,
                             size_t frame, int fd, void *pixels)
{
    struct stack_plain *plain = segment->plain;
    const struct stack_file *file = &stack->files[segment->file + i];
    const char *path = plain->named[i] ? plain->named[i] : file->path;
    const size_t frames = plain->first[i + 1] - plain->first[i];
    if (plain->known[i])
        return airy_plain_read(plain->known[i], frame, path, fd, &plain->kept, pixels);
    struct airy_plain_frames found;
    AIRY_TRY(airy_plain_index(&found, path, fd, file->size, &plain->options));
    airy_status status = AIRY_OK;
    if (found.height != stack->height || found.width != stack->width ||
        found.dtype != stack->dtype || found.frames != frames)
        status = airy_fail(AIRY_ERR_FORMAT,
                           "it holds %zu frame%s of %zu x %zu %s, expected %zu of %zu x %zu %s as "
                           "in %s",
                           found.frames, found.frames == 1 ? "" : "s", found.height, found.width,
                           airy_dtype_name(found.dtype), frames, stack->height, stack->width,
                           airy_dtype_name(stack->dtype), segment->name);
    else
        status = check_header(stack, &found, path);
    if (status == AIRY_OK)
        status = airy_plain_read(&found, frame, path, fd, &plain->kept, pixels);
    airy_plain_release(&found);
    return status;
}

airy_status airy_plain_read_frame(const airy_stack *stack, const struct stack_segment *segment,
                                  size_t inside, void *pixels)
{
    const struct stack_plain *plain = segment->plain;
    size_t frame;
    int fd;
    bool own;
    const size_t i = find_file(plain, inside, &frame);
    if (plain->broken[i]) {
        (void)airy_error_raise(plain->broken[i]);
        return airy_fail_as(AIRY_ERR_FORMAT);
    }
    AIRY_TRY(airy_stack_open_file(&fd, &own, &stack->files[segment->file + i]));
    const airy_status status = read_from(stack, segment, i, frame, fd, pixels);
    if (own)
        close(fd);
    return status;
}

size_t airy_plain_lost(const struct stack_segment *segment)
{
    const struct stack_plain *plain = segment->plain;
    size_t lost = 0;
    for (size_t i = 0; i < plain->count; i++)
        lost += plain->broken[i] ? plain->first[i + 1] - plain->first[i] : 0;
    return lost;
}

void airy_plain_where(const airy_stack *stack, const struct stack_segment *segment, size_t inside,
                      size_t number, char *text, size_t size)
{
    size_t frame;
    const size_t i = find_file(segment->plain, inside, &frame);
    const char *path = stack->files[segment->file + i].path;
    if (segment->plain->first[i + 1] - segment->plain->first[i] == 1)
        snprintf(text, size, "%s (frame %zu)", path, number);
    else if (frame == number)
        snprintf(text, size, "%s frame %zu", path, frame);
    else
        snprintf(text, size, "%s frame %zu (%zu of the stack)", path, frame, number);
}

const char *airy_plain_text(const struct stack_segment *segment)
{
    return segment->plain->head.text;
}

static bool parse_size(uint64_t *size, const char *text, size_t length, uint64_t least)
{
    char digits[24];
    if (length == 0 || length >= sizeof(digits) || strspn(text, "0123456789") < length)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    *size = strtoull(digits, NULL, 10);
    return *size >= least && *size < UINT64_MAX;
}

airy_status airy_raw_frames_parse(airy_raw_frames *raw, const char *text)
{
    static const char wrong[] = "expected WIDTHxHEIGHT,DTYPE[,OFFSET][,little|big], such as "
                                "2070x2167,uint32,512";
    const char *parts[5] = {text};
    size_t lengths[5], count = 1;
    uint64_t width, height, offset = 0;
    char name[32];
    for (const char *at = text; count < 5 && (at = strchr(at, ',')); count++)
        parts[count] = ++at;
    for (size_t i = 0; i < count; i++)
        lengths[i] = strcspn(parts[i], ",");
    const char *x = memchr(text, 'x', lengths[0]);
    if (count < 2 || count > 4 || !x || lengths[1] >= sizeof(name) ||
        !parse_size(&width, text, (size_t)(x - text), 1) ||
        !parse_size(&height, x + 1, lengths[0] - (size_t)(x + 1 - text), 1))
        return airy_fail(AIRY_ERR_PARAM, "%s", wrong);
    airy_raw_frames found = {.height = (size_t)height, .width = (size_t)width};
    snprintf(name, sizeof(name), "%.*s", (int)lengths[1], parts[1]);
    AIRY_TRY(airy_dtype_parse(&found.dtype, name));
    const char *order = parts[count - 1];
    if (count > 2 && (strcmp(order, "big") == 0 || strcmp(order, "little") == 0)) {
        found.big_endian = order[0] == 'b';
        count--;
    }
    if (count > 3 || (count == 3 && !parse_size(&offset, parts[2], lengths[2], 0)))
        return airy_fail(AIRY_ERR_PARAM, "%s", wrong);
    found.offset = offset;
    *raw = found;
    return AIRY_OK;
}
