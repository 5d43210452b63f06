/*
 * HDF5 files that grow are opened again at each look, and a frame is taken when its bytes are
 * there; where a frame lies in which of several files changes while they grow, so it is taken when
 * two looks found it at the same place.
 */
#include "integrate/follow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/hash.h"

/* Room for what is known of so many frames and their rows. */
static bool make_room(struct follow *f, size_t frames)
{
    if (frames <= f->stack.have_count)
        return true;
    const size_t more = frames > 2 * f->stack.have_count ? frames : 2 * f->stack.have_count;
    uint64_t *places = realloc(f->stack.places, more * sizeof(*places));
    if (places)
        f->stack.places = places;
    uint8_t *have = places ? realloc(f->stack.have, more) : NULL;
    if (!have)
        return false;
    f->stack.have = have;
    memset(f->stack.have + f->stack.have_count, 0, more - f->stack.have_count);
    memset(f->stack.places + f->stack.have_count, 0,
           (more - f->stack.have_count) * sizeof(*places));
    f->stack.have_count = more;
    return true;
}

/* Never 0, which is a place that nobody knows yet. */
static uint64_t hash_place(const airy_stack_place *place)
{
    const uint64_t hash = hash_text(HASH_START, place->path ? place->path : "");
    return hash_bytes(hash, &place->offset, sizeof(place->offset)) | 1;
}

/* A frame as it is now; not known where it cannot be read. */
static struct proof prove(struct follow *f, const airy_stack *stack, size_t frame)
{
    airy_stack_place place = {0};
    struct proof proof = {.frame = frame};
    if (airy_stack_get_place(stack, frame, &place) != AIRY_OK)
        return proof;
    if (place.path && follow_read(f, stack, &place)) {
        proof.known = proof.stored = true;
        proof.hash = hash_bytes(HASH_START, f->chunk, place.size);
    } else if (!place.path && airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK) {
        proof.known = true;
        proof.hash = hash_bytes(HASH_START, f->pixels, f->frame_bytes);
    }
    return proof;
}

static enum taken fail_replaced(struct follow *f, size_t frame, const char *path)
{
    return follow_fail(f, tool_fail(f->job->common,
                                    "frame %zu of '%s' is another one than when it was taken: the "
                                    "file was replaced, or is written again; the rows so far are "
                                    "in %s.partial, --force without --resume begins anew",
                                    frame, path, f->job->params->output));
}

static enum taken fail_absent(struct follow *f)
{
    const struct integrate_params *p = f->job->params;
    return follow_fail(
        f, tool_fail(f->job->common,
                     "'%s' has no frame %zu now, which has a row: the file was replaced or "
                     "cut off; the rows so far are in %s.partial, --force without --resume begins "
                     "anew",
                     f->job->common->inputs.items[0], f->stack.proof.frame, p->output));
}

/*
 * The same for frames that an earlier process took: no other is taken until the newest of them is there
 * again, and those that are compared give the rows that they gave.
 */
static enum taken check_rows(struct follow *f, const airy_stack *stack, const airy_stack_info *info)
{
    airy_stack_place place = {0};
    struct kept_other other;
    const size_t frame = f->stack.proof.frame;
    const bool there = frame < info->frames &&
                       airy_stack_get_place(stack, frame, &place) == AIRY_OK &&
                       (place.path || info->path != AIRY_STACK_DIRECT) &&
                       airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK;
    if (!there)
        return f->last ? fail_absent(f) : LATER;
    const airy_status status = kept_rows_check(f->kept, stack, f->pixels, &other);
    if (status == AIRY_ERR_CANCELLED || (airy_status_is_of_frame(status) && !f->last))
        return LATER;
    if (status != AIRY_OK)
        return follow_fail(f, tool_failed(f->job->common, status));
    if (other.found)
        return fail_replaced(f, other.frame,
                             info->files > 1 ? other.path : f->job->common->inputs.items[0]);
    kept_rows_close(&f->kept);
    f->stack.proof = prove(f, stack, frame);
    return TAKEN;
}

