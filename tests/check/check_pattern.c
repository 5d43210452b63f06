/*
 * The integrated file: rows from several threads, killed and resumed, shared and per-frame
 * normalizations, read back by libhdf5.
 */
#include "check_stack.h"

#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/result/file.h"
#include "io/file/plain_file.h"

enum { FRAMES = 40, BINS = 37, THREADS = 4, INVALID_ROW = 23, BAD_ROW = 11 };

struct pattern_set {
    double radial[BINS], monitor[FRAMES];
    uint64_t index[FRAMES];
    struct airy_pattern_spec spec;
};

static void make_spec(struct pattern_set *set, bool errors)
{
    for (int i = 0; i < BINS; i++)
        set->radial[i] = 0.1 + 0.01 * i;
    for (int i = 0; i < FRAMES; i++) {
        set->index[i] = 100 + 3 * (uint64_t)i;
        set->monitor[i] = 1.0 + 0.125 * i;
    }
    set->spec = (struct airy_pattern_spec){.frames = FRAMES,
                                           .bins = BINS,
                                           .radial = set->radial,
                                           .unit = AIRY_UNIT_Q_NM,
                                           .errors = errors,
                                           .index = set->index,
                                           .configuration = "{\"poni\": \"x\"}",
                                           .fingerprint = "value dist 0.1\n"};
}

struct row_data {
    float intensity[BINS], std[BINS], sem[BINS];
    double sums[AIRY_SUM_PLANES * BINS];
    struct airy_pattern_row row;
};

/* What row i holds: every value names its row, plane and bin. */
static void make_row(struct row_data *d, size_t i, bool invalid, bool bad)
{
    for (int b = 0; b < BINS; b++) {
        d->intensity[b] = (float)(1000 * i + (size_t)b);
        d->std[b] = d->intensity[b] + 0.25f;
        d->sem[b] = d->intensity[b] + 0.5f;
    }
    for (int plane = 0; plane < AIRY_SUM_PLANES; plane++)
        for (int b = 0; b < BINS; b++)
            d->sums[plane * BINS + b] = plane < AIRY_SUM_NORMALIZATION
                                            ? 1e6 * plane + 1e3 * (double)i + b
                                            : 1e6 * plane + b + (invalid ? 0.5 : 0);
    d->row = (struct airy_pattern_row){.intensity = d->intensity,
                                       .std = d->std,
                                       .sem = d->sem,
                                       .signal = d->sums + AIRY_SUM_SIGNAL * BINS,
                                       .variance = d->sums + AIRY_SUM_VARIANCE * BINS,
                                       .norms = d->sums + AIRY_SUM_NORMALIZATION * BINS,
                                       .stats = {.total = 7.0 * (double)i,
                                                 .max = (double)i,
                                                 .invalid = invalid,
                                                 .saturated = (uint32_t)i % 3,
                                                 .status = bad ? 17 : AIRY_FRAME_GOOD},
                                       .message = bad ? "block 2: match leaves the block" : NULL};
}

static airy_status put_row(airy_pattern_file *file, size_t i, bool with_invalid)
{
    struct row_data d;
    make_row(&d, i, with_invalid && i == INVALID_ROW, i == BAD_ROW);
    return airy_pattern_file_write(file, i, &d.row);
}

static bool read_values(const char *path, const char *name, hid_t type, void *values, size_t count)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = file < 0 ? -1 : H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    const bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                      H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    if (file >= 0)
        H5Fclose(file);
    return good;
}

