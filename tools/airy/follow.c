/*
 * --follow: frames of files that are still being written become patterns as they come.
 *
 * HDF5 inputs are opened again and again, and a frame is taken when its bytes are there; where a
 * frame lies in which of several files changes while they grow, so it is taken when two looks found
 * it at the same place. Of a pattern each file is taken when it no longer changes. What cannot be
 * read yet is tried again until nothing new has come for --follow-timeout.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd_integrate.h"

/* s */
#define DEFAULT_TIMEOUT 60.0
#define DEFAULT_POLL    0.5
#define SETTLED_AGE     2.0  /* a file that has not changed for so long is complete */
#define GIVE_UP_AGE     10.0 /* one that cannot be read for so long never will be */

enum taken { TAKEN, LATER, FAILED };

/* A file that was there at the last look, and how it was. */
struct seen_file {
    char *path;
    off_t size;
    struct timespec changed;
    double since; /* when it was first seen so */
};

/* What the row of a frame says of it, whatever made the row. */
struct row_numbers {
    double total, max;
    double invalid, saturated; /* pixels */
};

/* What a frame that is taken was like: another file of the same name has another one there. */
struct proof {
    bool known, stored; /* stored: the bytes of the file, else pixels */
    bool row;           /* neither: taken by the run that is gone on with, whose row is known */
    size_t frame;
    uint64_t hash;
    struct row_numbers numbers;
};

struct follow {
    struct integration *job;
    airy_live *live;
    int code;        /* of FAILED */
    bool last;       /* look: what cannot be read now is bad */
    double new_at;   /* when a frame came last */
    double idle;     /* s of looks since then: not those in which the machine stood still */
    size_t frames;   /* that will be there; 0: unknown */
    size_t given;    /* rows given to the run */
    uint8_t *pixels; /* of a frame */
    size_t frame_bytes, chunk_bytes;
    uint8_t *chunk;
    int fd; /* of the file read last, with its name */
    char name[4200];
    /* HDF5: */
    uint64_t *places; /* [have_count] where the last look found frames */
    size_t next;      /* frames before it are given */
    uint8_t *have;    /* [have_count] rows that are given */
    size_t have_count;
    struct proof proof; /* of the last look that took frames */
    /* Patterns: */
    void *files; /* names of those taken, a tree */
    size_t late, first_frame;
    char previous[4200]; /* the one taken last */
    /* Numbers in their names, since the names began so: */
    uint64_t first_number, last_number, stride; /* least step between two; 0: there was none */
    size_t numbered, missing;                   /* files taken; numbers left out of earlier names */
    /* What is gone on with: */
    int8_t *kept; /* [kept_count] status of rows */
    size_t kept_count;
    struct timespec kept_at; /* when they were written last */
    struct seen_file *seen;
    size_t seen_count;
    double shown;
};

static double timeout_of(const struct integrate_params *p)
{
    return p->has_follow_timeout ? p->follow_timeout : DEFAULT_TIMEOUT;
}

static double poll_of(const struct integrate_params *p)
{
    return p->has_poll ? p->poll : DEFAULT_POLL;
}

/* Like the library: a name with such characters that is no file. */
static bool is_pattern(const struct opt_list *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (strpbrk(inputs->items[i], "*?[#") && !tool_exists(inputs->items[i]))
            return true;
    return false;
}

