#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_THREADS = 256,
    PAGE = 4096,            /* alignment of reads past the page cache */
    DIRECT_PIECE = 4 << 20, /* of a file, in one such read */
    DIRECT_THREADS = 16     /* a disk wants several requests at a time */
};

struct team_run {
    const struct bench_team *team;
    atomic_size_t next;
    pthread_mutex_t lock;
    airy_status status;
    char sentence[1024];
};

struct team_thread {
    struct team_run *run;
    unsigned number;
    pthread_t id;
};

static void *team_work(void *user)
{
    const struct team_thread *thread = user;
    struct team_run *run = thread->run;
    airy_status status = AIRY_OK;
    while (status == AIRY_OK) {
        const size_t item = atomic_fetch_add(&run->next, 1);
        if (item >= run->team->count)
            break;
        status = tool_interrupted() ? AIRY_ERR_CANCELLED
                                    : run->team->work(run->team->user, thread->number, item);
    }
    if (status != AIRY_OK) {
        pthread_mutex_lock(&run->lock);
        if (run->status == AIRY_OK) {
            run->status = status;
            snprintf(run->sentence, sizeof(run->sentence), "%s", airy_last_error());
        }
        pthread_mutex_unlock(&run->lock);
        atomic_store(&run->next, run->team->count);
    }
    return NULL;
}