/* Rows that status calls done hold what was written; `done` is their number. */
static void check_contents(struct check *c, const char *path, bool errors, bool per_frame,
                           size_t done, bool with_invalid)
{
    int status[FRAMES];
    float intensity[FRAMES * BINS], sem[FRAMES * BINS];
    double norm[FRAMES * BINS], total[FRAMES], radial[BINS];
    if (!CHECK(c, read_values(path, "/entry/integrate/frame/status", H5T_NATIVE_INT, status,
                              FRAMES)) ||
        !CHECK(c, read_values(path, "/entry/integrate/result/intensity", H5T_NATIVE_FLOAT,
                              intensity, FRAMES * BINS)) ||
        !CHECK(c, read_values(path, "/entry/integrate/frame/total", H5T_NATIVE_DOUBLE, total,
                              FRAMES)) ||
        !CHECK(c, read_values(path, "/entry/integrate/result/radial", H5T_NATIVE_DOUBLE, radial,
                              BINS)) ||
        !CHECK(c, read_values(path, "/entry/integrate/merged/sum_normalization", H5T_NATIVE_DOUBLE,
                              norm, per_frame ? FRAMES * BINS : BINS)))
        return;
    if (errors)
        CHECK(c, read_values(path, "/entry/integrate/result/intensity_errors", H5T_NATIVE_FLOAT,
                             sem, FRAMES * BINS));
    size_t found = 0;
    CHECK(c, radial[3] == 0.1 + 0.01 * 3);
    for (size_t i = 0; i < FRAMES; i++) {
        if (status[i] == -1)
            continue;
        struct row_data d;
        make_row(&d, i, with_invalid && i == INVALID_ROW, i == BAD_ROW);
        found++;
        CHECK(c, status[i] == (i == BAD_ROW));
        CHECK(c, total[i] == d.row.stats.total);
        CHECK(c, memcmp(intensity + i * BINS, d.intensity, sizeof(d.intensity)) == 0);
        if (errors)
            CHECK(c, memcmp(sem + i * BINS, d.sem, sizeof(d.sem)) == 0);
        if (i != BAD_ROW)
            CHECK(c, memcmp(norm + (per_frame ? i * BINS : 0),
                            d.sums + AIRY_SUM_NORMALIZATION * BINS, BINS * sizeof(double)) == 0);
    }
    if (found != done)
        check_failed(c, __FILE__, __LINE__, "%zu rows are done, expected %zu", found, done);
}

static const char *tmp_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static const char *partial_of(struct check *c, const char *path)
{
    char *partial = check_alloc(c, strlen(path) + 9);
    sprintf(partial, "%s.partial", path);
    return partial;
}

struct worker {
    airy_pattern_file *file;
    size_t first;
    bool with_invalid;
    airy_status status;
};

static void *write_rows(void *arg)
{
    struct worker *w = arg;
    for (size_t i = w->first; i < FRAMES && w->status == AIRY_OK; i += THREADS)
        w->status = put_row(w->file, i, w->with_invalid);
    return NULL;
}

static void check_threads(struct check *c, bool errors, bool with_invalid)
{
    if (!check_case(c, "pattern_threads_%s_%s", errors ? "errors" : "plain",
                    with_invalid ? "per_frame" : "shared"))
        return;
    struct pattern_set set;
    make_spec(&set, errors);
    const char *path = tmp_path(c, "out.h5");
    airy_pattern_file *file = NULL;
    if (!CHECK_OK(c, airy_pattern_file_create(&file, path, &set.spec, false, false)))
        return;
    check_contents(c, partial_of(c, path), errors, false, 0, with_invalid);
    CHECK_FAILS(c, airy_pattern_file_finish(file, NULL), AIRY_ERR_PARAM,
                "40 of 40 rows are not written");
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        workers[t] = (struct worker){file, t, with_invalid, AIRY_OK};
        pthread_create(&threads[t], NULL, write_rows, &workers[t]);
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        CHECK(c, workers[t].status == AIRY_OK);
    }
    struct row_data d;
    make_row(&d, 0, false, false);
    check_contents(c, partial_of(c, path), errors, with_invalid, FRAMES, with_invalid);
    CHECK(c, access(path, F_OK) != 0);
    CHECK_OK(c, airy_pattern_file_finish(file, d.sums));
    airy_pattern_file_destroy(&file, false);
    CHECK(c, access(partial_of(c, path), F_OK) != 0);
    check_contents(c, path, errors, with_invalid, FRAMES, with_invalid);
    char message[FRAMES * 200];
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 200);
    H5Tset_cset(text, H5T_CSET_UTF8);
    CHECK(c, read_values(path, "/entry/integrate/frame/message", text, message, FRAMES));
    H5Tclose(text);
    CHECK(c, strcmp(message + BAD_ROW * 200, "block 2: match leaves the block") == 0 &&
                 message[0] == 0);
}

