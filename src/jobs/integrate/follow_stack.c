/*
 * HDF5 files that grow are opened again at each look, and a frame is taken when its bytes are
 * there; where a frame lies in which of several files changes while they grow, so it is taken when
 * two looks found it at the same place.
 */
#include "jobs/integrate/follow_look.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

/* Room for what is known of so many frames and their rows. */
static bool make_room(struct airy_follow *f, size_t frames)
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
    const uint64_t hash = airy_hash_text(AIRY_HASH_START, place->path ? place->path : "");
    return airy_hash_bytes(hash, &place->offset, sizeof(place->offset)) | 1;
}

/* A frame as it is now; not known where it cannot be read. */
static struct airy_taken_frame describe(struct airy_follow *f, const airy_stack *stack,
                                        size_t frame)
{
    airy_stack_place place = {0};
    struct airy_taken_frame taken = {.frame = frame};
    if (airy_stack_get_place(stack, frame, &place) != AIRY_OK)
        return taken;
    if (place.path && airy_follow_read(f, stack, &place)) {
        taken.known = taken.stored = true;
        taken.hash = airy_hash_bytes(AIRY_HASH_START, f->chunk, place.size);
    } else if (!place.path && airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK) {
        taken.known = true;
        taken.hash = airy_hash_bytes(AIRY_HASH_START, f->pixels, f->frame_bytes);
    }
    return taken;
}

static enum airy_taken fail_replaced(struct airy_follow *f, size_t frame, const char *path)
{
    (void)airy_fail(AIRY_ERR_FORMAT,
                    "frame %zu of '%s' is another one than when it was taken: the file was "
                    "replaced, or is written again",
                    frame, path);
    return airy_follow_fail_other(f, path);
}

static enum airy_taken fail_absent(struct airy_follow *f)
{
    const char *path = airy_integration_name(f->it);
    (void)airy_fail(AIRY_ERR_FORMAT,
                    "'%s' has no frame %zu now, which has a row: the file was replaced or cut off",
                    path, f->stack.newest.frame);
    return airy_follow_fail_other(f, path);
}

/*
 * Compare rows that an earlier run made with their frames: no further frame is taken until the newest
 * of them is there again, and those that are compared give the rows that they gave.
 */
static enum airy_taken check_rows(struct airy_follow *f, const airy_stack *stack,
                                  const airy_stack_info *info)
{
    airy_stack_place place = {0};
    struct airy_kept_other other;
    const size_t frame = f->stack.newest.frame;
    const bool there = frame < info->frames &&
                       airy_stack_get_place(stack, frame, &place) == AIRY_OK &&
                       (place.path || info->path != AIRY_STACK_DIRECT) &&
                       airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK;
    if (!there)
        return f->last ? fail_absent(f) : LATER;
    const airy_status status = airy_kept_rows_check(f->kept, stack, f->pixels, &other);
    if (status == AIRY_ERR_CANCELLED || (airy_status_is_of_frame(status) && !f->last))
        return LATER;
    if (status != AIRY_OK)
        return airy_follow_fail(f, status);
    if (other.found)
        return fail_replaced(f, other.frame,
                             info->files > 1 ? other.path : airy_integration_name(f->it));
    airy_kept_rows_close(&f->kept);
    f->stack.newest = describe(f, stack, frame);
    return TAKEN;
}

/* A frame that was taken is another one now: rows of two series would be in one file. */
static enum airy_taken check_newest(struct airy_follow *f, const airy_stack *stack,
                                    const airy_stack_info *info)
{
    if (f->kept)
        return check_rows(f, stack, info);
    if (!f->stack.newest.known)
        return TAKEN;
    struct airy_taken_frame now = {.known = false};
    if (f->stack.newest.frame < info->frames)
        now = describe(f, stack, f->stack.newest.frame);
    if (!now.known || now.stored != f->stack.newest.stored) /* it may still be the same frame */
        return LATER;
    const bool other = now.hash != f->stack.newest.hash;
    return other ? fail_replaced(f, now.frame, airy_integration_name(f->it)) : TAKEN;
}

