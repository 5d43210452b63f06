/*
 * --follow: giving one frame to the run, as a chunk or as pixels, and which frames are for the run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "integrate/follow.h"

size_t follow_row(const struct follow *f, size_t frame)
{
    const airy_run_params *run = &f->job->run;
    if (frame < run->first || (run->last && frame >= run->last) ||
        (frame - run->first) % run->step != 0)
        return SIZE_MAX;
    return (frame - run->first) / run->step;
}

enum taken follow_fail(struct follow *f, int code)
{
    f->code = code;
    return FAILED;
}

int follow_fail_file(const struct follow *f, const char *sentence)
{
    return tool_fail(f->job->common,
                     "%s; when that is mended the same command with --resume continues %s.partial",
                     sentence, f->job->params->output);
}

enum taken follow_give(struct follow *f, size_t row, const void *bytes, size_t size, bool encoded)
{
    const airy_live_frame frame = {.number = row, .bytes = bytes, .size = size, .encoded = encoded};
    airy_status status;
    do
        status = airy_live_put(f->live, &frame, 0.5);
    while (status == AIRY_ERR_TIMED_OUT && !tool_interrupted());
    if (status == AIRY_ERR_TIMED_OUT || status == AIRY_ERR_CANCELLED)
        return LATER;
    if (status == AIRY_ERR_IO)
        return follow_fail(f, follow_fail_file(f, airy_last_error()));
    if (status != AIRY_OK)
        return follow_fail(f, tool_failed(f->job->common, status));
    f->given++;
    f->new_at = tool_now();
    f->idle = 0;
    return TAKEN;
}

/* Give up a frame that cannot be read and never will be. */
enum taken follow_give_up(struct follow *f, size_t row, const char *why)
{
    const airy_status status = airy_live_lose(f->live, row, why, HUGE_VAL);
    if (status != AIRY_OK)
        return follow_fail(f, tool_failed(f->job->common, status));
    f->given++;
    return TAKEN;
}

void follow_close(struct follow *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

/* Nothing is read from another file that has the name of the stack's file by now. */
bool follow_read(struct follow *f, const airy_stack *stack, const airy_stack_place *place)
{
    if (place->size > f->chunk_bytes) {
        uint8_t *larger = realloc(f->chunk, place->size);
        if (!larger)
            return false;
        f->chunk = larger;
        f->chunk_bytes = place->size;
    }
    if (f->fd < 0 || strcmp(f->name, place->path) != 0) {
        follow_close(f);
        f->fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        snprintf(f->name, sizeof(f->name), "%s", place->path);
        if (!airy_stack_uses(stack, place->path))
            follow_close(f);
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
static bool is_begun(const struct follow *f, const airy_stack_place *place, airy_codec codec)
{
    if (!place->encoded || (codec != AIRY_CODEC_BSLZ4 && codec != AIRY_CODEC_LZ4))
        return true;
    uint64_t bytes = 0;
    for (size_t i = 0; i < 8 && place->size >= 12; i++)
        bytes = bytes << 8 | f->chunk[i];
    return bytes == f->frame_bytes;
}

/* Take a frame of an open stack. */
enum taken follow_take(struct follow *f, const airy_stack *stack, const airy_stack_info *info,
                       size_t frame, size_t row)
{
    airy_stack_place place;
    if (airy_stack_get_place(stack, frame, &place) != AIRY_OK)
        return follow_fail(f, tool_failed(f->job->common, AIRY_ERR_PARAM));
    const bool same = memcmp(&info->codec, &f->job->info.codec, sizeof(info->codec)) == 0;
    if (place.path && (!place.encoded || same)) {
        if (follow_read(f, stack, &place) && (is_begun(f, &place, info->codec.codec) || f->last))
            return follow_give(f, row, f->chunk, place.size, place.encoded);
        if (!f->last)
            return LATER;
    } else if (!place.path && info->path == AIRY_STACK_DIRECT) {
        if (!f->last)
            return LATER;
        if (airy_stack_read(stack, frame, f->pixels, f->frame_bytes) != AIRY_OK)
            return follow_give_up(f, row, airy_last_error());
        return follow_give(f, row, f->pixels, f->frame_bytes, false);
    }
    if (airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK)
        return follow_give(f, row, f->pixels, f->frame_bytes, false);
    return f->last ? follow_give_up(f, row, airy_last_error()) : LATER;
}

bool follow_fits(const struct follow *f, const airy_stack_info *info)
{
    const airy_stack_info *want = &f->job->info;
    return info->height == want->height && info->width == want->width && info->dtype == want->dtype;
}
