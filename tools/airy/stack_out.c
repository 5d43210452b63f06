#include "stack_out.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A chunk that is kept because frames repeat. */
struct kept {
    void *chunk;
    size_t size;
};

enum { KEEP_BYTES = 512 << 20 }; /* of all that are kept */

/* What the threads share. */
struct job {
    struct stack_out *out;
    airy_stack_writer *writer;
    struct progress progress;
    size_t frames, frame_size;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t turn;
    size_t next, placed, written;
    struct kept *kept; /* [period], or NULL */
    uint64_t kept_bytes;
    airy_status status;
    char error[1024];
    bool stopped;
};

static void fail_job(struct job *job, airy_status status, const char *sentence)
{
    job->status = status;
    snprintf(job->error, sizeof(job->error), "%s", sentence);
}

/*
 * A frame's place in the file, in the order of the frames, so that the file does not depend on the
 * threads. False: nothing is to be written.
 */
static bool place_frame(struct job *job, size_t index, const void *chunk, size_t size,
                        airy_status status, airy_frame_place *place)
{
    pthread_mutex_lock(&job->lock);
    while (job->placed != index && job->status == AIRY_OK && !job->stopped)
        pthread_cond_wait(&job->turn, &job->lock);
    const bool proceed = job->status == AIRY_OK && !job->stopped;
    if (proceed && status == AIRY_OK)
        status = airy_stack_writer_place(job->writer, index, chunk, size, place);
    if (proceed && status != AIRY_OK)
        fail_job(job, status, airy_last_error());
    job->placed++;
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
    if (status != AIRY_OK && job->status == AIRY_OK)
        fail_job(job, status, airy_last_error());
    if (job->status == AIRY_OK) {
        job->written++;
        job->out->stored += size;
        job->stopped |= !progress_step(&job->progress, job->written, job->frames) &&
                        job->written < job->frames;
    }
    if (job->status != AIRY_OK || job->stopped) /* else nobody waits for this */
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

static void *work(void *user)
{
    struct job *job = user;
    const struct stack_out *out = job->out;
    const airy_codec_params *codec = &out->writer.codec;
    const bool plain = codec->codec == AIRY_CODEC_NONE;
    const size_t bound = plain ? 1 : airy_encode_bound(job->frame_size, codec);
    void *frame = malloc(out->lend ? 1 : job->frame_size), *chunk = bound ? malloc(bound) : NULL;
    for (;;) {
        pthread_mutex_lock(&job->lock);
        if (!frame || !chunk) {
            fail_job(job, AIRY_ERR_MEMORY, "out of memory for frames in flight; lower --threads");
            pthread_cond_broadcast(&job->turn);
        }
        const size_t index = job->next;
        const bool done = index >= job->frames || job->status != AIRY_OK || job->stopped;
        job->next += !done;
        pthread_mutex_unlock(&job->lock);
        if (done)
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

int stack_out_run(struct stack_out *out)
{
    const struct common *common = out->common;
    airy_stack_writer_params *params = &out->writer;
    params->force = common->force;
    struct job job = {.out = out,
                      .frames = params->frames,
                      .frame_size = params->height * params->width * airy_dtype_size(params->dtype),
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .turn = PTHREAD_COND_INITIALIZER};
    airy_status status = airy_stack_writer_create(&job.writer, out->path, params);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (out->period && out->period < job.frames) /* without memory for it, all are encoded */
        job.kept = calloc(out->period, sizeof(*job.kept));
    tool_catch_interrupts();
    const double start = tool_now();
    progress_begin(&job.progress, common, "frames");
    out->stored = 0;
    const size_t threads = tool_threads(common);
    tool_work(threads < job.frames ? threads : job.frames, work, &job);
    progress_end(&job.progress);
    int code = AIRY_EXIT_OK;
    if (job.status != AIRY_OK)
        code = job.status == AIRY_ERR_IO ? tool_failed_as(common, job.status, job.error)
                                         : tool_fail(common, "%s", job.error);
    else if (job.written < job.frames && out->passing)
        code = AIRY_EXIT_FAILED;
    else if (job.written < job.frames)
        code = tool_fail(common,
                         "%s: stopped after %zu of %zu frames, nothing was kept; start again",
                         out->path, job.written, job.frames);
    else if ((status = airy_stack_writer_finish(job.writer)) != AIRY_OK)
        code = tool_failed(common, status);
    airy_stack_writer_destroy(&job.writer);
    for (size_t i = 0; job.kept && i < out->period; i++)
        free(job.kept[i].chunk);
    free(job.kept);
    pthread_cond_destroy(&job.turn);
    pthread_mutex_destroy(&job.lock);
    out->seconds = tool_now() - start;
    return code;
}

int stack_out_report(const struct stack_out *out)
{
    const airy_stack_writer_params *w = &out->writer;
    const double frames = (double)w->frames, stored = (double)out->stored;
    const double decoded = frames * (double)w->height * (double)w->width *
                           (double)airy_dtype_size(w->dtype);
    char text[2][32];
    if (out->common->json)
        return tool_print_json(
            out->common,
            json_pack("{s:o, s:I, s:[I,I,I], s:s, s:s, s:I, s:I, s:f, s:f, s:f}", "output",
                      tool_json_string(out->path), "frames", (json_int_t)w->frames, "shape",
                      (json_int_t)w->frames, (json_int_t)w->height, (json_int_t)w->width, "dtype",
                      airy_dtype_name(w->dtype), "codec", airy_codec_name(w->codec.codec),
                      "stored_bytes", (json_int_t)out->stored, "decoded_bytes", (json_int_t)decoded,
                      "bytes_per_frame", stored / frames, "ratio", decoded / stored, "seconds",
                      out->seconds));
    tool_say(out->common,
             "%s: %zu frame%s of %zu x %zu %s, %s a frame (%.2fx smaller than plain), %.1f "
             "frames/s, %s/s",
             out->path, w->frames, tool_s(w->frames), w->height, w->width,
             airy_dtype_name(w->dtype), tool_bytes(text[0], stored / frames), decoded / stored,
             frames / out->seconds, tool_bytes(text[1], decoded / out->seconds));
    return AIRY_EXIT_OK;
}