static void nap(double seconds)
{
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

int follow_check(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    if (!p->follow && (p->has_follow_timeout || p->has_poll))
        return tool_usage(common, "--%s goes with --follow",
                          p->has_poll ? "poll" : "follow-timeout");
    if (!p->follow)
        return AIRY_EXIT_OK;
    const char *other = p->average                                               ? "average"
                        : p->sum                                                 ? "sum"
                        : p->monitor                                             ? "monitor"
                        : p->processes                                           ? "processes"
                        : common->explain                                        ? "explain"
                        : p->carry.count                                         ? "carry"
                        : p->layout != LAYOUT_AUTO && p->layout != LAYOUT_DEVICE ? "layout"
                                                                                 : NULL;
    if (other && !(p->carry.count && strcmp(p->carry.items[0], "none") == 0))
        return tool_usage(common, "--%s needs all frames at once: not with --follow", other);
    if (!world_alone(p->world))
        return tool_usage(common,
                          "--follow: frames are taken by one process, not by several ranks");
    if (!integrate_is_hdf5_name(p->output))
        return tool_usage(common, "--follow: output '%s' is no .h5 file", p->output);
    return tool_check_waiting(common, p->output);
}

int follow_wait(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    for (size_t i = 0; i < common->inputs.count; i++) {
        struct stat about;
        if (stat(common->inputs.items[i], &about) == 0 && S_ISDIR(about.st_mode))
            return tool_fail(common, "'%s' is a folder; give its files as 'FOLDER/*.cbf'",
                             common->inputs.items[i]);
    }
    const double until = tool_now() + timeout_of(p);
    bool said = false;
    tool_catch_interrupts();
    for (;;) {
        airy_stack *stack = NULL;
        const airy_status status = stack_open_growing(&stack, &common->inputs, &p->raw);
        airy_stack_destroy(&stack);
        if (status == AIRY_OK)
            return AIRY_EXIT_OK;
        if (tool_interrupted())
            return tool_fail(common, "stopped before there was a frame");
        if (tool_now() >= until)
            return tool_fail(common, "no frame within %g s: %s; --follow-timeout waits longer",
                             timeout_of(p), airy_last_error());
        if (!said)
            tool_say(common, "waiting for the first frame: %s", airy_last_error());
        said = true;
        nap(poll_of(p));
    }
}

int follow_frames(struct integration *job)
{
    const struct integrate_params *p = job->params;
    const bool pattern = is_pattern(&job->common->inputs);
    const size_t first = p->frames[0], step = p->has_frames ? p->frames[2] : 1;
    const size_t last = p->has_frames && p->frames[1] ? p->frames[1]
                        : pattern                     ? 0
                                                      : job->meta.frames;
    if (last && first >= last)
        return tool_fail(job->common,
                         "--frames %zu:%zu: the series has %zu frames, numbered from 0", first,
                         last, job->meta.frames);
    job->run = (airy_run_params){.first = first, .last = last, .step = step};
    job->run.batch = p->pattern.batch;
    job->run.skip_bad = p->skip_bad;
    job->run.resume = p->resume;
    job->run.force = job->common->force;
    job->frames = last ? (last - first - 1) / step + 1 : 0;
    return AIRY_EXIT_OK;
}

/* A row's frame, be it for this run or not. SIZE_MAX: not. */
static size_t row_of(const struct follow *f, size_t frame)
{
    const airy_run_params *run = &f->job->run;
    if (frame < run->first || (run->last && frame >= run->last) ||
        (frame - run->first) % run->step != 0)
        return SIZE_MAX;
    return (frame - run->first) / run->step;
}

static enum taken fail(struct follow *f, int code)
{
    f->code = code;
    return FAILED;
}

/* Rows that cannot be written, mostly for want of room. */
static int fail_file(const struct follow *f, const char *sentence)
{
    return tool_fail(f->job->common,
                     "%s; when that is mended the same command with --resume continues %s.partial",
                     sentence, f->job->params->output);
}

static enum taken give(struct follow *f, size_t row, const void *bytes, size_t size, bool encoded)
{
    const airy_live_frame frame = {.number = row, .bytes = bytes, .size = size, .encoded = encoded};
    airy_status status;
    do
        status = airy_live_put(f->live, &frame, 0.5);
    while (status == AIRY_ERR_FULL && !tool_interrupted());
    if (status == AIRY_ERR_FULL || status == AIRY_ERR_STOPPED)
        return LATER;
    if (status == AIRY_ERR_IO)
        return fail(f, fail_file(f, airy_last_error()));
    if (status != AIRY_OK)
        return fail(f, integrate_failed(f->job->common, status));
    f->given++;
    f->new_at = tool_now();
    f->idle = 0;
    return TAKEN;
}

/* A frame that cannot be read, and never will be. */
static enum taken give_up(struct follow *f, size_t row, const char *why)
{
    const airy_status status = airy_live_lose(f->live, row, why, HUGE_VAL);
    if (status != AIRY_OK)
        return fail(f, integrate_failed(f->job->common, status));
    f->given++;
    return TAKEN;
}

/* The bytes at a place, all of them. */
static bool read_bytes(struct follow *f, const airy_stack_place *place)
{
    if (place->size > f->chunk_bytes) {
        uint8_t *larger = realloc(f->chunk, place->size);
        if (!larger)
            return false;
        f->chunk = larger;
        f->chunk_bytes = place->size;
    }
    if (f->fd < 0 || strcmp(f->name, place->path) != 0) {
        if (f->fd >= 0)
            close(f->fd);
        f->fd = open(place->path, O_RDONLY | O_CLOEXEC);
        snprintf(f->name, sizeof(f->name), "%s", place->path);
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

/* A chunk begins with the bytes of its frame: where a file has a hole as yet, it does not. */
static bool is_begun(const struct follow *f, const airy_stack_place *place, airy_codec codec)
{
    if (!place->encoded || (codec != AIRY_CODEC_BSLZ4 && codec != AIRY_CODEC_LZ4))
        return true;
    uint64_t bytes = 0;
    for (size_t i = 0; i < 8 && place->size >= 12; i++)
        bytes = bytes << 8 | f->chunk[i];
    return bytes == f->frame_bytes;
}

/* A frame of an open stack. */
static enum taken take_frame(struct follow *f, const airy_stack *stack, const airy_stack_info *info,
                             size_t frame, size_t row)
{
    airy_stack_place place;
    if (airy_stack_get_place(stack, frame, &place) != AIRY_OK)
        return fail(f, tool_failed(f->job->common, AIRY_ERR_PARAM));
    const bool same = memcmp(&info->codec, &f->job->info.codec, sizeof(info->codec)) == 0;
    if (place.path && (!place.encoded || same)) {
        if (read_bytes(f, &place) && (is_begun(f, &place, info->codec.codec) || f->last))
            return give(f, row, f->chunk, place.size, place.encoded);
        if (!f->last)
            return LATER;
    } else if (!place.path && info->path == AIRY_STACK_DIRECT) {
        if (!f->last)
            return LATER;
        /* The dataset has room for it: a fill value is no frame of a series that has ended early. */
        const bool filled = airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK;
        return give_up(f, row, filled ? "the frame was never written" : airy_last_error());
    }
    if (airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK)
        return give(f, row, f->pixels, f->frame_bytes, false);
    return f->last ? give_up(f, row, airy_last_error()) : LATER;
}

static bool fits(const struct follow *f, const airy_stack_info *info)
{
    const airy_stack_info *want = &f->job->info;
    return info->height == want->height && info->width == want->width && info->dtype == want->dtype;
}

/* Room for what is known of so many frames and their rows. */
static bool make_room(struct follow *f, size_t frames)
{
    if (frames <= f->have_count)
        return true;
    const size_t more = frames > 2 * f->have_count ? frames : 2 * f->have_count;
    uint64_t *places = realloc(f->places, more * sizeof(*places));
    if (places)
        f->places = places;
    uint8_t *have = places ? realloc(f->have, more) : NULL;
    if (!have)
        return false;
    f->have = have;
    memset(f->have + f->have_count, 0, more - f->have_count);
    memset(f->places + f->have_count, 0, (more - f->have_count) * sizeof(*places));
    f->have_count = more;
    return true;
}

#define HASH_PRIME UINT64_C(0x100000001b3)

/* FNV-1a. Source: Fowler, Noll, Vo, draft-eastlake-fnv. */
static uint64_t hash_bytes(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * HASH_PRIME;
    return hash;
}

static uint64_t hash_place(const airy_stack_place *place)
{
    const char *path = place->path ? place->path : "";
    return (hash_bytes(path, strlen(path)) ^ place->offset) * HASH_PRIME | 1;
}

/* A frame as it is now; not known where it cannot be read. */
static struct proof prove(struct follow *f, const airy_stack *stack, size_t frame)
{
    airy_stack_place place = {0};
    struct proof proof = {.frame = frame};
    if (airy_stack_get_place(stack, frame, &place) != AIRY_OK)
        return proof;
    if (place.path && read_bytes(f, &place)) {
        proof.known = proof.stored = true;
        proof.hash = hash_bytes(f->chunk, place.size);
    } else if (!place.path && airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK) {
        proof.known = true;
        proof.hash = hash_bytes(f->pixels, f->frame_bytes);
    }
    return proof;
}

static enum taken fail_replaced(struct follow *f)
{
    const struct integrate_params *p = f->job->params;
    return fail(f,
                tool_fail(f->job->common,
                          "frame %zu of '%s' is another one than when it was taken: the file was "
                          "replaced, or is written again; the rows so far are in %s.partial, "
                          "--force begins anew",
                          f->proof.frame, f->job->common->inputs.items[0], p->output));
}

static void note_numbers(void *user, const airy_live_pattern *pattern)
{
    const airy_frame_stats *stats = &pattern->stats;
    *(struct row_numbers *)user =
        (struct row_numbers){stats->total, stats->max, stats->invalid, stats->saturated};
}

/* What the frame in f->pixels would leave in its row. */
static airy_status number_frame(const struct follow *f, struct row_numbers *numbers)
{
    const struct integration *job = f->job;
    const airy_live_params params = {.height = job->info.height,
                                     .width = job->info.width,
                                     .dtype = job->info.dtype,
                                     .frames = 1,
                                     .run = {.batch = 1},
                                     .pattern = note_numbers,
                                     .user = numbers};
    const airy_live_frame frame = {.bytes = f->pixels, .size = f->frame_bytes};
    airy_live *live = NULL;
    airy_status status = airy_live_create(&live, NULL, job->team.integrators, 1, &params);
    if (status == AIRY_OK)
        status = airy_live_put(live, &frame, HUGE_VAL);
    if (status == AIRY_OK)
        status = airy_live_finish(live, NULL);
    airy_live_destroy(&live);
    return status;
}

/* Sums of floats depend on how they were made, those near 0 by what each of them adds. */
static bool same_numbers(const struct row_numbers *a, const struct row_numbers *b, size_t pixels)
{
    const double slack = 1e-9 * fabs(a->total) + 1e-12 * fabs(a->max) * (double)pixels;
    return fabs(a->total - b->total) <= slack && a->max == b->max && a->invalid == b->invalid &&
           a->saturated == b->saturated;
}

static enum taken fail_absent(struct follow *f)
{
    const struct integrate_params *p = f->job->params;
    return fail(f, tool_fail(f->job->common,
                             "'%s' has no frame %zu now, which has a row: the file was replaced or "
                             "cut off; the rows so far are in %s.partial, --force begins anew",
                             f->job->common->inputs.items[0], f->proof.frame, p->output));
}

/* The same for a frame that an earlier process took: nothing else is until it is there again. */
static enum taken check_row(struct follow *f, const airy_stack *stack, const airy_stack_info *info)
{
    airy_stack_place place = {0};
    struct row_numbers now = {0};
    const size_t frame = f->proof.frame;
    const bool there = frame < info->frames &&
                       airy_stack_get_place(stack, frame, &place) == AIRY_OK &&
                       (place.path || info->path != AIRY_STACK_DIRECT) &&
                       airy_stack_read(stack, frame, f->pixels, f->frame_bytes) == AIRY_OK;
    if (!there)
        return f->last ? fail_absent(f) : LATER;
    const airy_status status = number_frame(f, &now);
    if (status != AIRY_OK)
        return fail(f, integrate_failed(f->job->common, status));
    if (!same_numbers(&f->proof.numbers, &now, info->height * info->width))
        return fail_replaced(f);
    f->proof = prove(f, stack, frame);
    return TAKEN;
}

/* A frame that was taken is another one now: rows of two series would be in one file. */
static enum taken check_proof(struct follow *f, const airy_stack *stack,
                              const airy_stack_info *info)
{
    if (f->proof.row)
        return check_row(f, stack, info);
    if (!f->proof.known || f->proof.frame >= info->frames)
        return TAKEN;
    const struct proof now = prove(f, stack, f->proof.frame);
    const bool other = now.known && now.stored == f->proof.stored && now.hash != f->proof.hash;
    return other ? fail_replaced(f) : TAKEN;
}

/* With several files a frame must have been at its place at the last look, too. */
static bool has_settled(struct follow *f, const airy_stack *stack, const airy_stack_info *info,
                        size_t frame)
{
    airy_stack_place place = {0};
    if (f->last || info->files < 2 || airy_stack_get_place(stack, frame, &place) != AIRY_OK)
        return true;
    const uint64_t hash = hash_place(&place);
    const bool same = f->places[frame] == hash;
    f->places[frame] = hash;
    return same;
}

/* At the end: a data file of a series that never came, and of which nobody knows how much it was. */
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
    if (!fits(f, info)) {
        if (f->last)
            tool_say(f->job->common,
                     "the frames end here: '%s' is another file now, of frames of another size or "
                     "type",
                     f->job->common->inputs.items[0]);
        return LATER;
    }
    if (!make_room(f, info->frames))
        return fail(f, tool_fail(f->job->common, "out of memory for %zu frames", info->frames));
    if (f->last && f->proof.known && !f->proof.row && f->proof.frame >= info->frames)
        tool_say(f->job->common,
                 "the frames end here: '%s' has %zu frame%s now, and frame %zu was taken: the file "
                 "was replaced or cut off",
                 f->job->common->inputs.items[0], info->frames, tool_s(info->frames),
                 f->proof.frame);
    return check_proof(f, stack, info);
}

static enum taken take_frames(struct follow *f, const airy_stack *stack,
                              const airy_stack_info *info)
{
    enum taken taken = TAKEN;
    size_t latest = SIZE_MAX;
    for (size_t i = f->next; taken != FAILED && i < info->frames && !tool_interrupted(); i++) {
        const size_t row = row_of(f, i);
        if (row == SIZE_MAX)
            f->have[i] = 1;
        if (f->have[i] || !has_settled(f, stack, info, i))
            continue;
        taken = take_frame(f, stack, info, i, row);
        f->have[i] = taken == TAKEN;
        latest = taken == TAKEN ? i : latest;
    }
    if (taken == FAILED)
        return FAILED;
    if (latest != SIZE_MAX)
        f->proof = prove(f, stack, latest);
    while (f->next < f->have_count && f->have[f->next])
        f->next++;
    return TAKEN;
}

/* A look at HDF5 files. */
static enum taken look_at_stack(struct follow *f)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (f->last)
        say_end(f);
    if (stack_open_growing(&stack, &f->job->common->inputs, &f->job->params->raw) != AIRY_OK)
        return LATER; /* it is being changed */
    if (f->fd >= 0)   /* a file under that name may be another one by now */
        close(f->fd);
    f->fd = -1;
    enum taken taken = check_stack(f, stack, &info);
    if (taken == TAKEN)
        taken = take_frames(f, stack, &info);
    airy_stack_destroy(&stack);
    return taken;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The number at the end of a name, before its suffix; false: there is none. */
static bool number_of(const char *path, uint64_t *number, size_t *before)
{
    const char *dot = strrchr(path, '.');
    const bool suffix = dot && !strchr(dot, '/') && dot[1 + strspn(dot + 1, "0123456789")];
    size_t end = suffix ? (size_t)(dot - path) : strlen(path);
    while (end > 0 && path[end - 1] != '/' && (path[end - 1] < '0' || path[end - 1] > '9'))
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] >= '0' && path[start - 1] <= '9')
        start--;
    *before = start;
    *number = strtoull(path + start, NULL, 10);
    return end > start;
}