airy_status bench_team_run(const struct bench_team *team)
{
    struct team_run run = {.team = team, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct team_thread threads[MAX_THREADS];
    unsigned started = 1;
    threads[0] = (struct team_thread){.run = &run};
    for (; started < team->threads && started < MAX_THREADS; started++) {
        threads[started] = (struct team_thread){.run = &run, .number = started};
        if (pthread_create(&threads[started].id, NULL, team_work, &threads[started]) != 0)
            break;
    }
    team_work(&threads[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(threads[i].id, NULL);
    pthread_mutex_destroy(&run.lock);
    return run.status == AIRY_OK ? AIRY_OK : bench_say(team->bench, run.status, run.sentence);
}

static bool add_file(struct bench_files *f, const char *path, size_t *owner)
{
    for (size_t i = f->count; i-- > 0;)
        if (f->files[i].path == path) { /* one string a file and stack */
            *owner = i;
            return true;
        }
    struct bench_file *more = realloc(f->files, (f->count + 1) * sizeof(*more));
    struct stat about;
    if (!more)
        return false;
    f->files = more;
    struct bench_file *file = &more[f->count];
    file->path = path;
    file->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0)
        return false;
    *owner = f->count++;
    file->size = fstat(file->fd, &about) == 0 ? (uint64_t)about.st_size : 0;
    return true;
}

airy_status bench_files_open(struct bench_files *f, struct bench *bench, unsigned threads)
{
    *f = (struct bench_files){.bench = bench,
                              .threads = threads < MAX_THREADS ? threads : MAX_THREADS,
                              .frames = bench->stack_info.frames,
                              .passes = 1};
    f->places = calloc(f->frames, sizeof(*f->places));
    f->owner = calloc(f->frames, sizeof(*f->owner));
    f->buffers = calloc(f->threads, sizeof(*f->buffers));
    if (!f->places || !f->owner || !f->buffers)
        return AIRY_ERR_MEMORY;
    for (size_t i = 0; i < f->frames; i++) {
        const airy_status status = airy_stack_get_place(bench->stack, i, &f->places[i]);
        if (status != AIRY_OK)
            return status;
        if (!f->places[i].path || f->places[i].size == 0 ||
            !add_file(f, f->places[i].path, &f->owner[i]))
            return AIRY_ERR_UNSUPPORTED;
        const size_t size = f->places[i].size;
        f->largest = size > f->largest ? size : f->largest;
        f->stored += (double)size / (double)f->frames;
    }
    const size_t room = f->largest + PAGE;
    for (unsigned i = 0; i < f->threads; i++) {
        if (posix_memalign((void **)&f->buffers[i], PAGE, room) != 0)
            return AIRY_ERR_MEMORY;
        memset(f->buffers[i], 0, room);
    }
    return AIRY_OK;
}

void bench_files_close(struct bench_files *f)
{
    for (unsigned i = 0; f->buffers && i < f->threads; i++)
        free(f->buffers[i]);
    for (size_t i = 0; i < f->count; i++)
        close(f->files[i].fd);
    free(f->buffers);
    free(f->files);
    free(f->places);
    free(f->owner);
    *f = (struct bench_files){0};
}

airy_status bench_files_read_frame(void *user, unsigned thread, size_t frame)
{
    const struct bench_files *f = user;
    frame %= f->frames;
    const airy_stack_place *place = &f->places[frame];
    size_t done = 0;
    while (done < place->size) {
        const ssize_t n = pread(f->files[f->owner[frame]].fd, f->buffers[thread] + done,
                                place->size - done, (off_t)(place->offset + done));
        if (n == 0 || (n < 0 && errno != EINTR))
            return bench_say(f->bench, AIRY_ERR_IO,
                             n ? strerror(errno) : "the file became shorter");
        done += n > 0 ? (size_t)n : 0;
    }
    return AIRY_OK;
}

airy_status bench_files_read(void *user)
{
    const struct bench_files *f = user;
    const struct bench_team team = {.bench = f->bench,
                                    .threads = f->threads,
                                    .count = f->frames * f->passes,
                                    .work = bench_files_read_frame,
                                    .user = user};
    return bench_team_run(&team);
}

double bench_files_resident(const struct bench_files *f)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *in = malloc(f->largest / page + 2);
    double pages = 0, resident = 0;
    bool known = in != NULL;
    for (size_t i = 0; i < f->frames && known; i++) {
        const airy_stack_place *place = &f->places[i];
        const uint64_t first = place->offset / page,
                       behind = (place->offset + place->size - 1) / page;
        const size_t n = (size_t)(behind - first) + 1;
        void *map = mmap(NULL, n * page, PROT_READ, MAP_SHARED, f->files[f->owner[i]].fd,
                         (off_t)(first * page));
        known = map != MAP_FAILED && mincore(map, n * page, in) == 0;
        for (size_t k = 0; k < n && known; k++)
            resident += in[k] & 1;
        pages += (double)n;
        if (map != MAP_FAILED)
            munmap(map, n * page);
    }
    free(in);
    return known && pages > 0 ? resident / pages : (double)NAN;
}

void bench_files_evict(const struct bench_files *f)
{
    for (size_t i = 0; i < f->count; i++) {
        (void)fsync(f->files[i].fd); /* pages that are not on the disk yet do not go */
        (void)posix_fadvise(f->files[i].fd, 0, 0, POSIX_FADV_DONTNEED);
    }
}

airy_status bench_files_prepare_cold(void *user)
{
    bench_files_evict(user);
    return AIRY_OK;
}

/* Bytes/s of the fastest of loop's calls: a limit is what was once reached. */
static airy_status rate_of(const struct bench *bench, const struct bench_loop *loop, double bytes,
                           double *rate)
{
    struct timing *t = malloc(sizeof(*t));
    if (!t)
        return AIRY_ERR_MEMORY;
    const airy_status status = bench_loop(bench, t, loop);
    if (status == AIRY_OK)
        *rate = bytes / bench_percentile(t, 0);
    free(t);
    return status;
}

static double limit_seconds(const struct bench *bench)
{
    return fmin(bench_seconds(bench), 0.5);
}

struct copy_limit {
    const struct bench_files *files;
    char *from;
    size_t pieces; /* of `largest` bytes */
};

static airy_status copy_piece(void *user, unsigned thread, size_t item)
{
    const struct copy_limit *copy = user;
    const size_t size = copy->files->largest;
    memcpy(copy->files->buffers[thread], copy->from + item % copy->pieces * size, size);
    return AIRY_OK;
}

static airy_status copy_all(void *user)
{
    const struct copy_limit *copy = user;
    const struct bench_team team = {.bench = copy->files->bench,
                                    .threads = copy->files->threads,
                                    .count = copy->pieces,
                                    .work = copy_piece,
                                    .user = user};
    return bench_team_run(&team);
}

airy_status bench_limit_memcpy(const struct bench_files *f, double *rate)
{
    enum { SPAN = 512 << 20 }; /* no more than the stack, of which caches may hold as much */
    const size_t most = SPAN / f->largest + 1;
    struct copy_limit copy = {.files = f, .pieces = f->frames < most ? f->frames : most};
    copy.from = malloc(copy.pieces * f->largest);
    if (!copy.from)
        return AIRY_ERR_MEMORY;
    memset(copy.from, 1, copy.pieces * f->largest);
    const struct bench_loop loop = {
        .run = copy_all, .user = &copy, .seconds = limit_seconds(f->bench), .least = 3};
    const airy_status status = rate_of(f->bench, &loop, (double)(copy.pieces * f->largest), rate);
    free(copy.from);
    return status;
}

struct direct_limit {
    const struct bench_files *files;
    int *fds;        /* [files->count] */
    char *buffers;   /* [DIRECT_THREADS][DIRECT_PIECE], page-aligned */
    size_t *pieces;  /* [files->count] */
    atomic_bool bad; /* the file system has no such reads */
};

static airy_status direct_piece(void *user, unsigned thread, size_t item)
{
    struct direct_limit *d = user;
    size_t file = 0;
    while (item >= d->pieces[file])
        item -= d->pieces[file++];
    if (atomic_load(&d->bad))
        return AIRY_OK;
    const ssize_t n = pread(d->fds[file], d->buffers + (size_t)thread * DIRECT_PIECE, DIRECT_PIECE,
                            (off_t)((uint64_t)item * DIRECT_PIECE));
    if (n < 0)
        atomic_store(&d->bad, true);
    return AIRY_OK;
}

static airy_status direct_all(void *user)
{
    struct direct_limit *d = user;
    struct bench_team team = {
        .bench = d->files->bench, .threads = DIRECT_THREADS, .work = direct_piece, .user = d};
    for (size_t i = 0; i < d->files->count; i++)
        team.count += d->pieces[i];
    return bench_team_run(&team);
}

static airy_status direct_prepare(void *user)
{
    bench_files_evict(((const struct direct_limit *)user)->files);
    return AIRY_OK;
}

airy_status bench_limit_direct(const struct bench_files *f, double *rate)
{
    struct direct_limit d = {.files = f};
    double bytes = 0;
    airy_status status = AIRY_OK;
    *rate = NAN;
    d.fds = calloc(f->count, sizeof(*d.fds));
    d.pieces = calloc(f->count, sizeof(*d.pieces));
    for (size_t i = 0; d.fds && i < f->count; i++)
        d.fds[i] = -1;
    bool there = d.fds && d.pieces &&
                 posix_memalign((void **)&d.buffers, PAGE, (size_t)DIRECT_THREADS * DIRECT_PIECE) ==
                     0;
    for (size_t i = 0; there && i < f->count; i++) {
        d.fds[i] = open(f->files[i].path, O_RDONLY | O_CLOEXEC | O_DIRECT);
        there = d.fds[i] >= 0;
        d.pieces[i] = (size_t)((f->files[i].size + DIRECT_PIECE - 1) / DIRECT_PIECE);
        bytes += (double)f->files[i].size;
    }
    const struct bench_loop loop = {.prepare = direct_prepare,
                                    .run = direct_all,
                                    .user = &d,
                                    .seconds = limit_seconds(f->bench),
                                    .least = 3};
    if (there)
        status = rate_of(f->bench, &loop, bytes, rate);
    if (atomic_load(&d.bad))
        *rate = NAN;
    for (size_t i = 0; d.fds && i < f->count; i++)
        if (d.fds[i] >= 0)
            close(d.fds[i]);
    free(d.buffers);
    free(d.fds);
    free(d.pieces);
    return status;
}

struct zeros_limit {
    struct bench *bench;
    char path[4096];
    uint64_t bytes;
};

static airy_status write_zeros(void *user)
{
    const struct zeros_limit *z = user;
    static const char zeros[1 << 20];
    const int fd = open(z->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    uint64_t left = z->bytes;
    while (fd >= 0 && left > 0) {
        const ssize_t n = write(fd, zeros, left < sizeof(zeros) ? (size_t)left : sizeof(zeros));
        if (n <= 0)
            break;
        left -= (uint64_t)n;
    }
    const bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return synced && left == 0 ? AIRY_OK : bench_say(z->bench, AIRY_ERR_IO, strerror(errno));
}

airy_status bench_limit_zeros(struct bench *bench, uint64_t bytes, double *rate)
{
    struct zeros_limit z = {.bench = bench, .bytes = bytes};
    bench_name(z.path, bench, "zeros");
    const struct bench_loop loop = {
        .run = write_zeros, .user = &z, .seconds = limit_seconds(bench), .least = 3};
    const airy_status status = rate_of(bench, &loop, (double)bytes, rate);
    unlink(z.path);
    return status;
}
