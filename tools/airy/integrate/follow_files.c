/*
 * Each file of a pattern is taken, in the order of their names, when it no longer changes. A name
 * whose number leaves a gap waits a while for those before it.
 */
#include "integrate/follow.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* s */
#define SETTLED_AGE 2.0  /* a file that has not changed for so long is complete */
#define GIVE_UP_AGE 10.0 /* one that cannot be read for so long never will be */

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
    return *f->files.previous && number_of(f->files.previous, &a, &n) && number_of(path, &b, &m) &&
           n == m && strncmp(f->files.previous, path, n) == 0 &&
           b > a + (f->files.stride ? f->files.stride : 1);
}

/* Numbers that have no file, of the names so far. */
static size_t count_missing(const struct follow *f)
{
    const uint64_t places =
        f->files.stride ? (f->files.last_number - f->files.first_number) / f->files.stride + 1 : 0;
    return f->files.missing +
           (places > f->files.numbered ? (size_t)(places - f->files.numbered) : 0);
}

/* Say which numbers are passed over; a series of every tenth number only once. */
static void say_missing(const struct follow *f, const char *path, size_t before, uint64_t number)
{
    const size_t digits = strspn(path + before, "0123456789");
    const char *suffix = path + before + digits;
    const int width = path[before] == '0' ? (int)digits : 1;
    const uint64_t from = f->files.last_number + (f->files.stride ? f->files.stride : 1),
                   to = number - (f->files.stride ? f->files.stride : 1);
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
    if (f->files.numbered && number_of(f->files.previous, &last, &n) && numbered && n == before &&
        strncmp(f->files.previous, path, n) == 0 && number > last) {
        say_missing(f, path, before, number);
        f->files.stride = f->files.stride && f->files.stride < number - last ? f->files.stride
                                                                             : number - last;
        f->files.last_number = number;
        f->files.numbered++;
        return;
    }
    f->files.missing = count_missing(f);
    f->files.first_number = f->files.last_number = number;
    f->files.stride = 0;
    f->files.numbered = numbered;
}