/* Names of a series, and one or more between them has not come. */
static bool leaves_gap(const struct follow *f, const char *path)
{
    uint64_t a, b;
    size_t n, m;
    return *f->previous && number_of(f->previous, &a, &n) && number_of(path, &b, &m) && n == m &&
           strncmp(f->previous, path, n) == 0 && b > a + (f->stride ? f->stride : 1);
}

/* Numbers that have no file, of the names so far. */
static size_t count_missing(const struct follow *f)
{
    const uint64_t places = f->stride ? (f->last_number - f->first_number) / f->stride + 1 : 0;
    return f->missing + (places > f->numbered ? (size_t)(places - f->numbered) : 0);
}

/* Say which numbers are passed over; a series of every tenth number only once. */
static void say_missing(const struct follow *f, const char *path, size_t before, uint64_t number)
{
    const size_t digits = strspn(path + before, "0123456789");
    const char *suffix = path + before + digits;
    const int width = path[before] == '0' ? (int)digits : 1;
    const uint64_t from = f->last_number + (f->stride ? f->stride : 1),
                   to = number - (f->stride ? f->stride : 1);
    if (from > to)
        return;
    if (from == to)
        tool_say(f->job->common, "%.*s%0*llu%s has not come: there is no row for it", (int)before,
                 path, width, (unsigned long long)from, suffix);
    else
        tool_say(f->job->common, "%.*s%0*llu%s to %0*llu have not come: there are no rows for them",
                 (int)before, path, width, (unsigned long long)from, suffix, width,
                 (unsigned long long)to);
}

