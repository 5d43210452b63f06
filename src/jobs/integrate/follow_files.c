/*
 * Each file of a pattern is taken, in the order of their names, when it no longer changes. A name
 * whose number leaves a gap waits a while for those before it.
 */
#include "jobs/integrate/follow_look.h"

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
    return end > start && *number < UINT64_MAX; /* which stands for larger ones, too */
}

/* Names of a series, and one or more between them has not come. */
static bool leaves_gap(const struct airy_follow *f, const char *path)
{
    uint64_t a, b;
    size_t n, m;
    return *f->files.previous && number_of(f->files.previous, &a, &n) && number_of(path, &b, &m) &&
           n == m && strncmp(f->files.previous, path, n) == 0 &&
           b > a + (f->files.stride ? f->files.stride : 1);
}

/* Numbers that have no file, of the names so far. */
static size_t count_missing(const struct airy_follow *f)
{
    const uint64_t places =
        f->files.stride ? (f->files.last_number - f->files.first_number) / f->files.stride + 1 : 0;
    return f->files.missing +
           (places > f->files.numbered ? (size_t)(places - f->files.numbered) : 0);
}

/* Say which numbers are passed over; a series of every tenth number only once. */
static void say_missing(const struct airy_follow *f, const char *path, size_t before,
                        uint64_t number)
{
    const size_t digits = strspn(path + before, "0123456789");
    const char *suffix = path + before + digits;
    const int width = path[before] == '0' ? (int)digits : 1;
    const uint64_t from = f->files.last_number + (f->files.stride ? f->files.stride : 1),
                   to = number - (f->files.stride ? f->files.stride : 1);
    if (from > to)
        return;
    if (from == to)
        airy_job_message(f->it->job, AIRY_LOG_WARN,
                         "%.*s%0*llu%s has not come: there is no row for it", (int)before, path,
                         width, (unsigned long long)from, suffix);
    else
        airy_job_message(f->it->job, AIRY_LOG_WARN,
                         "%.*s%0*llu%s to %0*llu have not come: there are no rows for them",
                         (int)before, path, width, (unsigned long long)from, suffix, width,
                         (unsigned long long)to);
}

/* A file is taken, behind the one before. */
static void note_number(struct airy_follow *f, const char *path)
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
static const struct airy_seen_file *find_seen(const struct airy_follow *f, const char *path,
                                              size_t *at)
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
static bool look_at_file(struct airy_seen_file *seen, const struct airy_seen_file *before,
                         const char *path, double now, double *known)
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
static bool is_later(const struct airy_follow *f, const char *path)
{
    const struct timespec *kept = &f->files.kept_at;
    struct stat about;
    return stat(path, &about) == 0 &&
           (about.st_ctim.tv_sec > kept->tv_sec ||
            (about.st_ctim.tv_sec == kept->tv_sec && about.st_ctim.tv_nsec > kept->tv_nsec));
}

static enum airy_taken fail_later(struct airy_follow *f, const char *path, size_t row)
{
    (void)airy_fail(AIRY_ERR_FORMAT,
                    "%s came or changed after row %zu was written: rows are no longer those of the "
                    "files",
                    path, row);
    return airy_follow_fail_other(f, path);
}

/* Its frames give the good rows that they gave. One that cannot be read any more is left as it is. */
static enum airy_taken check_kept(struct airy_follow *f, const airy_stack *stack, const char *path,
                                  size_t frames)
{
    bool same = true;
    for (size_t i = 0; f->kept && i < frames; i++) {
        const size_t row = airy_follow_row(f, f->files.first_frame + i);
        if (row == SIZE_MAX || !airy_kept_rows_has(f->kept, row))
            continue;
        if (is_later(f, path))
            return fail_later(f, path, row);
        if (!stack || airy_stack_read(stack, i, f->pixels, f->frame_bytes) != AIRY_OK)
            continue;
        const airy_status status = airy_kept_rows_compare(f->kept, row, f->pixels, &same);
        if (status == AIRY_ERR_CANCELLED)
            return LATER;
        if (status != AIRY_OK)
            return airy_follow_fail(f, status);
        if (!same) {
            (void)airy_fail(AIRY_ERR_FORMAT,
                            "frame %zu of %s is another one than when row %zu was made of it: the "
                            "file was replaced",
                            i, path, row);
            return airy_follow_fail_other(f, path);
        }
    }
    return TAKEN;
}

/* All of a file, or nothing: the last of its frames is in f->pixels then. */
static airy_status read_rows(struct airy_follow *f, const airy_stack *stack, size_t frames)
{
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < frames && status == AIRY_OK; i++)
        if (airy_follow_row(f, f->files.first_frame + i) != SIZE_MAX)
            status = airy_stack_read(stack, i, f->pixels, f->frame_bytes);
    return status;
}

/* read: the only one is in f->pixels; status: of the file, whose error is the last one. */
static enum airy_taken give_rows(struct airy_follow *f, const airy_stack *stack,
                                 const airy_stack_info *info, airy_status status, bool read)
{
    const bool was_last = f->last;
    enum airy_taken taken = TAKEN;
    f->last = true;
    for (size_t i = 0; i < info->frames && taken == TAKEN; i++) {
        const size_t row = airy_follow_row(f, f->files.first_frame + i);
        if (row == SIZE_MAX)
            continue;
        if (status != AIRY_OK)
            taken = airy_follow_give_up(f, row, airy_last_error());
        else if (read)
            taken = airy_follow_give(f, row, f->pixels, f->frame_bytes, false);
        else
            taken = airy_follow_take(f, stack, info, i, row);
    }
    f->last = was_last;
    return taken;
}

