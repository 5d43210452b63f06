#include "cli/stack_out.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A chunk that is kept because frames repeat. */
struct kept {
    void *chunk;
    size_t size;
};

enum { KEEP_BYTES = 512 << 20 }; /* of all that are kept */

/* The frames of one file. */
struct part {
    size_t next, placed, end;
};

/* What the threads share. */
struct job {
    struct stack_out *out;
    airy_stack_writer *writer;
    struct progress progress;
    size_t frames, frame_size;
    size_t part_frames, part_count;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t turn;
    struct part *parts;    /* [part_count] */
    size_t begun, written; /* begun: parts that a thread has taken, the first ones */
    struct kept *kept;     /* [period], or NULL */
    uint64_t kept_bytes;
    airy_error error;
    bool stopped;
};

/* Takes the calling thread's failure; the first one stays. */
static void fail_job(struct job *job, airy_status status)
{
    if (job->error.status != AIRY_OK)
        return;
    airy_error_get(&job->error);
    job->error.status = status;
}

/*
 * A frame's place in its file, in the order of the frames, so that files do not depend on the
 * threads. False: nothing is to be written.
 */
static bool place_frame(struct job *job, size_t index, const void *chunk, size_t size,
                        airy_status status, airy_frame_place *place)
{
    struct part *part = &job->parts[index / job->part_frames];
    pthread_mutex_lock(&job->lock);
    while (part->placed != index && job->error.status == AIRY_OK && !job->stopped)
        pthread_cond_wait(&job->turn, &job->lock);
    const bool proceed = job->error.status == AIRY_OK && !job->stopped;
    if (proceed && status == AIRY_OK) {
        pthread_mutex_unlock(&job->lock); /* the turn is still this thread's */
        status = airy_stack_writer_place(job->writer, index, chunk, size, place);
        pthread_mutex_lock(&job->lock);
    }
    if (proceed && status != AIRY_OK)
        fail_job(job, status);
    part->placed++;
    pthread_cond_broadcast(&job->turn);
    pthread_mutex_unlock(&job->lock);
    return proceed && status == AIRY_OK;
}

/* The bytes of several frames are written at the same time. */
static void deliver(struct job *job, size_t index, const void *chunk, size_t size,
                    airy_status status)
{
    airy_frame_place place;
    if (!place_frame(job, index, chunk, size, status, &place))
        return;
    status = airy_stack_writer_put(job->writer, &place, chunk, size);
    pthread_mutex_lock(&job->lock);
    if (status != AIRY_OK)
        fail_job(job, status);
    if (job->error.status == AIRY_OK) {
        job->written++;
        job->out->stored += size;
        job->stopped |= !progress_step(&job->progress, job->written, job->frames) &&
                        job->written < job->frames;
    }
    if (job->error.status != AIRY_OK || job->stopped) /* else nobody waits for this */
        pthread_cond_broadcast(&job->turn);
    pthread_mutex_unlock(&job->lock);
}

/* The chunk of a frame that was encoded before, or NULL. */
static const struct kept *find_kept(struct job *job, size_t index)
{
    if (!job->kept)
        return NULL;
    pthread_mutex_lock(&job->lock);
    const struct kept *kept = &job->kept[index % job->out->period];
    const bool there = kept->chunk != NULL;
    pthread_mutex_unlock(&job->lock);
    return there ? kept : NULL; /* it does not change any more */
}

/* For the frames that follow a period later, as long as there is room. */
static void keep(struct job *job, size_t index, const void *chunk, size_t size)
{
    if (!job->kept || index + job->out->period >= job->frames)
        return;
    pthread_mutex_lock(&job->lock);
    struct kept *kept = &job->kept[index % job->out->period];
    const bool room = !kept->chunk && job->kept_bytes + size <= KEEP_BYTES;
    job->kept_bytes += room ? size : 0;
    pthread_mutex_unlock(&job->lock);
    void *copy = room ? malloc(size) : NULL;
    if (!copy)
        return;
    memcpy(copy, chunk, size);
    pthread_mutex_lock(&job->lock);
    if (!kept->chunk) {
        kept->size = size;
        kept->chunk = copy;
        copy = NULL;
    }
    pthread_mutex_unlock(&job->lock);
    free(copy);
}