static void check_monitor(struct check *c)
{
    if (!check_case(c, "pattern_monitor"))
        return;
    struct pattern_set set;
    make_spec(&set, false);
    set.spec.monitor = set.monitor;
    const char *path = tmp_path(c, "out.h5");
    airy_pattern_file *file = NULL;
    double monitor[FRAMES];
    if (!CHECK_OK(c, airy_pattern_file_create(&file, path, &set.spec, false, false)))
        return;
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, put_row(file, i, false));
    CHECK_OK(c, airy_pattern_file_finish(file, NULL));
    airy_pattern_file_destroy(&file, false);
    check_contents(c, path, false, true, FRAMES, false);
    CHECK(c,
          read_values(path, "/entry/integrate/frame/monitor", H5T_NATIVE_DOUBLE, monitor, FRAMES) &&
              memcmp(monitor, set.monitor, sizeof(monitor)) == 0);
}

/* A process that writes some rows and is killed without warning. */
static bool write_and_die(const char *path, const struct airy_pattern_spec *spec, bool with_invalid,
                          size_t rows, bool resume)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        airy_pattern_file *file;
        if (airy_pattern_file_create(&file, path, spec, false, resume) != AIRY_OK)
            _exit(1);
        for (size_t i = 0; i < FRAMES && rows > 0; i++) {
            const size_t row = (i * 7) % FRAMES; /* 7 and 40 share no factor: all rows, not in
                                                    order */
            if (airy_pattern_file_done(file, row))
                continue;
            if (put_row(file, row, with_invalid) != AIRY_OK)
                _exit(1);
            rows--;
        }
        kill(getpid(), SIGKILL);
    }
    int how = 0;
    return child > 0 && waitpid(child, &how, 0) == child && WIFSIGNALED(how);
}

static void check_killed(struct check *c, bool with_invalid)
{
    if (!check_case(c, "pattern_killed_%s", with_invalid ? "per_frame" : "shared"))
        return;
    struct pattern_set set;
    make_spec(&set, true);
    const char *path = tmp_path(c, "out.h5");
    airy_pattern_file *file = NULL;
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &set.spec, false, true),
                AIRY_ERR_NOT_FOUND, "cannot resume");
    if (!CHECK(c, write_and_die(path, &set.spec, with_invalid, 10, false)))
        return;
    /* Rows 0 7 14 21 28 35 2 9 16 23: the tenth is the one that differs. */
    check_contents(c, partial_of(c, path), true, with_invalid, 10, with_invalid);
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &set.spec, false, false), AIRY_ERR_EXISTS,
                "interrupted run");
    CHECK(c, write_and_die(path, &set.spec, with_invalid, 10, true));
    check_contents(c, partial_of(c, path), true, with_invalid, 20, with_invalid);
    if (!CHECK_OK(c, airy_pattern_file_create(&file, path, &set.spec, false, true)))
        return;
    airy_pattern_file *second = NULL;
    CHECK_FAILS(c, airy_pattern_file_create(&second, path, &set.spec, false, true), AIRY_ERR_IO,
                "another process");
    size_t done = 0;
    for (size_t i = 0; i < FRAMES; i++) {
        done += airy_pattern_file_done(file, i);
        if (!airy_pattern_file_done(file, i))
            CHECK_OK(c, put_row(file, i, with_invalid));
    }
    CHECK(c, done == 20 || done == 19); /* a bad row is tried again */
    CHECK_OK(c, airy_pattern_file_finish(file, NULL));
    airy_pattern_file_destroy(&file, true);
    check_contents(c, path, true, with_invalid, FRAMES, with_invalid);
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &set.spec, false, false), AIRY_ERR_EXISTS,
                "is there already");
}

/* What is no partial result is not removed for having the name of one. */
static void check_foreign(struct check *c)
{
    if (!check_case(c, "pattern_foreign"))
        return;
    struct pattern_set set;
    make_spec(&set, true);
    const char *path = tmp_path(c, "out.h5"), *partial = partial_of(c, path);
    FILE *notes = fopen(partial, "w");
    if (!CHECK(c, notes && fputs("my notes\n", notes) >= 0 && fclose(notes) == 0))
        return;
    airy_pattern_file *file = NULL;
    for (int force = 0; force < 2; force++)
        CHECK_FAILS(c, airy_pattern_file_create(&file, path, &set.spec, force, false),
                    AIRY_ERR_EXISTS, "is no partial result");
    CHECK(c, access(partial, F_OK) == 0);
}