/* A file is taken, behind the one before. */
static void note_number(struct follow *f, const char *path)
{
    uint64_t number = 0, last;
    size_t before = 0, n = 0;
    const bool numbered = number_of(path, &number, &before);
    if (f->numbered && number_of(f->previous, &last, &n) && numbered && n == before &&
        strncmp(f->previous, path, n) == 0 && number > last) {
        say_missing(f, path, before, number);
        f->stride = f->stride && f->stride < number - last ? f->stride : number - last;
        f->last_number = number;
        f->numbered++;
        return;
    }
    f->missing = count_missing(f);
    f->first_number = f->last_number = number;
    f->stride = 0;
    f->numbered = numbered;
}

/* What was known of a file at the last look; at: goes on from there, as names are in order. */
static const struct seen_file *find_seen(const struct follow *f, const char *path, size_t *at)
{
    for (size_t i = 0; i < f->seen_count; i++) {
        const size_t k = (*at + i) % f->seen_count;
        if (strcmp(f->seen[k].path, path) == 0) {
            *at = k + 1;
            return &f->seen[k];
        }
    }
    return NULL;
}

static double age_of(const struct stat *about)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)(now.tv_sec - about->st_mtim.tv_sec) +
           (double)(now.tv_nsec - about->st_mtim.tv_nsec) * 1e-9;
}