/* A file that states another geometry than the first one. */
static enum airy_taken check_geometry(struct airy_follow *f, airy_stack *stack)
{
    const struct airy_integration *it = f->it;
    const airy_geometry_params given =
        airy_job_geometry_params(it->job, &it->v->geometry, airy_integration_name(it));
    if (it->v->is_replayed && !airy_geometry_is_given(&given)) /* nothing is taken from the files */
        return TAKEN;
    const airy_status status = airy_geometry_hold(stack, it->stack, &given);
    return status == AIRY_OK ? TAKEN : airy_follow_fail(f, status);
}

static enum airy_taken fail_shape(struct airy_follow *f, const char *path)
{
    return airy_follow_fail(
        f, airy_about(AIRY_SUBJECT_FILE, path,
                      airy_fail(AIRY_ERR_SHAPE, "%s has other frames than those before it", path)));
}

/* All frames of a file that is complete; patient: LATER where one cannot be read. */
static enum airy_taken take_file(struct airy_follow *f, char *path, bool patient)
{
    airy_stack *stack = NULL;
    airy_stack_info info = {.frames = 1};
    struct airy_stack_values one = f->it->v->stack;
    one.paths = (struct airy_job_list){.items = &path, .count = 1};
    enum airy_taken taken = TAKEN;
    airy_status status = airy_job_open_stack(f->it->job, &stack, &one);
    if (status == AIRY_OK)
        status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK && !airy_follow_fits(f, &info))
        taken = fail_shape(f, path);
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
    airy_follow_close(f);
    airy_stack_destroy(&stack);
    if (taken == TAKEN) {
        f->files.first_frame += info.frames;
        note_number(f, path);
        snprintf(f->files.previous, sizeof(f->files.previous), "%s", path);
    }
    return taken;
}

static bool remember(struct airy_follow *f, const char *path)
{
    char *copy = strdup(path);
    return copy && tsearch(copy, &f->files.taken, compare_text);
}

static void free_seen(struct airy_follow_files *s)
{
    for (size_t i = 0; i < s->seen_count; i++)
        free(s->seen[i].path);
    free(s->seen);
    s->seen = NULL;
    s->seen_count = 0;
}

/* Behind the last file that was taken; those that came before it since are too late. */
static size_t first_new(struct airy_follow *f, char *const *paths, size_t count)
{
    size_t start = 0, late = 0;
    for (size_t i = 0; i < count; i++)
        if (tfind(paths[i], &f->files.taken, compare_text))
            start = i + 1;
    for (size_t i = 0; i < start; i++)
        if (!tfind(paths[i], &f->files.taken, compare_text) && ++late > f->files.late) {
            f->files.late = late;
            airy_job_message(f->it->job, AIRY_LOG_WARN,
                             "%s came after files behind it were taken: it is left out", paths[i]);
        }
    return start;
}

/*
 * Whether a file is complete at the look that began `now`, and none before it is still to come;
 * *known: for how long it has been so, s. seen: how it is; at: as find_seen.
 */
static bool is_ready(const struct airy_follow *f, const char *path, double now,
                     struct airy_seen_file *seen, size_t *at, double *known)
{
    const double patience = 4 * f->poll > 5 ? 4 * f->poll : 5;
    *known = 0;
    const bool settled = look_at_file(seen, find_seen(f, path, at), path, now, known);
    return f->last || (settled && !(leaves_gap(f, path) && *known < patience));
}

/* In order, as far as they are complete; the others are noted in seen. */
static enum airy_taken take_files(struct airy_follow *f, char *const *paths, size_t count,
                                  double now, struct airy_seen_file *seen, size_t *seen_count)
{
    bool in_order = true;
    size_t at = 0;
    for (size_t i = first_new(f, paths, count); i < count && airy_follow_goes_on(f); i++) {
        double known;
        struct airy_seen_file *file = &seen[*seen_count];
        in_order = is_ready(f, paths[i], now, file, &at, &known) && in_order;
        if (in_order) {
            const enum airy_taken taken = take_file(f, paths[i], known < GIVE_UP_AGE && !f->last);
            if (taken == FAILED)
                return FAILED;
            in_order = taken == TAKEN;
        }
        if (in_order && !remember(f, paths[i]))
            return airy_follow_fail(f, airy_fail(AIRY_ERR_MEMORY, "out of memory for a path"));
        if (!in_order && (file->path = strdup(paths[i])))
            ++*seen_count;
    }
    return TAKEN;
}

enum airy_taken airy_follow_files_look(struct airy_follow *f)
{
    char **paths = NULL;
    size_t count = 0, seen_count = 0;
    const double now = airy_follow_now(); /* what came since may not be among the paths */
    if (airy_stack_paths(&paths, &count, (const char *const *)f->it->v->stack.paths.items,
                         f->it->v->stack.paths.count) != AIRY_OK)
        return TAKEN;
    struct airy_seen_file *seen = calloc(count + 1, sizeof(*seen));
    const enum airy_taken taken =
        seen
            ? take_files(f, paths, count, now, seen, &seen_count)
            : airy_follow_fail(f, airy_fail(AIRY_ERR_MEMORY, "out of memory for %zu files", count));
    free_seen(&f->files);
    f->files.seen = seen;
    f->files.seen_count = seen_count;
    airy_stack_paths_free(paths, count);
    return taken;
}

airy_status airy_follow_files_resume(struct airy_follow *f)
{
    struct stat about;
    if (stat(f->partial, &about) != 0)
        return AIRY_OK;
    f->files.kept_at = about.st_mtim;
    return airy_kept_rows_open(&f->kept, f->it, f->partial);
}

size_t airy_follow_files_lost(const struct airy_follow *f)
{
    const size_t missing = count_missing(f);
    return missing > f->files.late ? missing : f->files.late;
}

void airy_follow_files_free(struct airy_follow_files *s)
{
    tdestroy(s->taken, free);
    free_seen(s);
}