/* Finishing cuts the file before it renames it; a run that ends in between can be resumed, too. */
static void check_finish_fails(struct check *c)
{
    if (!check_case(c, "pattern_finish_fails"))
        return;
    struct pattern_set set;
    make_spec(&set, true);
    const char *path = tmp_path(c, "out.h5");
    airy_pattern_file *file = NULL;
    if (!CHECK_OK(c, airy_pattern_file_create(&file, path, &set.spec, false, false)))
        return;
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, put_row(file, i, false));
    CHECK(c, mkdir(path, 0700) == 0);
    CHECK_FAILS(c, airy_pattern_file_finish(file, NULL), AIRY_ERR_EXISTS, "is there already");
    airy_pattern_file_destroy(&file, true);
    check_contents(c, partial_of(c, path), true, false, FRAMES, false);
    CHECK(c, rmdir(path) == 0);
    if (!CHECK_OK(c, airy_pattern_file_create(&file, path, &set.spec, false, true)))
        return;
    CHECK_OK(c, put_row(file, BAD_ROW, true));
    CHECK_OK(c, put_row(file, INVALID_ROW, true)); /* the normalizations become per frame after
                                                      all */
    CHECK_OK(c, airy_pattern_file_finish(file, NULL));
    airy_pattern_file_destroy(&file, false);
    check_contents(c, path, true, true, FRAMES, true);
}

static bool same_file(const char *path, const struct stat *want)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_ino == want->st_ino;
}

/*
 * A second run by force, and short-lived outputs of the same name, leave a run alone that is under
 * way.
 */
static void check_force(struct check *c)
{
    if (!check_case(c, "pattern_force"))
        return;
    struct pattern_set set;
    make_spec(&set, true);
    const char *path = tmp_path(c, "out.h5"), *partial = partial_of(c, path);
    airy_pattern_file *file = NULL, *second = NULL;
    struct stat about;
    if (!CHECK_OK(c, airy_pattern_file_create(&file, path, &set.spec, true, false)) ||
        stat(partial, &about) != 0)
        return;
    CHECK_FAILS(c, airy_pattern_file_create(&second, path, &set.spec, true, false), AIRY_ERR_IO,
                "by another process");
    CHECK_FAILS(c, airy_pattern_file_create(&second, path, &set.spec, false, true), AIRY_ERR_IO,
                "by another process");
    CHECK(c, same_file(partial, &about));
    const airy_image image = {.dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {3}, .data = "abc"};
    CHECK_OK(c, airy_image_write(&image, path, false));
    CHECK(c, same_file(partial, &about) && unlink(path) == 0);
    const void *bytes = "abc";
    const size_t size = 3;
    CHECK_OK(c, airy_file_put(path, &bytes, &size, 1, false));
    CHECK(c, same_file(partial, &about) && unlink(path) == 0);
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, put_row(file, i, false));
    /* Somebody moves another file to its name. */
    CHECK(c, rename(partial, tmp_path(c, "mine")) == 0);
    CHECK(c, rename(stack_spill(c, "other", "other", 5), partial) == 0);
    CHECK_FAILS(c, airy_pattern_file_finish(file, NULL), AIRY_ERR_IO,
                "replaced while it was written");
    airy_pattern_file_destroy(&file, false);
    CHECK(c, access(path, F_OK) != 0 && access(partial, F_OK) == 0);
    /* It is nobody's result. One that nobody writes force replaces. */
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &set.spec, true, false), AIRY_ERR_EXISTS,
                "is no partial result");
    CHECK(c, unlink(partial) == 0 && write_and_die(path, &set.spec, false, 3, false));
    CHECK_OK(c, airy_pattern_file_create(&file, path, &set.spec, true, false));
    airy_pattern_file_destroy(&file, false);
    CHECK(c, access(partial, F_OK) != 0);
}