/*
 * The next frame of the file that this thread is at; else of one that nobody is at, so that as many
 * files as threads are written at the same time; else of the file that lacks most. False: all are
 * taken. The lock is held.
 */
static bool take_frame(struct job *job, size_t *mine, size_t *index)
{
    struct part *part = *mine < job->part_count ? &job->parts[*mine] : NULL;
    if (!part || part->next == part->end) {
        if (job->begun < job->part_count) {
            *mine = job->begun++;
        } else {
            size_t most = 0;
            for (size_t i = 0; i < job->part_count; i++)
                if (job->parts[i].end - job->parts[i].next > most) {
                    most = job->parts[i].end - job->parts[i].next;
                    *mine = i;
                }
            if (most == 0)
                return false;
        }
        part = &job->parts[*mine];
    }
    *index = part->next++;
    return true;
}

static void *work(void *user)
{
    struct job *job = user;
    const struct stack_out *out = job->out;
    size_t mine = job->part_count, index = 0;
    const airy_codec_params *codec = &out->writer.codec;
    const bool plain = codec->codec == AIRY_CODEC_NONE;
    const size_t bound = plain ? 1 : airy_encode_bound(job->frame_size, codec);
    void *frame = malloc(out->lend ? 1 : job->frame_size), *chunk = bound ? malloc(bound) : NULL;
    for (;;) {
        pthread_mutex_lock(&job->lock);
        if (!frame || !chunk) {
            job->error =
                (airy_error){.status = AIRY_ERR_MEMORY,
                             .text = "out of memory for frames in flight; lower --threads"};
            pthread_cond_broadcast(&job->turn);
        }
        const bool more = job->error.status == AIRY_OK && !job->stopped &&
                          take_frame(job, &mine, &index);
        pthread_mutex_unlock(&job->lock);
        if (!more)
            break;
        const struct kept *again = find_kept(job, index);
        if (again) {
            deliver(job, index, again->chunk, again->size, AIRY_OK);
            continue;
        }
        size_t used = bound;
        const void *pixels = out->lend ? out->lend(out->user, index) : frame;
        airy_status status = out->lend ? AIRY_OK : out->make(out->user, index, frame);
        if (status == AIRY_OK && !plain)
            status = airy_encode(chunk, &used, pixels, job->frame_size, codec);
        if (status == AIRY_OK && !plain)
            keep(job, index, chunk, used);
        deliver(job, index, plain ? pixels : chunk, plain ? job->frame_size : used, status);
    }
    free(frame);
    free(chunk);
    return NULL;
}

/*
 * No data file that is written over, or goes with the master that is, is an input, or one that the
 * input links to.
 */
static int keep_inputs(const struct stack_out *out, size_t files, size_t before)
{
    int code = AIRY_EXIT_OK;
    const size_t all = files > before ? files : before;
    for (size_t i = 0; i < all && code == AIRY_EXIT_OK && out->common->force; i++) {
        char *path = NULL;
        const airy_status status = airy_stack_data_path(&path, out->path, i + 1);
        if (status != AIRY_OK)
            return tool_failed(out->common, status);
        if (tool_exists(path)) {
            code = tool_keep_inputs(out->common, path);
            if (code == AIRY_EXIT_OK && out->source)
                code = tool_keep_stack(out->common, path, out->source);
        }
        free(path);
    }
    return code;
}