/* Note how a file is at the look that began `now`; true: it no longer changes. */
static bool look_at_file(struct seen_file *seen, const struct seen_file *before, const char *path,
                         double now, double *known)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return false;
    seen->size = about.st_size;
    seen->changed = about.st_mtim;
    const bool same = before && before->size == about.st_size &&
                      before->changed.tv_sec == about.st_mtim.tv_sec &&
                      before->changed.tv_nsec == about.st_mtim.tv_nsec;
    seen->since = same ? before->since : now;
    *known = now - seen->since;
    return about.st_size > 0 && (same || age_of(&about) > SETTLED_AGE);
}

/* A good row that was written before its file was there is another file's. Exit code. */
static int check_kept(const struct follow *f, const char *path, size_t frames)
{
    struct stat about;
    if (f->kept_count <= f->first_frame || stat(path, &about) != 0 ||
        about.st_ctim.tv_sec < f->kept_at.tv_sec ||
        (about.st_ctim.tv_sec == f->kept_at.tv_sec && about.st_ctim.tv_nsec <= f->kept_at.tv_nsec))
        return AIRY_EXIT_OK;
    for (size_t i = 0; i < frames; i++) {
        const size_t row = row_of(f, f->first_frame + i);
        if (row < f->kept_count && f->kept[row] == 0)
            return tool_fail(f->job->common,
                             "%s came or changed after row %zu was written: rows are no longer "
                             "those of the files; --force without --resume starts anew",
                             path, row);
    }
    return AIRY_EXIT_OK;
}

