/* Giving one frame to the run, as a chunk or as pixels, and what the looks at all inputs share. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "jobs/integrate/follow_look.h"

double airy_follow_now(void)
{
    return (double)airy_clock_ns() * 1e-9;
}

bool airy_follow_goes_on(struct airy_follow *f)
{
    const double now = airy_follow_now();
    airy_job *job = f->it->job;
    airy_live_info info;
    f->stopped = f->stopped || atomic_load(&job->cancelled) || atomic_load(&f->refused);
    if (f->stopped || now - f->asked < 0.1)
        return !f->stopped;
    f->asked = now;
    airy_live_get_info(f->live, &info);
    f->stopped = !airy_job_step(job, (size_t)(info.done + info.lost + info.resumed), f->frames);
    return !f->stopped;
}

size_t airy_follow_row(const struct airy_follow *f, size_t frame)
{
    const airy_run_params *run = &f->it->run;
    if (frame < run->first || (run->last && frame >= run->last) ||
        (frame - run->first) % run->step != 0)
        return SIZE_MAX;
    return (frame - run->first) / run->step;
}

enum airy_taken airy_follow_fail(struct airy_follow *f, airy_status status)
{
    (void)airy_error_first(&f->error, status);
    return FAILED;
}

airy_status airy_follow_partial(const struct airy_follow *f, airy_status status)
{
    return *f->partial
               ? airy_hinted(AIRY_HINT_INTERRUPTED,
                             airy_fail_more(status, "; the rows so far are in %s", f->partial))
               : status;
}

enum airy_taken airy_follow_fail_other(struct airy_follow *f, const char *path)
{
    const airy_status status = airy_follow_partial(f, AIRY_ERR_FORMAT);
    return airy_follow_fail(
        f, airy_hinted(AIRY_HINT_ANEW, airy_about(AIRY_SUBJECT_FILE, path, status)));
}

enum airy_taken airy_follow_give(struct airy_follow *f, size_t row, const void *bytes, size_t size,
                                 bool encoded)
{
    const airy_live_frame frame = {.number = row, .bytes = bytes, .size = size, .encoded = encoded};
    airy_status status;
    do
        status = airy_live_put(f->live, &frame, 0.1);
    while (status == AIRY_ERR_TIMED_OUT && airy_follow_goes_on(f));
    if (status == AIRY_ERR_TIMED_OUT || status == AIRY_ERR_CANCELLED)
        return LATER;
    if (status != AIRY_OK)
        return airy_follow_fail(f, status == AIRY_ERR_IO ? airy_follow_partial(f, status) : status);
    f->given++;
    f->idle = 0;
    return TAKEN;
}

/* Give up a frame that cannot be read and never will be. */
enum airy_taken airy_follow_give_up(struct airy_follow *f, size_t row, const char *why)
{
    const airy_status status = airy_live_lose(f->live, row, why, HUGE_VAL);
    if (status != AIRY_OK)
        return airy_follow_fail(f, status);
    f->given++;
    return TAKEN;
}

void airy_follow_close(struct airy_follow *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

/* Nothing is read from another file that has the name of the stack's file by now. */
bool airy_follow_read(struct airy_follow *f, const airy_stack *stack, const airy_stack_place *place)
{
    if (place->size > f->chunk_bytes) {
        uint8_t *larger = realloc(f->chunk, place->size);
        if (!larger)
            return false;
        f->chunk = larger;
        f->chunk_bytes = place->size;
    }
    if (f->fd < 0 || strcmp(f->name, place->path) != 0) {
        airy_follow_close(f);
        f->fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        snprintf(f->name, sizeof(f->name), "%s", place->path);
        if (!airy_stack_uses(stack, place->path))
            airy_follow_close(f);
    }
    for (size_t done = 0; f->fd >= 0 && done < place->size;) {
        const ssize_t n =
            pread(f->fd, f->chunk + done, place->size - done, (off_t)(place->offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return f->fd >= 0;
}

/* A chunk begins with the number of bytes of its frame, unless the file still has a hole there. */
static bool is_begun(const struct airy_follow *f, const airy_stack_place *place, airy_codec codec)
{
    if (!place->encoded || (codec != AIRY_CODEC_BSLZ4 && codec != AIRY_CODEC_LZ4))
        return true;
    uint64_t bytes = 0;
    for (size_t i = 0; i < 8 && place->size >= 12; i++)
        bytes = bytes << 8 | f->chunk[i];
    return bytes == f->frame_bytes;
}

/* Take a frame of an open stack. */
enum airy_taken airy_follow_take(struct airy_follow *f, const airy_stack *stack,
                                 const airy_stack_info *info, size_t frame, size_t row)
{
    airy_stack_place place;
    const airy_status status = airy_stack_get_place(stack, frame, &place);
    if (status != AIRY_OK)
        return airy_follow_fail(f, status);
    const bool same = memcmp(&info->codec, &f->it->info.codec, sizeof(info->codec)) == 0;
    if (place.path && (!place.encoded || same)) {
        if (airy_follow_read(f, stack, &place) &&
            (is_begun(f, &place, info->codec.codec) || f->last))
            return airy_follow_give(f, row, f->chunk, place.size, place.encoded);
        if (!f->last)
            return LATER;
    } else if (!place.path && info->path == AIRY_STACK_DIRECT) {
        if (!f->last)
            return LATER;
        if (airy_stack_read(stack, frame, f->pixels, f->frame_bytes) != AIRY_OK)
            return airy_follow_give_up(f, row, airy_last_error());
        return airy_follow_give(f, row, f->pixels, f->frame_bytes, false);
    }
    if (airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK)
        return airy_follow_give(f, row, f->pixels, f->frame_bytes, false);
    return f->last ? airy_follow_give_up(f, row, airy_last_error()) : LATER;
}

bool airy_follow_fits(const struct airy_follow *f, const airy_stack_info *info)
{
    const airy_stack_info *want = &f->it->info;
    return info->height == want->height && info->width == want->width && info->dtype == want->dtype;
}