/* Data files that only the stack which is replaced has, numbers `from` to `to`: those there now. */
static size_t count_surplus(char *first, size_t size, const struct stack_out *out, size_t from,
                            size_t to)
{
    size_t count = 0;
    for (size_t number = from; number <= to; number++) {
        char *path = NULL;
        if (airy_stack_data_path(&path, out->path, number) == AIRY_OK && tool_exists(path) &&
            count++ == 0)
            snprintf(first, size, "%s", path);
        free(path);
    }
    return count;
}

/* What became of them; `before` the run they were `had`. */
static void say_surplus(const struct stack_out *out, size_t before, size_t had, const char *first)
{
    char still[1024];
    const size_t left = count_surplus(still, sizeof(still), out, out->files + 1, before);
    if (left < had)
        tool_say(out->common, "removed %zu data file%s that only the stack before had, '%s'%s",
                 had - left, tool_s(had - left), first, had - left > 1 ? " and on" : "");
    if (left)
        tool_say(out->common,
                 "%zu data file%s of the stack before %s, '%s'%s; %s no longer links to %s", left,
                 tool_s(left), left > 1 ? "stay" : "stays", still, left > 1 ? " and on" : "",
                 out->path, left > 1 ? "them" : "it");
}

/* A data file behind those of both stacks, as of one whose master could not be read. */
static void say_others(const struct stack_out *out, size_t before)
{
    char *path = NULL;
    const size_t last = out->files > before ? out->files : before;
    if (airy_stack_data_path(&path, out->path, last + 1) == AIRY_OK && tool_exists(path))
        tool_say(out->common, "'%s' stays, to which the stack before did not link", path);
    free(path);
}

/* Runs of frames by the files that they go to. */
static int divide(struct job *job)
{
    const size_t each = job->out->writer.frames_per_file;
    job->part_frames = each && each < job->frames ? each : job->frames;
    job->part_count = (job->frames - 1) / job->part_frames + 1;
    job->parts = calloc(job->part_count, sizeof(*job->parts));
    if (!job->parts)
        return tool_fail(job->out->common, "out of memory for %zu files", job->part_count);
    for (size_t i = 0; i < job->part_count; i++) {
        struct part *part = &job->parts[i];
        const size_t end = (i + 1) * job->part_frames;
        part->next = part->placed = i * job->part_frames;
        part->end = end < job->frames ? end : job->frames;
    }
    return AIRY_EXIT_OK;
}

/* All frames into the open writer. */
static void write_frames(struct job *job)
{
    struct stack_out *out = job->out;
    if (out->period && out->period < job->frames) /* without memory for it, all are encoded */
        job->kept = calloc(out->period, sizeof(*job->kept));
    progress_begin(&job->progress, out->common, "frames");
    const size_t threads = tool_threads(out->common);
    tool_work(threads < job->frames ? threads : job->frames, work, job);
    progress_end(&job->progress);
    for (size_t i = 0; job->kept && i < out->period; i++)
        free(job->kept[i].chunk);
    free(job->kept);
}

/* How that went, and the files under their names if it went well. */
static int finish(struct job *job)
{
    const struct stack_out *out = job->out;
    if (job->error.status != AIRY_OK)
        return job->error.status == AIRY_ERR_IO || job->error.status == AIRY_ERR_NOT_FOUND
                   ? tool_failed_as(out->common, &job->error)
                   : tool_fail(out->common, "%s", job->error.text);
    if (job->written < job->frames && out->passing)
        return AIRY_EXIT_FAILED;
    if (job->written < job->frames)
        return tool_fail(out->common, "%s: stopped after %zu of %zu frames, %s; start again",
                         out->path, job->written, job->frames, tool_left(out->common, out->path));
    const airy_status status = airy_stack_writer_finish(job->writer);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(out->common, status);
}