/* All frames of a file that is complete. */
static enum taken take_file(struct follow *f, const char *path, bool patient)
{
    airy_stack *stack = NULL;
    airy_stack_info info = {.frames = 1};
    const struct opt_list one = {.items = (const char **)&path, .count = 1};
    airy_status status = stack_open(&stack, &one, &f->job->params->raw);
    enum taken taken = TAKEN;
    if (status == AIRY_OK)
        status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK && !fits(f, &info)) {
        airy_stack_destroy(&stack);
        return fail(f, tool_fail(f->job->common, "%s has other frames than those before it", path));
    }
    if (status == AIRY_OK && patient) /* all of it, or nothing */
        for (size_t i = 0; i < info.frames && status == AIRY_OK; i++)
            status = row_of(f, f->first_frame + i) == SIZE_MAX
                         ? AIRY_OK
                         : airy_stack_read(stack, i, f->pixels, f->frame_bytes);
    if (status != AIRY_OK && patient) {
        airy_stack_destroy(&stack);
        return LATER;
    }
    const int kept = check_kept(f, path, info.frames);
    if (kept != AIRY_EXIT_OK) {
        airy_stack_destroy(&stack);
        return fail(f, kept);
    }
    const bool was_last = f->last;
    f->last = true;
    for (size_t i = 0; i < info.frames && taken == TAKEN; i++) {
        const size_t row = row_of(f, f->first_frame + i);
        if (row == SIZE_MAX)
            continue;
        if (status != AIRY_OK)
            taken = give_up(f, row, airy_last_error());
        else if (patient && info.frames == 1)
            taken = give(f, row, f->pixels, f->frame_bytes, false);
        else
            taken = take_frame(f, stack, &info, i, row);
    }
    f->last = was_last;
    airy_stack_destroy(&stack);
    if (taken == TAKEN) {
        f->first_frame += info.frames;
        note_number(f, path);
        snprintf(f->previous, sizeof(f->previous), "%s", path);
    }
    return taken;
}

static bool remember(struct follow *f, const char *path)
{
    char *copy = strdup(path);
    return copy && tsearch(copy, &f->files, compare_text);
}

static void free_seen(struct follow *f)
{
    for (size_t i = 0; i < f->seen_count; i++)
        free(f->seen[i].path);
    free(f->seen);
    f->seen = NULL;
    f->seen_count = 0;
}

/* Behind the last file that was taken; those that came before it since are too late. */
static size_t first_new(struct follow *f, char *const *paths, size_t count)
{
    size_t start = 0, late = 0;
    for (size_t i = 0; i < count; i++)
        if (tfind(paths[i], &f->files, compare_text))
            start = i + 1;
    for (size_t i = 0; i < start; i++)
        if (!tfind(paths[i], &f->files, compare_text) && ++late > f->late) {
            f->late = late;
            tool_say(f->job->common, "%s came after files behind it were taken: it is left out",
                     paths[i]);
        }
    return start;
}