/* A frame that was taken is another one now: rows of two series would be in one file. */
static enum taken check_proof(struct follow *f, const airy_stack *stack,
                              const airy_stack_info *info)
{
    if (f->kept)
        return check_rows(f, stack, info);
    if (!f->stack.proof.known)
        return TAKEN;
    struct proof now = {.known = false};
    if (f->stack.proof.frame < info->frames)
        now = prove(f, stack, f->stack.proof.frame);
    if (!now.known || now.stored != f->stack.proof.stored) /* it may still be the same frame */
        return LATER;
    const bool other = now.hash != f->stack.proof.hash;
    return other ? fail_replaced(f, now.frame, f->job->common->inputs.items[0]) : TAKEN;
}

/* With several files a frame must have been at its place at the last look, too. */
static bool has_settled(struct follow *f, const airy_stack *stack, const airy_stack_info *info,
                        size_t frame)
{
    airy_stack_place place = {0};
    if (f->last || info->files < 2 || airy_stack_get_place(stack, frame, &place) != AIRY_OK)
        return true;
    const uint64_t hash = hash_place(&place);
    const bool same = f->stack.places[frame] == hash;
    f->stack.places[frame] = hash;
    return same;
}

/* At the end: a data file that never came, and of which nobody knows how much it was. */
static void say_end(const struct follow *f)
{
    const struct common *common = f->job->common;
    airy_stack *stack = NULL;
    if (stack_open(&stack, &common->inputs, &f->job->params->raw) != AIRY_OK)
        tool_say(common, "the frames end here: %s", airy_last_error());
    airy_stack_destroy(&stack);
}

/* Whether the stack is still the one whose frames were taken. LATER: not now. */
static enum taken check_stack(struct follow *f, const airy_stack *stack, airy_stack_info *info)
{
    if (airy_stack_get_info(stack, info) != AIRY_OK)
        return LATER;
    if (!follow_fits(f, info)) {
        if (f->last)
            tool_say(f->job->common,
                     "the frames end here: '%s' is another file now, of frames of another size or "
                     "type",
                     f->job->common->inputs.items[0]);
        return LATER;
    }
    if (!make_room(f, info->frames))
        return follow_fail(f,
                           tool_fail(f->job->common, "out of memory for %zu frames", info->frames));
    if (f->last && f->stack.proof.known && !f->kept && f->stack.proof.frame >= info->frames)
        tool_say(f->job->common,
                 "the frames end here: '%s' has %zu frame%s now, and frame %zu was taken: the file "
                 "was replaced or cut off",
                 f->job->common->inputs.items[0], info->frames, tool_s(info->frames),
                 f->stack.proof.frame);
    return check_proof(f, stack, info);
}

static enum taken take_frames(struct follow *f, const airy_stack *stack,
                              const airy_stack_info *info)
{
    enum taken taken = TAKEN;
    size_t latest = SIZE_MAX;
    for (size_t i = f->stack.next; taken != FAILED && i < info->frames && !tool_interrupted();
         i++) {
        const size_t row = follow_row(f, i);
        if (row == SIZE_MAX)
            f->stack.have[i] = 1;
        if (f->stack.have[i] || !has_settled(f, stack, info, i))
            continue;
        taken = follow_take(f, stack, info, i, row);
        f->stack.have[i] = taken == TAKEN;
        latest = taken == TAKEN ? i : latest;
    }
    if (taken == FAILED)
        return FAILED;
    if (latest != SIZE_MAX)
        f->stack.proof = prove(f, stack, latest);
    while (f->stack.next < f->stack.have_count && f->stack.have[f->stack.next])
        f->stack.next++;
    return TAKEN;
}

/* A look at HDF5 files. */
enum taken follow_stack_look(struct follow *f)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (f->last)
        say_end(f);
    if (stack_open_growing(&stack, &f->job->common->inputs, &f->job->params->raw) != AIRY_OK)
        return LATER; /* it is being changed */
    follow_close(f);
    enum taken taken = check_stack(f, stack, &info);
    if (taken == TAKEN)
        taken = take_frames(f, stack, &info);
    airy_stack_destroy(&stack);
    return taken;
}

void follow_stack_resume(struct follow *f, const char *partial)
{
    f->kept = kept_rows_open(f->job, partial);
    if (f->kept)
        f->stack.proof = (struct proof){.known = true, .frame = kept_rows_newest(f->kept)};
}

void follow_stack_free(struct follow_stack *s)
{
    free(s->places);
    free(s->have);
}