int stack_out_run(struct stack_out *out)
{
    airy_stack_writer_params *params = &out->writer;
    params->force = out->common->force;
    struct job job = {.out = out,
                      .frames = params->frames,
                      .frame_size = params->height * params->width * airy_dtype_size(params->dtype),
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .turn = PTHREAD_COND_INITIALIZER};
    const double start = tool_now();
    out->stored = 0;
    size_t before = 0, surplus = 0; /* before: data files of the stack that is replaced */
    char first[1024];
    tool_catch_interrupts(); /* from here on there are partial files */
    airy_status status = airy_stack_writer_create(&job.writer, out->path, params);
    if (status == AIRY_OK && params->force)
        status = airy_stack_data_count(&before, out->path);
    int code = status == AIRY_OK ? divide(&job) : tool_failed(out->common, status);
    if (code == AIRY_EXIT_OK && params->frames_per_file)
        code = keep_inputs(out, job.part_count, before);
    if (code == AIRY_EXIT_OK) {
        out->files = params->frames_per_file ? job.part_count : 0;
        surplus = count_surplus(first, sizeof(first), out, out->files + 1, before);
        write_frames(&job);
        code = finish(&job);
    }
    if (code == AIRY_EXIT_OK && surplus)
        say_surplus(out, before, surplus, first);
    if (code == AIRY_EXIT_OK && params->force && out->files)
        say_others(out, before);
    airy_stack_writer_destroy(&job.writer);
    free(job.parts);
    pthread_cond_destroy(&job.turn);
    pthread_mutex_destroy(&job.lock);
    out->seconds = tool_now() - start;
    return code;
}

/*
 * How large the chunks are, beside the plain frames, or where these are plain beside what they were
 * read from.
 */
static void size_text(char text[64], const struct stack_out *out, double decoded)
{
    const bool plain = out->writer.codec.codec == AIRY_CODEC_NONE;
    const double stored = (double)out->stored;
    airy_stack_info from = {.frames = 0};
    double before = decoded;
    if (plain && out->source && airy_stack_get_info(out->source, &from) == AIRY_OK)
        before = (double)from.stored_bytes;
    const char *what = plain ? "it was" : "plain";
    if (before >= 1.005 * stored)
        snprintf(text, 64, "%.2fx smaller than %s", before / stored, what);
    else if (before > 0 && stored >= 1.005 * before)
        snprintf(text, 64, "%.2fx larger than %s", stored / before, what);
    else
        snprintf(text, 64, plain ? "plain" : "as large as plain");
}

int stack_out_report(const struct stack_out *out)
{
    const airy_stack_writer_params *w = &out->writer;
    const double frames = (double)w->frames, stored = (double)out->stored;
    const double decoded = frames * (double)w->height * (double)w->width *
                           (double)airy_dtype_size(w->dtype);
    char text[2][32], size[64], files[64] = "";
    if (out->files)
        snprintf(files, sizeof(files), " in %zu file%s", out->files, tool_s(out->files));
    if (out->common->json)
        return tool_print_json(
            out->common,
            json_pack("{s:o, s:o*, s:I, s:[I,I,I], s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "output",
                      tool_json_string(out->path), "files",
                      out->files ? json_integer((json_int_t)out->files) : NULL, "frames",
                      (json_int_t)w->frames, "shape", (json_int_t)w->frames, (json_int_t)w->height,
                      (json_int_t)w->width, "dtype", airy_dtype_name(w->dtype), "codec",
                      airy_codec_name(w->codec.codec), "stored_bytes", (json_int_t)out->stored,
                      "decoded_bytes", (json_int_t)decoded, "bytes_per_frame",
                      tool_json_number(stored / frames), "ratio",
                      tool_json_number(decoded / stored), "seconds",
                      tool_json_number(out->seconds)));
    size_text(size, out, decoded);
    tool_say(out->common, "%s: %zu frame%s of %zu x %zu %s%s, %s a frame (%s), %.1f frames/s, %s/s",
             out->path, w->frames, tool_s(w->frames), w->height, w->width,
             airy_dtype_name(w->dtype), files, tool_bytes(text[0], stored / frames), size,
             frames / out->seconds, tool_bytes(text[1], decoded / out->seconds));
    return AIRY_EXIT_OK;
}