static void check_other_spec(struct check *c)
{
    if (!check_case(c, "pattern_other_spec"))
        return;
    struct pattern_set set, other;
    make_spec(&set, true);
    const char *path = tmp_path(c, "out.h5");
    airy_pattern_file *file = NULL;
    if (!CHECK(c, write_and_die(path, &set.spec, false, 3, false)))
        return;
    make_spec(&other, true);
    other.spec.bins = BINS - 1;
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "has shape [37], this run's [36]");
    make_spec(&other, true);
    other.spec.frames = FRAMES - 1;
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "has shape [40], this run's [39]");
    make_spec(&other, false);
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "error model");
    make_spec(&other, true);
    other.spec.monitor = other.monitor;
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "monitor");
    make_spec(&other, true);
    other.spec.unit = AIRY_UNIT_TTH_DEG;
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "2th_deg");
    make_spec(&other, true);
    other.radial[5] += 1e-12;
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "radial[5]");
    make_spec(&other, true);
    other.index[9]++;
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "frame index[9]");
    make_spec(&other, true);
    other.spec.fingerprint = "value dist 0.2\n";
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "parameter dist differs: 0.1 in the file, 0.2 in this run");
    make_spec(&other, true);
    other.spec.configuration = "{\"poni\": \"y\"}";
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &other.spec, false, true), AIRY_ERR_FORMAT,
                "configuration");
    CHECK_OK(c, airy_pattern_file_create(&file, path, &set.spec, false, true));
    airy_pattern_file_destroy(&file, false);
    CHECK(c, access(partial_of(c, path), F_OK) != 0);
    const char *junk = stack_spill(c, "junk.h5.partial", "not HDF5 at all", 15);
    char target[512];
    snprintf(target, sizeof(target), "%.*s", (int)(strlen(junk) - strlen(".partial")), junk);
    CHECK_FAILS(c, airy_pattern_file_create(&file, target, &set.spec, false, true), AIRY_ERR_FORMAT,
                "no HDF5 file");
}

/* A full disk, played by a limit of the file's size. */
static void check_full_disk(struct check *c)
{
    if (!check_case(c, "pattern_full_disk"))
        return;
    struct pattern_set set;
    make_spec(&set, true);
    airy_pattern_file *file = NULL;
    const char *path = tmp_path(c, "out.h5");
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    const rlim_t limits[] = {0, 100, 20 << 10, 70 << 10};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        small = before;
        small.rlim_cur = limits[i];
        setrlimit(RLIMIT_FSIZE, &small);
        const airy_status status = airy_pattern_file_create(&file, path, &set.spec, false, false);
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK(c, status == AIRY_ERR_IO);
        CHECK(c, strstr(airy_last_error(), "File too large") != NULL);
        CHECK(c, access(partial_of(c, path), F_OK) != 0);
    }
    signal(SIGXFSZ, handler);
    CHECK_FAILS(c, airy_pattern_file_create(&file, "/proc/none/out.h5", &set.spec, false, false),
                AIRY_ERR_IO, "No such file or directory");
    set.spec.bins = SIZE_MAX / 2;
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &set.spec, false, false), AIRY_ERR_PARAM,
                "bins");
}

static bool count_calls(void *user, size_t done, size_t total)
{
    (void)done;
    (void)total;
    return ++*(int *)user < 3;
}

/* A number of rows that no disk has room for, and a run that is stopped while space is reserved. */
static void check_room(struct check *c)
{
    if (!check_case(c, "pattern_room"))
        return;
    struct pattern_set set;
    make_spec(&set, true);
    airy_pattern_file *file = NULL;
    const char *path = tmp_path(c, "out.h5");
    int calls = 0;
    for (int live = 0; live < 2; live++) {
        struct airy_pattern_spec many = set.spec;
        many.frames = (size_t)1 << 44; /* 10^16 bytes of rows; their lists would be 10^14 */
        many.owner.live = live;
        CHECK_FAILS(c, airy_pattern_file_create(&file, path, &many, false, false), AIRY_ERR_IO,
                    "the disk has room for");
    }
    struct airy_pattern_spec stopped = set.spec;
    stopped.owner.go_on = count_calls;
    stopped.owner.user = &calls;
    calls = 2; /* the next one ends it */
    CHECK_FAILS(c, airy_pattern_file_create(&file, path, &stopped, false, false),
                AIRY_ERR_CANCELLED, "cancelled");
    CHECK(c, access(path, F_OK) != 0 && access(partial_of(c, path), F_OK) != 0);
    calls = 0;
    if (CHECK_OK(c, airy_pattern_file_create(&file, path, &stopped, false, false)))
        airy_pattern_file_destroy(&file, false);
}

void check_pattern(struct check *c)
{
    if (!c->is_cpu)
        return; /* files only */
    for (int k = 0; k < 4; k++)
        check_threads(c, k & 1, k & 2);
    check_monitor(c);
    check_foreign(c);
    check_killed(c, false);
    check_killed(c, true);
    check_finish_fails(c);
    check_force(c);
    check_other_spec(c);
    check_full_disk(c);
    check_room(c);
}