/* What was known of a file at the last look; at: goes on from there, as names are in order. */
static const struct seen_file *find_seen(const struct follow *f, const char *path, size_t *at)
{
    for (size_t i = 0; i < f->files.seen_count; i++) {
        const size_t k = (*at + i) % f->files.seen_count;
        if (strcmp(f->files.seen[k].path, path) == 0) {
            *at = k + 1;
            return &f->files.seen[k];
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

/* The file came or changed after the rows that are kept were written: they are another file's. */
static bool is_later(const struct follow *f, const char *path)
{
    const struct timespec *kept = &f->files.kept_at;
    struct stat about;
    return stat(path, &about) == 0 &&
           (about.st_ctim.tv_sec > kept->tv_sec ||
            (about.st_ctim.tv_sec == kept->tv_sec && about.st_ctim.tv_nsec > kept->tv_nsec));
}

/* Its frames give the good rows that they gave. One that cannot be read any more is left as it is. */
static enum taken check_kept(struct follow *f, const airy_stack *stack, const char *path,
                             size_t frames)
{
    bool same = true;
    for (size_t i = 0; f->kept && i < frames; i++) {
        const size_t row = follow_row(f, f->files.first_frame + i);
        if (row == SIZE_MAX || !kept_rows_has(f->kept, row))
            continue;
        if (is_later(f, path))
            return follow_fail(
                f, tool_fail(f->job->common,
                             "%s came or changed after row %zu was written: rows are no longer "
                             "those of the files; --force without --resume starts anew",
                             path, row));
        if (!stack || airy_stack_read(stack, i, f->pixels, f->frame_bytes) != AIRY_OK)
            continue;
        const airy_status status = kept_rows_compare(f->kept, row, f->pixels, &same);
        if (status == AIRY_ERR_CANCELLED)
            return LATER;
        if (status != AIRY_OK)
            return follow_fail(f, tool_failed(f->job->common, status));
        if (!same)
            return follow_fail(
                f, tool_fail(f->job->common,
                             "frame %zu of %s is another one than when row %zu was made of it: the "
                             "file was replaced; the rows so far are in %s.partial, --force "
                             "without --resume starts anew",
                             i, path, row, f->job->params->output));
    }
    return TAKEN;
}

/* All of a file, or nothing: the last of its frames is in f->pixels then. */
static airy_status read_rows(struct follow *f, const airy_stack *stack, size_t frames)
{
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < frames && status == AIRY_OK; i++)
        if (follow_row(f, f->files.first_frame + i) != SIZE_MAX)
            status = airy_stack_read(stack, i, f->pixels, f->frame_bytes);
    return status;
}

/* read: the only one is in f->pixels; status: of the file, whose error is the last one. */
static enum taken give_rows(struct follow *f, const airy_stack *stack, const airy_stack_info *info,
                            airy_status status, bool read)
{
    const bool was_last = f->last;
    enum taken taken = TAKEN;
    f->last = true;
    for (size_t i = 0; i < info->frames && taken == TAKEN; i++) {
        const size_t row = follow_row(f, f->files.first_frame + i);
        if (row == SIZE_MAX)
            continue;
        if (status != AIRY_OK)
            taken = follow_give_up(f, row, airy_last_error());
        else if (read)
            taken = follow_give(f, row, f->pixels, f->frame_bytes, false);
        else
            taken = follow_take(f, stack, info, i, row);
    }
    f->last = was_last;
    return taken;
}

/* A file that states another geometry than the first one. */
static enum taken check_geometry(struct follow *f, airy_stack *stack)
{
    const struct integration *job = f->job;
    const int code = geometry_hold(stack, job->stack, &job->params->geometry, job->replayed);
    return code == AIRY_EXIT_OK ? TAKEN : follow_fail(f, code);
}

/* All frames of a file that is complete; patient: LATER where one cannot be read. */
static enum taken take_file(struct follow *f, const char *path, bool patient)
{
    airy_stack *stack = NULL;
    airy_stack_info info = {.frames = 1};
    const struct opt_list one = {.items = (const char **)&path, .count = 1};
    enum taken taken = TAKEN;
    airy_status status = stack_open(&stack, &one, &f->job->params->raw);
    if (status == AIRY_OK)
        status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK && !follow_fits(f, &info))
        taken = follow_fail(
            f, tool_fail(f->job->common, "%s has other frames than those before it", path));
    else if (status == AIRY_OK)
        taken = check_geometry(f, stack);
    if (taken == TAKEN && status == AIRY_OK && patient)
        status = read_rows(f, stack, info.frames);
    if (status != AIRY_OK && patient)
        taken = LATER;
    if (taken == TAKEN)
        taken = check_kept(f, stack, path, info.frames);
    if (taken == TAKEN)
        taken = give_rows(f, stack, &info, status, patient && info.frames == 1);
    follow_close(f);
    airy_stack_destroy(&stack);
    if (taken == TAKEN) {
        f->files.first_frame += info.frames;
        note_number(f, path);
        snprintf(f->files.previous, sizeof(f->files.previous), "%s", path);
    }
    return taken;
}

static bool remember(struct follow *f, const char *path)
{
    char *copy = strdup(path);
    return copy && tsearch(copy, &f->files.taken, compare_text);
}

static void free_seen(struct follow_files *s)
{
    for (size_t i = 0; i < s->seen_count; i++)
        free(s->seen[i].path);
    free(s->seen);
    s->seen = NULL;
    s->seen_count = 0;
}

/* Behind the last file that was taken; those that came before it since are too late. */
static size_t first_new(struct follow *f, char *const *paths, size_t count)
{
    size_t start = 0, late = 0;
    for (size_t i = 0; i < count; i++)
        if (tfind(paths[i], &f->files.taken, compare_text))
            start = i + 1;
    for (size_t i = 0; i < start; i++)
        if (!tfind(paths[i], &f->files.taken, compare_text) && ++late > f->files.late) {
            f->files.late = late;
            tool_say(f->job->common, "%s came after files behind it were taken: it is left out",
                     paths[i]);
        }
    return start;
}

/*
 * Whether a file is complete at the look that began `now`, and none before it is still to come;
 * *known: for how long it has been so, s. seen: how it is; at: as find_seen.
 */
static bool is_ready(const struct follow *f, const char *path, double now, struct seen_file *seen,
                     size_t *at, double *known)
{
    const double patience = 4 * f->poll > 5 ? 4 * f->poll : 5;
    *known = 0;
    const bool settled = look_at_file(seen, find_seen(f, path, at), path, now, known);
    return f->last || (settled && !(leaves_gap(f, path) && *known < patience));
}

/* In order, as far as they are complete; the others are noted in seen. */
static enum taken take_files(struct follow *f, char *const *paths, size_t count, double now,
                             struct seen_file *seen, size_t *seen_count)
{
    bool in_order = true;
    size_t at = 0;
    for (size_t i = first_new(f, paths, count); i < count && !tool_interrupted(); i++) {
        double known;
        struct seen_file *file = &seen[*seen_count];
        in_order = is_ready(f, paths[i], now, file, &at, &known) && in_order;
        if (in_order) {
            const enum taken taken = take_file(f, paths[i], known < GIVE_UP_AGE && !f->last);
            if (taken == FAILED)
                return FAILED;
            in_order = taken == TAKEN;
        }
        if (in_order && !remember(f, paths[i]))
            return follow_fail(f, tool_fail(f->job->common, "out of memory for a path"));
        if (!in_order && (file->path = strdup(paths[i])))
            ++*seen_count;
    }
    return TAKEN;
}

enum taken follow_files_look(struct follow *f)
{
    char **paths = NULL;
    size_t count = 0, seen_count = 0;
    const double now = tool_now(); /* what came since may not be among the paths */
    if (airy_stack_paths(&paths, &count, f->job->common->inputs.items,
                         f->job->common->inputs.count) != AIRY_OK)
        return TAKEN;
    struct seen_file *seen = calloc(count + 1, sizeof(*seen));
    const enum taken taken =
        seen ? take_files(f, paths, count, now, seen, &seen_count)
             : follow_fail(f, tool_fail(f->job->common, "out of memory for %zu files", count));
    free_seen(&f->files);
    f->files.seen = seen;
    f->files.seen_count = seen_count;
    airy_stack_paths_free(paths, count);
    return taken;
}

void follow_files_resume(struct follow *f, const char *partial)
{
    struct stat about;
    if (stat(partial, &about) != 0)
        return;
    f->files.kept_at = about.st_mtim;
    f->kept = kept_rows_open(f->job, partial);
}

size_t follow_files_lost(const struct follow *f)
{
    const size_t missing = count_missing(f);
    return missing > f->files.late ? missing : f->files.late;
}

void follow_files_free(struct follow_files *s)
{
    tdestroy(s->taken, free);
    free_seen(s);
}