/* A look at the files of a pattern: in order, as far as they are complete. */
static enum taken look_at_files(struct follow *f)
{
    char **paths = NULL;
    size_t count = 0, at = 0;
    const double begun = tool_now(), /* what came since may not be among the paths */
        patience = 4 * poll_of(f->job->params) > 5 ? 4 * poll_of(f->job->params) : 5;
    if (airy_stack_paths(&paths, &count, f->job->common->inputs.items,
                         f->job->common->inputs.count) != AIRY_OK)
        return TAKEN;
    const size_t start = first_new(f, paths, count);
    struct seen_file *seen = calloc(count - start + 1, sizeof(*seen));
    size_t seen_count = 0;
    bool in_order = seen != NULL;
    enum taken taken =
        seen ? TAKEN : fail(f, tool_fail(f->job->common, "out of memory for %zu files", count));
    for (size_t i = start; i < count && taken != FAILED && !tool_interrupted(); i++) {
        double known = 0;
        struct seen_file *now = &seen[seen_count];
        bool ready = look_at_file(now, find_seen(f, paths[i], &at), paths[i], begun, &known) ||
                     f->last;
        if (leaves_gap(f, paths[i]) && known < patience && !f->last)
            ready = false;
        in_order = in_order && ready;
        if (in_order) {
            taken = take_file(f, paths[i], known < GIVE_UP_AGE && !f->last);
            in_order = taken == TAKEN;
        }
        if (in_order && !remember(f, paths[i]))
            taken = fail(f, tool_fail(f->job->common, "out of memory for a path"));
        else if (!in_order && (now->path = strdup(paths[i])))
            seen_count++;
    }
    free_seen(f);
    f->seen = seen;
    f->seen_count = seen_count;
    airy_stack_paths_free(paths, count);
    return taken == FAILED ? FAILED : TAKEN;
}

/* A line on a terminal. */
static void show(struct follow *f, bool end)
{
    const struct common *common = f->job->common;
    const double now = tool_now();
    if (common->quiet || !isatty(STDERR_FILENO) || (!end && now - f->shown < 0.2))
        return;
    f->shown = now;
    if (end) {
        fputs("\r\033[K", stderr);
        return;
    }
    airy_live_info info;
    char of[32] = "";
    airy_live_get_info(f->live, &info);
    if (f->frames)
        snprintf(of, sizeof(of), " of %zu", f->frames);
    fprintf(stderr,
            "\r%llu%s frames  %.4g/s  latency %.3g ms (99 %%: %.3g ms)  waiting %.0f s \033[K",
            (unsigned long long)(info.done + info.resumed), of, (double)info.done / info.seconds,
            info.p50 * 1e3, info.p99 * 1e3, now - f->new_at);
    fflush(stderr);
}

/* Look until all frames are there, or no more come. Exit code. */
static int look(struct follow *f, bool pattern)
{
    const struct integrate_params *p = f->job->params;
    for (;;) {
        const double begun = tool_now();
        const size_t before = f->given;
        if ((pattern ? look_at_files(f) : look_at_stack(f)) == FAILED)
            return f->code;
        show(f, false);
        if (tool_interrupted() || f->last || (f->frames && f->given >= f->frames))
            return AIRY_EXIT_OK;
        f->last = f->idle > timeout_of(p);
        /* Opening long series must not take all the time. */
        const double took = tool_now() - begun;
        double rest = f->given > before ? 0 : took;
        rest = rest > poll_of(p) ? rest : poll_of(p);
        for (double end = tool_now() + rest; !f->last && !tool_interrupted() && tool_now() < end;) {
            nap(end - tool_now() < 0.1 ? (end > tool_now() ? end - tool_now() : 0) : 0.1);
            show(f, false);
        }
        const double passed = tool_now() - begun;
        f->idle += f->given > before ? 0 : passed < poll_of(p) + 1 ? passed : poll_of(p) + 1;
    }
}