/* With several files a frame must have been at its place at the last look, too. */
static bool has_settled(struct airy_follow *f, const airy_stack *stack, const airy_stack_info *info,
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
static void report_end(const struct airy_follow *f)
{
    airy_stack *stack = NULL;
    if (airy_job_open_stack(f->it->job, &stack, &f->it->v->stack) != AIRY_OK)
        airy_job_message(f->it->job, AIRY_LOG_WARN, "the frames end here: %s", airy_last_error());
    airy_stack_destroy(&stack);
}

/* Whether the stack is still the one whose frames were taken. LATER: not now. */
static enum airy_taken check_stack(struct airy_follow *f, const airy_stack *stack,
                                   airy_stack_info *info)
{
    if (airy_stack_get_info(stack, info) != AIRY_OK)
        return LATER;
    if (!airy_follow_fits(f, info)) {
        if (f->last)
            airy_job_message(
                f->it->job, AIRY_LOG_WARN,
                "the frames end here: '%s' is another file now, of frames of another size or "
                "type",
                airy_integration_name(f->it));
        return LATER;
    }
    if (!make_room(f, info->frames))
        return airy_follow_fail(
            f, airy_fail(AIRY_ERR_MEMORY, "out of memory for %zu frames", info->frames));
    if (f->last && f->stack.newest.known && !f->kept && f->stack.newest.frame >= info->frames)
        airy_job_message(
            f->it->job, AIRY_LOG_WARN,
            "the frames end here: '%s' has %zu frame%s now, and frame %zu was taken: the file "
            "was replaced or cut off",
            airy_integration_name(f->it), info->frames, info->frames == 1 ? "" : "s",
            f->stack.newest.frame);
    return check_newest(f, stack, info);
}

static enum airy_taken take_frames(struct airy_follow *f, const airy_stack *stack,
                                   const airy_stack_info *info)
{
    enum airy_taken taken = TAKEN;
    size_t latest = SIZE_MAX;
    for (size_t i = f->stack.next; taken != FAILED && i < info->frames && airy_follow_goes_on(f);
         i++) {
        const size_t row = airy_follow_row(f, i);
        if (row == SIZE_MAX)
            f->stack.have[i] = 1;
        if (f->stack.have[i] || !has_settled(f, stack, info, i))
            continue;
        taken = airy_follow_take(f, stack, info, i, row);
        f->stack.have[i] = taken == TAKEN;
        latest = taken == TAKEN ? i : latest;
    }
    if (taken == FAILED)
        return FAILED;
    if (latest != SIZE_MAX)
        f->stack.newest = describe(f, stack, latest);
    while (f->stack.next < f->stack.have_count && f->stack.have[f->stack.next])
        f->stack.next++;
    return TAKEN;
}

/* A look at HDF5 files. */
enum airy_taken airy_follow_stack_look(struct airy_follow *f)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (f->last)
        report_end(f);
    struct airy_stack_values growing = f->it->v->stack;
    growing.growing = true;
    if (airy_job_open_stack(f->it->job, &stack, &growing) != AIRY_OK)
        return LATER; /* it is being changed */
    airy_follow_close(f);
    enum airy_taken taken = check_stack(f, stack, &info);
    if (taken == TAKEN)
        taken = take_frames(f, stack, &info);
    airy_stack_destroy(&stack);
    return taken;
}

airy_status airy_follow_stack_resume(struct airy_follow *f)
{
    AIRY_TRY(airy_kept_rows_open(&f->kept, f->it, f->partial));
    if (f->kept)
        f->stack.newest =
            (struct airy_taken_frame){.known = true, .frame = airy_kept_rows_newest(f->kept)};
    return AIRY_OK;
}

void airy_follow_stack_free(struct airy_follow_stack *s)
{
    free(s->places);
    free(s->have);
}