/* Finish the run, unless it was stopped. Exit code. */
static int finish(struct follow *f, int code, airy_run_info *info)
{
    const struct common *common = f->job->common;
    const char *output = f->job->params->output;
    const bool stopped = tool_interrupted();
    airy_live_info live;
    airy_status status = AIRY_OK;
    airy_live_get_info(f->live, &live);
    if (code == AIRY_EXIT_OK && !stopped)
        status = airy_live_finish(f->live, &live);
    char sentence[1024];
    snprintf(sentence, sizeof(sentence), "%s", airy_last_error());
    airy_live_destroy(&f->live);
    *info = (airy_run_info){.frames = (size_t)(live.done + live.lost),
                            .bad = (size_t)(live.bad + live.lost),
                            .resumed = (size_t)live.resumed,
                            .batch = live.batch,
                            .slots = live.slots,
                            .host_bytes = live.host_bytes,
                            .device_bytes = live.device_bytes,
                            .stored_bytes = live.stored_bytes,
                            .decoded_bytes = f->frame_bytes * (live.done - live.bad),
                            .seconds = live.seconds};
    snprintf(info->first_error, sizeof(info->first_error), "%s", live.first_error);
    if (code != AIRY_EXIT_OK)
        return code;
    if (stopped)
        return tool_fail(common,
                         "stopped after %zu frames; the same command with --resume continues "
                         "%s.partial",
                         info->frames + info->resumed, output);
    if (status == AIRY_ERR_STOPPED)
        return tool_fail(common,
                         "%s, and nothing new for %g s; the same command with --resume continues "
                         "%s.partial",
                         sentence, timeout_of(f->job->params), output);
    if (status == AIRY_ERR_CORRUPT)
        return tool_fail(common,
                         "%s; the same command with --resume goes on when they are there, with "
                         "--on-error skip --resume without such frames",
                         sentence);
    if (status == AIRY_ERR_IO)
        return fail_file(f, sentence);
    if (status != AIRY_OK)
        return tool_failed_as(common, status, sentence);
    if (!common->json)
        tool_say(common,
                 "latency from frame to pattern: median %.3g ms, 99 %% %.3g ms, longest %.3g ms",
                 live.p50 * 1e3, live.p99 * 1e3, live.max * 1e3);
    /* Some are missing: exit code 3. One that came too late had been missed. */
    const size_t missing = count_missing(f), lost = missing > f->late ? missing : f->late;
    info->bad += lost;
    if (lost && !*info->first_error)
        snprintf(info->first_error, sizeof(info->first_error), "%zu file%s did not come%s", lost,
                 tool_s(lost), f->late ? ", or too late" : "");
    return AIRY_EXIT_OK;
}

/* The newest row of the run that is gone on with. */
static void remember_row(struct follow *f, const char *partial)
{
    const airy_run_params *run = &f->job->run;
    struct row_numbers *n = &f->proof.numbers;
    airy_watch *watch = NULL;
    airy_watch_info info;
    if (airy_watch_open(&watch, partial) == AIRY_OK &&
        airy_watch_get_info(watch, &info) == AIRY_OK && info.newest != SIZE_MAX) {
        f->proof.known = f->proof.row =
            airy_watch_number(watch, "total", info.newest, &n->total) == AIRY_OK &&
            airy_watch_number(watch, "max", info.newest, &n->max) == AIRY_OK &&
            airy_watch_number(watch, "invalid", info.newest, &n->invalid) == AIRY_OK &&
            airy_watch_number(watch, "saturated", info.newest, &n->saturated) == AIRY_OK;
        f->proof.frame = run->first + info.newest * run->step;
    }
    airy_watch_close(&watch);
}

static void remember_kept(struct follow *f)
{
    char partial[4300];
    struct stat about;
    snprintf(partial, sizeof(partial), "%s.partial", f->job->params->output);
    if (stat(partial, &about) != 0)
        return;
    if (!is_pattern(&f->job->common->inputs)) {
        remember_row(f, partial);
        return;
    }
    f->kept_at = about.st_mtim;
    f->kept = resume_status(partial, &f->kept_count);
}

static int run(struct follow *f, airy_run_info *info)
{
    const struct integration *job = f->job;
    const airy_live_params params = {
        .height = job->info.height,
        .width = job->info.width,
        .dtype = job->info.dtype,
        .codec = job->info.codec,
        .frames = f->frames,
        .run = job->run,
    };
    if (job->run.resume)
        remember_kept(f);
    const airy_status status = airy_live_create(&f->live, job->params->output,
                                                job->team.integrators, job->team.count, &params);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    const int code = look(f, is_pattern(&job->common->inputs));
    show(f, true);
    return finish(f, code, info);
}

int follow_run(struct integration *job, airy_run_info *info)
{
    struct follow f = {.job = job, .fd = -1, .frames = job->frames, .new_at = tool_now()};
    f.frame_bytes = job->info.height * job->info.width * airy_dtype_size(job->info.dtype);
    f.pixels = malloc(f.frame_bytes);
    const int code = f.pixels ? run(&f, info) : tool_fail(job->common, "out of memory for a frame");
    if (f.fd >= 0)
        close(f.fd);
    tdestroy(f.files, free);
    free_seen(&f);
    free(f.kept);
    free(f.places);
    free(f.have);
    free(f.pixels);
    free(f.chunk);
    return code;
}
