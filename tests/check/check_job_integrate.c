/* The job integrate beside the same work by hand: in memory, into a file, with arrays, and again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/image.h"
#include "airy/job.h"
#include "airy/pipeline.h"
#include "airy/result.h"
#include "check_pipeline.h"

enum { FRAMES = 11, BAD = 4, CELLS = FRAMES * RUN_BINS };

/* What both have: a stack as a file and as an array, a mask and a dark image. */
struct input {
    const char *path;
    uint32_t *frames;
    uint8_t mask[RUN_PIXELS];
    float dark[RUN_PIXELS];
};

static void make_input(struct check *c, struct input *in, enum spoil spoil)
{
    in->path = check_run_path(c, "stack.h5");
    in->frames = check_run_frames(c, FRAMES);
    check_run_stack(c, in->path, in->frames, FRAMES, spoil == SOUND ? FRAMES : BAD, spoil);
    for (size_t i = 0; i < RUN_PIXELS; i++) {
        in->mask[i] = i % 7 == 3;
        in->dark[i] = (float)(i % 5) / 2;
    }
}

static airy_host_view view_of(const void *data, airy_dtype dtype)
{
    return (airy_host_view){
        .data = data, .dtype = dtype, .ndim = 2, .shape = {RUN_HEIGHT, RUN_WIDTH}};
}

static const char geometry[] = "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni1\": 0.0018, "
                               "\"poni2\": 0.0021, \"wavelength\": 1e-10, \"bins\": \"50\", "
                               "\"error-model\": \"poisson\"}";

static airy_job *open_job(struct check *c, const struct input *in, bool corrected)
{
    airy_job *job = NULL;
    const airy_host_view mask = view_of(in->mask, AIRY_DTYPE_U8),
                         dark = view_of(in->dark, AIRY_DTYPE_F32);
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
    CHECK_OK(c, airy_job_set_json(job, geometry));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    if (corrected) {
        CHECK_OK(c, airy_job_set_array(job, "mask", &mask));
        CHECK_OK(c, airy_job_set_array(job, "dark", &dark));
    }
    return job;
}

static airy_job *open_file(struct check *c, const struct input *in, bool corrected)
{
    airy_job *job = open_job(c, in, corrected);
    CHECK_OK(c, airy_job_set(job, "stack", in->path));
    return job;
}

/* The same by its operations. */
struct by_hand {
    float intensity[CELLS], sem[CELLS];
    double signal[CELLS], radial[RUN_BINS];
};

static void work_by_hand(struct check *c, struct by_hand *want, const struct input *in,
                         const char *output, bool corrected)
{
    const airy_geometry pose = {.detector = {.name = "Detector",
                                             .height = RUN_HEIGHT,
                                             .width = RUN_WIDTH,
                                             .pixel1 = 1e-4,
                                             .pixel2 = 1e-4,
                                             .orientation = 3},
                                .dist = 0.1,
                                .poni1 = 0.0018,
                                .poni2 = 0.0021,
                                .wavelength = 1e-10};
    const airy_integrator_params params = {.bins = RUN_BINS,
                                           .error_model = AIRY_ERROR_MODEL_POISSON,
                                           .mask = corrected ? in->mask : NULL,
                                           .dark = corrected ? in->dark : NULL};
    const airy_row_arrays arrays = {
        .rows = FRAMES, .intensity = want->intensity, .sem = want->sem, .signal = want->signal};
    const airy_run_params run = {.arrays = &arrays};
    airy_stack *stack = NULL;
    airy_integrator *integrator = NULL;
    CHECK_OK(c, airy_stack_create(&stack, &in->path, 1));
    CHECK_OK(c, airy_integrator_create(&integrator, c->device, &pose, &params));
    memcpy(want->radial, airy_integrator_radial(integrator), sizeof(want->radial));
    CHECK_OK(c, airy_integrate_stack(output, stack, &integrator, 1, &run, NULL));
    airy_integrator_destroy(&integrator);
    airy_stack_destroy(&stack);
}

/* An array of the job is these bytes. */
static void check_bytes(struct check *c, const airy_job *job, const char *result, const void *want,
                        size_t size)
{
    airy_host_view view = {.data = NULL};
    size_t bytes = 0;
    if (CHECK_OK(c, airy_job_get_array(job, result, &view))) {
        bytes = airy_dtype_size(view.dtype);
        for (int i = 0; i < view.ndim; i++)
            bytes *= view.shape[i];
    }
    CHECK(c, bytes == size && view.data && memcmp(view.data, want, size) == 0);
}

static void check_results(struct check *c, const airy_job *job, const struct by_hand *want)
{
    check_bytes(c, job, "intensity", want->intensity, sizeof(want->intensity));
    check_bytes(c, job, "sem", want->sem, sizeof(want->sem));
    check_bytes(c, job, "radial", want->radial, sizeof(want->radial));
}

/* Rows in memory: of a file, of an array, with and without corrections; into a file as well. */
static void check_memory(struct check *c)
{
    if (!check_case(c, "job_integrate"))
        return;
    struct input in;
    struct by_hand want;
    airy_host_view view;
    make_input(c, &in, SOUND);
    for (int corrected = 0; corrected < 2; corrected++) {
        const char *file = check_run_path(c, "want.h5"), *output = check_run_path(c, "got.h5");
        const airy_host_view stack = {.data = in.frames,
                                      .dtype = AIRY_DTYPE_U32,
                                      .ndim = 3,
                                      .shape = {FRAMES, RUN_HEIGHT, RUN_WIDTH}};
        work_by_hand(c, &want, &in, file, corrected);
        airy_job *job = open_file(c, &in, corrected);
        CHECK_OK(c, airy_job_run(job));
        check_results(c, job, &want);
        CHECK_OK(c, airy_job_get_array(job, "intensity", &view));
        CHECK(c, view.ndim == 2 && view.shape[0] == FRAMES && view.shape[1] == RUN_BINS);
        CHECK(c, airy_job_get_array(job, "sum_signal", &view) == AIRY_ERR_NOT_FOUND);
        CHECK_OK(c, airy_job_want(job, "sum_signal"));
        CHECK_OK(c, airy_job_set(job, "output", output));
        CHECK_OK(c, airy_job_run(job));
        check_bytes(c, job, "sum_signal", want.signal, sizeof(want.signal));
        CHECK(c, airy_job_get_array(job, "intensity", &view) == AIRY_ERR_NOT_FOUND);
        check_run_same(c, output, file);
        CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "got.h5");
        airy_job_destroy(&job);
        job = open_job(c, &in, corrected);
        CHECK_OK(c, airy_job_set_array(job, "stack", &stack));
        CHECK_OK(c, airy_job_run(job));
        check_results(c, job, &want);
        airy_job_destroy(&job);
    }
}

/* Frames that end where no memory is, and that nobody may write. */
static const void *guarded_frames(struct check *c, const uint32_t *frames)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE),
                 size = sizeof(uint32_t) * FRAMES * RUN_PIXELS,
                 room = (size + page - 1) / page * page;
    uint8_t *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(c, memory != MAP_FAILED))
        return frames;
    memcpy(memory + room - size, frames, size);
    CHECK(c, mprotect(memory, room, PROT_READ) == 0);
    CHECK(c, mprotect(memory + room, page, PROT_NONE) == 0);
    return memory + room - size;
}

static void check_in_place_job(struct check *c, const char *kind, const char *const *values,
                               const char *result, const struct input *in, const void *frames)
{
    const airy_host_view stack = {.data = frames,
                                  .dtype = AIRY_DTYPE_U32,
                                  .ndim = 3,
                                  .shape = {FRAMES, RUN_HEIGHT, RUN_WIDTH}};
    airy_job *job[2] = {NULL, NULL};
    airy_host_view view[2] = {{.data = NULL}, {.data = NULL}};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(c, airy_job_create(&job[i], kind, NULL, NULL));
        for (size_t k = 0; values[k]; k += 2)
            CHECK_OK(c, airy_job_set(job[i], values[k], values[k + 1]));
        CHECK_OK(c, airy_job_set(job[i], "device", c->spec));
        CHECK_OK(c, i ? airy_job_set_array(job[i], "stack", &stack)
                      : airy_job_set(job[i], "stack", in->path));
        CHECK_OK(c, airy_job_run(job[i]));
        CHECK_OK(c, airy_job_get_array(job[i], result, &view[i]));
    }
    size_t size = airy_dtype_size(view[0].dtype);
    for (int i = 0; i < view[0].ndim; i++)
        size *= view[0].shape[i];
    CHECK(c, view[0].data && view[1].data && memcmp(view[0].data, view[1].data, size) == 0);
    airy_job_destroy(&job[0]);
    airy_job_destroy(&job[1]);
}

/* An array is read where it is, within its bounds, and gives what its file gives. */
static void check_in_place(struct check *c)
{
    static const char *const integrate[][20] = {
        {"pixel", "1e-4,1e-4", "dist", "0.1", "poni1", "0.0018", "poni2", "0.0021", "wavelength",
         "1e-10", "bins", "50", NULL},
        {"pixel", "1e-4,1e-4", "dist", "0.1", "poni1", "0.0018", "poni2", "0.0021", "wavelength",
         "1e-10", "bins", "50", "frames", "2:10:3", "batch", "2", NULL},
        {"pixel", "1e-4,1e-4", "dist", "0.1", "poni1", "0.0018", "poni2", "0.0021", "wavelength",
         "1e-10", "bins", "50", "quantile", "20,80", NULL}};
    static const char *const reduce[][6] = {{"by", "mean", NULL},
                                            {"by", "median", NULL},
                                            {"by", "std", NULL},
                                            {"by", "max", "frames", "1:9:2", NULL}};
    if (!check_case(c, "job_integrate_in_place"))
        return;
    struct input in;
    make_input(c, &in, SOUND);
    const void *frames = guarded_frames(c, in.frames);
    for (size_t i = 0; i < sizeof(integrate) / sizeof(integrate[0]); i++)
        check_in_place_job(c, "integrate", integrate[i], "intensity", &in, frames);
    for (size_t i = 0; i < sizeof(reduce) / sizeof(reduce[0]); i++)
        check_in_place_job(c, "reduce", reduce[i], "image", &in, frames);
}

/* Two dimensions, groups, regions and maps; bad frames; the plan; a limit of memory. */
static void check_kinds(struct check *c)
{
    if (!check_case(c, "job_integrate_kinds"))
        return;
    struct input in;
    airy_host_view view;
    const char *device;
    char *json = NULL;
    double bad = 0;
    make_input(c, &in, FLIPPED);
    airy_job *job = open_file(c, &in, false);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CORRUPT, "frame 4");
    CHECK(c, airy_job_get_array(job, "intensity", &view) == AIRY_ERR_NOT_FOUND);
    CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
    CHECK(c, airy_job_run(job) == AIRY_PARTLY);
    CHECK_OK(c, airy_job_get_number(job, "bad", &bad));
    CHECK_OK(c, airy_job_get_array(job, "intensity", &view));
    const float *rows = view.data;
    CHECK(c, bad == 1 && isnan(rows[BAD * RUN_BINS + 9]));
    CHECK_OK(c, airy_job_get_array(job, "status", &view));
    CHECK(c, ((const int32_t *)view.data)[BAD] == AIRY_ERR_CORRUPT &&
                 ((const int32_t *)view.data)[0] == AIRY_OK);
    CHECK_OK(c, airy_job_set(job, "bins", "20x9"));
    CHECK_OK(c, airy_job_set(job, "average", "all"));
    CHECK_OK(c, airy_job_resolve(job));
    CHECK_OK(c, airy_job_get_plan(job, &json));
    CHECK(c, strstr(json, "\"rows\":1,") && strstr(json, "\"engine\":"));
    airy_job_text_free(json);
    CHECK(c, airy_job_run(job) == AIRY_PARTLY);
    CHECK_OK(c, airy_job_get_text(job, "device", &device));
    CHECK(c, *device && airy_job_device(job));
    CHECK_OK(c, airy_job_get_array(job, "intensity", &view));
    CHECK(c, view.ndim == 3 && view.shape[0] == 1 && view.shape[1] == 9 && view.shape[2] == 20);
    CHECK_OK(c, airy_job_get_array(job, "azimuthal", &view));
    CHECK(c, view.ndim == 1 && view.shape[0] == 9);
    airy_job_destroy(&job);
}

/* Each a status with the parameter as subject. */
static void check_refused(struct check *c)
{
    static const struct {
        const char *name, *text, *sentence;
    } bad[] = {
        {"bins", "0", "bins 0: expected"},
        {"bins", "10x", "bins 10x: expected"},
        {"unit", "q", "unit q: "},
        {"unit", "chi_deg", NULL}, /* one dimension along chi is good */
        {"radial-range", "2,1", "radial-range"},
        {"azimuth-range", "5,5", "azimuth-range"},
        {"split", "pseudo", "split pseudo"},
        {"error-model", "variance", "error-model variance"},
        {"clip", "-1", "clip"},
        {"quantile", "60,50", "quantile"},
        {"polarization", "2", "polarization"},
        {"roi", "3,2", "roi 3,2: expected"},
        {"roi", "1,2,3", "roi 1,2,3: expected"},
        {"roi", "1,2,3,4", "roi 1,2,3,4: a range of chi needs"},
        {"grid", "2000000x1", "grid 2000000x1: expected"},
        {"zigzag", "on", "zigzag goes with grid"},
        {"resume", "on", "resume needs an output"},
        {"format", "nxazint", "format nxazint needs an output"},
        {"instrument", "P02", "instrument goes with format nxazint"},
        {"delta-dummy", "2", "delta-dummy goes with dummy"},
        {"output", "a.npy", "output 'a.npy': expected a name"},
        {"average", "0", "average 0: expected a whole number"},
        {"normalization", "0", "normalization 0: expected"},
    };
    if (!check_case(c, "job_integrate_refused"))
        return;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        airy_job *job = NULL;
        airy_error error;
        CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
        CHECK_OK(c, airy_job_set(job, "stack", "none.h5"));
        airy_status status = airy_job_set(job, bad[i].name, bad[i].text);
        if (status == AIRY_OK)
            status = airy_job_check(job);
        airy_error_get(&error);
        if (!CHECK(c, bad[i].sentence
                          ? status == AIRY_ERR_PARAM && strstr(error.text, bad[i].sentence) &&
                                error.subject == AIRY_SUBJECT_PARAMETER
                          : status == AIRY_OK))
            printf("# %s %s: %d %s\n", bad[i].name, bad[i].text, status, error.text);
        airy_job_destroy(&job);
    }
}

static bool stop_soon(void *user, size_t done, size_t total)
{
    (void)total;
    return done < *(const size_t *)user;
}

/* A partial file of another run is neither continued nor overwritten. */
static void check_foreign_partial(struct check *c, const struct input *in, const char *file)
{
    const char *output = check_run_path(c, "foreign.h5");
    char partial[4096];
    snprintf(partial, sizeof(partial), "%s.partial", output);
    airy_job *job = NULL;
    airy_result *result = NULL;
    CHECK(c, rename(file, partial) == 0);
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
    CHECK_OK(c, airy_job_set_json(job, geometry));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "stack", in->path));
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_OK(c, airy_job_set_flag(job, "resume", true));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_FORMAT, "was started otherwise");
    CHECK_OK(c, airy_result_open(&result, partial));
    airy_result_close(&result);
    airy_job_destroy(&job);
}

/* A run that was cancelled goes on with the same values, and not with another mask. */
static void check_resume(struct check *c)
{
    if (!check_case(c, "job_integrate_resume"))
        return;
    struct input in;
    struct by_hand want;
    size_t most = 1;
    const airy_job_hooks hooks = {.progress = stop_soon, .user = &most};
    const char *file = check_run_path(c, "want.h5"), *output = check_run_path(c, "got.h5");
    airy_job *job = NULL;
    make_input(c, &in, SOUND);
    work_by_hand(c, &want, &in, file, true);
    for (int other = 0; other < 3; other++) { /* begin; another mask; the same one */
        const airy_host_view mask = view_of(in.mask, AIRY_DTYPE_U8),
                             dark = view_of(in.dark, AIRY_DTYPE_F32);
        in.mask[0] = other == 1;
        CHECK_OK(c, airy_job_create(&job, "integrate", NULL, other ? NULL : &hooks));
        CHECK_OK(c, airy_job_set_json(job, geometry));
        CHECK_OK(c, airy_job_set(job, "device", c->spec));
        CHECK_OK(c, airy_job_set(job, "batch", "1"));
        CHECK_OK(c, airy_job_set(job, "stack", in.path));
        CHECK_OK(c, airy_job_set_array(job, "mask", &mask));
        CHECK_OK(c, airy_job_set_array(job, "dark", &dark));
        CHECK_OK(c, airy_job_set(job, "output", output));
        CHECK_OK(c, airy_job_set_flag(job, "resume", other > 0));
        if (other == 0)
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "cancelled after ");
        else if (other == 1)
            CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_FORMAT, "mask");
        else
            CHECK_OK(c, airy_job_run(job));
        airy_job_destroy(&job);
    }
    check_run_same(c, output, file);
    check_foreign_partial(c, &in, file);
}

static airy_job *open_frames(struct check *c, const struct input *in, const char *output,
                             const airy_job_hooks *hooks)
{
    const airy_host_view stack = {.data = in->frames,
                                  .dtype = AIRY_DTYPE_U32,
                                  .ndim = 3,
                                  .shape = {FRAMES, RUN_HEIGHT, RUN_WIDTH}};
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, hooks));
    CHECK_OK(c, airy_job_set_json(job, geometry));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "batch", "1"));
    CHECK_OK(c, airy_job_set_array(job, "stack", &stack));
    CHECK_OK(c, airy_job_set(job, "output", output));
    return job;
}

/* A run stops in the middle; continue it. Rows of other frames are refused, which names a frame. */
static void check_resume_frames(struct check *c)
{
    static const char *const groups[] = {"1", "3"};
    if (!check_case(c, "job_integrate_resume_frames"))
        return;
    struct input in;
    size_t most = 6;
    const airy_job_hooks hooks = {.progress = stop_soon, .user = &most};
    make_input(c, &in, SOUND);
    for (size_t i = 0; i < 2; i++) {
        const char *output = check_run_path(c, "got.h5"), *json = NULL;
        airy_error error;
        airy_job *job = open_frames(c, &in, output, &hooks);
        CHECK_OK(c, airy_job_set(job, "average", groups[i]));
        CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "frames, which are in");
        airy_error_get(&error);
        CHECK(c, error.hint == AIRY_HINT_INTERRUPTED);
        airy_job_destroy(&job);
        in.frames[RUN_PIXELS / 2]++; /* of frame 0 */
        job = open_frames(c, &in, output, NULL);
        CHECK_OK(c, airy_job_set(job, "average", groups[i]));
        CHECK_OK(c, airy_job_set_flag(job, "resume", true));
        CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_FORMAT,
                    "frame 0 of 'array' is another one than when its row was made");
        airy_error_get(&error);
        CHECK(c, error.hint == AIRY_HINT_ANEW && error.subject == AIRY_SUBJECT_FILE);
        in.frames[RUN_PIXELS / 2]--;
        CHECK_OK(c, airy_job_run(job));
        CHECK(c, airy_job_get_text(job, "complete_already", &json) == AIRY_ERR_NOT_FOUND);
        airy_job_destroy(&job);
    }
}

/* An output that is complete is reported with `resume`, unless it is one of other values. */
static void check_complete(struct check *c)
{
    if (!check_case(c, "job_integrate_complete"))
        return;
    struct input in;
    const char *output = check_run_path(c, "got.h5"), *json = NULL;
    double frames = 0, bad = 0;
    make_input(c, &in, TRUNCATED);
    airy_job *job = open_file(c, &in, false);
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
    CHECK_OK(c, airy_job_set_flag(job, "resume", true));
    CHECK(c, airy_job_run(job) == AIRY_PARTLY);
    CHECK(c, airy_job_get_text(job, "complete_already", &json) == AIRY_ERR_NOT_FOUND);
    CHECK(c, airy_job_run(job) == AIRY_PARTLY);
    CHECK_OK(c, airy_job_get_text(job, "complete_already", &json));
    CHECK_OK(c, airy_job_get_number(job, "frames", &frames));
    CHECK_OK(c, airy_job_get_number(job, "bad", &bad));
    CHECK(c, strcmp(json, "true") == 0 && frames == FRAMES && bad == 1);
    CHECK(c, strstr(airy_job_summary(job), "got.h5: complete already, 1 of 11 frames failed"));
    airy_job_destroy(&job);
    job = open_file(c, &in, false);
    CHECK_OK(c, airy_job_set(job, "output", output));
    CHECK_OK(c, airy_job_set(job, "polarization", "0.9"));
    CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
    CHECK_OK(c, airy_job_set_flag(job, "resume", true));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_FORMAT, "made otherwise");
    airy_job_destroy(&job);
}

static void write_text(struct check *c, const char *path)
{
    FILE *file = fopen(path, "w");
    if (CHECK(c, file != NULL)) {
        fputs("x\n", file);
        fclose(file);
    }
}

/* Of a stack that is not there; flag: NULL for none. A plan needs no place. */
static void run_in_place(struct check *c, const char *output, const char *flag, airy_status status,
                         const char *sentence)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
    CHECK_OK(c, airy_job_set(job, "stack", "none.h5"));
    CHECK_OK(c, airy_job_set(job, "output", output));
    if (flag)
        CHECK_OK(c, airy_job_set_flag(job, flag, true));
    CHECK_FAILS(c, airy_job_resolve(job), AIRY_ERR_NOT_FOUND, "none.h5");
    CHECK_FAILS(c, airy_job_run(job), status, sentence);
    airy_job_destroy(&job);
}

/* What is in the output's place is found before a file of the stack is opened. */
static void check_place(struct check *c)
{
    if (!check_case(c, "job_integrate_place"))
        return;
    struct input in;
    struct by_hand want;
    char partial[4096];
    const char *output = check_run_path(c, "got.h5");
    snprintf(partial, sizeof(partial), "%s.partial", output);
    make_input(c, &in, SOUND);
    write_text(c, output);
    run_in_place(c, output, NULL, AIRY_ERR_EXISTS, "got.h5' is there already");
    CHECK(c, rename(output, partial) == 0);
    run_in_place(c, output, NULL, AIRY_ERR_EXISTS, "is there and is no partial result");
    run_in_place(c, output, "force", AIRY_ERR_EXISTS, "is there and is no partial result");
    CHECK(c, remove(partial) == 0);
    work_by_hand(c, &want, &in, output, false);
    CHECK(c, rename(output, partial) == 0);
    run_in_place(c, output, NULL, AIRY_ERR_EXISTS, "is there from an interrupted run");
    run_in_place(c, output, "force", AIRY_ERR_NOT_FOUND, "none.h5");
    run_in_place(c, output, "resume", AIRY_ERR_NOT_FOUND, "none.h5");
}

/* The warnings of a run, a line each. */
struct warnings {
    char text[4096];
};

static void take_warning(void *user, airy_log_level level, const char *text)
{
    struct warnings *w = user;
    const size_t used = strlen(w->text);
    if (level == AIRY_LOG_WARN)
        snprintf(w->text + used, sizeof(w->text) - used, "%s\n", text);
}

/* Values of a run, and what it warns of. */
struct note {
    const char *file, *settings,
        *warning; /* file: NULL for rows in memory; warning: NULL for none */
};

static void check_note(struct check *c, const struct input *in, const struct note *note)
{
    struct warnings w = {.text = ""};
    const airy_job_hooks hooks = {.message = take_warning, .user = &w};
    const airy_host_view stack = {.data = in->frames,
                                  .dtype = AIRY_DTYPE_U32,
                                  .ndim = 3,
                                  .shape = {FRAMES, RUN_HEIGHT, RUN_WIDTH}};
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, &hooks));
    CHECK_OK(c, airy_job_set_json(job, note->settings));
    CHECK_OK(c,
             airy_job_set_json(job, "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni1\": 0.0018, "
                                    "\"poni2\": 0.0021, \"wavelength\": 1e-10}"));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set_array(job, "stack", &stack));
    if (note->file)
        CHECK_OK(c, airy_job_set(job, "output", check_run_path(c, note->file)));
    CHECK_OK(c, airy_job_run(job));
    if (!CHECK(c, note->warning ? strcmp(w.text, note->warning) == 0 : !*w.text))
        printf("# %s: %s", note->settings, w.text);
    airy_job_destroy(&job);
}

/* Pixels that are part of a result and should not be, and parameters that do nothing. */
static void check_notes(struct check *c)
{
    static const char advice[] =
        "is 4294967295, which detectors write into gaps and bad pixels, and "
        "part of the result; dummy=4294967295 delta-dummy=2 leaves them out";
    if (!check_case(c, "job_integrate_notes"))
        return;
    struct input in;
    char several[512], groups[512], seen[512];
    make_input(c, &in, SOUND);
    snprintf(seen, sizeof(seen), "array: 1 pixel of frame 3 %s\n", advice);
    snprintf(several, sizeof(several),
             "array: 1 pixel of frame 3, the first of 2 frames with such pixels, %s\n", advice);
    snprintf(groups, sizeof(groups),
             "average=4: 11 frames make 3 patterns, the last one of 3\n"
             "array: 1 pixel of frame 3, the first of 2 patterns with such pixels, %s\n",
             advice);
    const struct note notes[] = {
        {"several.h5", "{\"bins\": \"50\"}", several},
        {"groups.h5", "{\"average\": 4}", groups},
        {NULL, "{\"bins\": \"50\"}", seen},
        {"dummy.h5", "{\"dummy\": 4294967295}", NULL},
        {"one.h5", "{\"dummy\": 4294967294, \"frames\": \"0\"}",
         "dummy=4294967294 leaves out no pixel beside those that are masked\n"},
        {"type.h5", "{\"dummy\": -1}", "dummy=-1 leaves out no pixel: uint32 has no such value\n"},
        {NULL,
         "{\"frames\": \"0\", \"bins\": \"20x4\", \"azimuthal\": \"chi_rad\", \"azimuth-range\": "
         "[0, "
         "3]}",
         "azimuth-range=0,3: these are degrees, also with azimuthal=chi_rad\n"},
    };
    in.frames[3 * RUN_PIXELS + 90] = in.frames[9 * RUN_PIXELS + 80] = UINT32_MAX;
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        check_note(c, &in, &notes[i]);
}

/* What of the regions a configuration leaves, refused or not. */
static void check_rois(struct check *c, airy_job *job, const char *configuration, const char *want)
{
    char *text = NULL;
    (void)airy_job_set_configuration(job, configuration);
    CHECK_OK(c, airy_job_get(job, "roi", &text));
    CHECK(c, text && strcmp(text, want) == 0);
    airy_job_text_free(text);
}

/* What a result says it was made of makes it again, bit by bit. */
static void check_replay(struct check *c)
{
    if (!check_case(c, "job_integrate_replay"))
        return;
    struct input in;
    const char *first = check_run_path(c, "first.h5"), *again = check_run_path(c, "again.h5"),
               *mask = check_run_path(c, "mask.npy");
    char *configuration = NULL;
    airy_result *result = NULL;
    make_input(c, &in, SOUND);
    const airy_image image = {
        .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {RUN_HEIGHT, RUN_WIDTH}, .data = in.mask};
    CHECK_OK(c, airy_image_write(&image, mask, false));
    airy_job *job = open_file(c, &in, false);
    CHECK_OK(c, airy_job_set(job, "mask", mask));
    CHECK_OK(c, airy_job_set(job, "polarization", "0.95,10"));
    CHECK_OK(c, airy_job_set(job, "roi", "0.5,0.9"));
    CHECK_OK(c, airy_job_set(job, "roi", "0.95,1.2"));
    CHECK_OK(c, airy_job_set(job, "frames", "1:9:2"));
    CHECK_OK(c, airy_job_set(job, "output", first));
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
    CHECK_OK(c, airy_result_open(&result, first));
    CHECK_OK(c, airy_result_get_text(result, "configuration", &configuration));
    airy_result_close(&result);
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
    CHECK_OK(c, airy_job_set_configuration(job, configuration));
    CHECK_OK(c, airy_job_set(job, "stack", in.path));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "output", again));
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
    check_run_same(c, again, first);
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
    CHECK_FAILS(c, airy_job_set_configuration(job, "{\"command\": \"peaks\", \"options\": []}"),
                AIRY_ERR_FORMAT, "not of integrate");
    CHECK_FAILS(c,
                airy_job_set_configuration(
                    job, "{\"command\": \"integrate\", \"options\": [\"--output=x.h5\"]}"),
                AIRY_ERR_FORMAT, "which no result");
    CHECK_FAILS(c, airy_job_set_configuration(job, "{"), AIRY_ERR_FORMAT, "not the configuration");
    /* A list of a configuration replaces that of earlier JSON, unless the configuration is refused. */
    CHECK_OK(c, airy_job_set_json(job, "{\"roi\": [[0.1, 0.2], [0.2, 0.3]]}"));
    check_rois(c, job, "{\"command\": \"integrate\", \"options\": [\"--roi=1,2\", \"--unit=no\"]}",
               "0.1,0.2\n0.2,0.3");
    check_rois(c, job, "{\"command\": \"integrate\", \"options\": [\"--roi=1,2\", \"--roi=2,3\"]}",
               "1,2\n2,3");
    airy_job_destroy(&job);
    /* A geometry that was taken over goes with the PONI file in whose place it is. */
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
    CHECK_OK(c, airy_job_set_configuration(job, configuration));
    CHECK_OK(c, airy_job_reset(job, "poni"));
    CHECK_OK(c, airy_job_set(job, "stack", in.path));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK(c, airy_job_resolve(job) < AIRY_OK);
    airy_job_destroy(&job);
    free(configuration);
}

void check_job_integrate(struct check *c)
{
    check_memory(c);
    check_in_place(c);
    check_kinds(c);
    check_refused(c);
    check_resume(c);
    check_resume_frames(c);
    check_complete(c);
    check_place(c);
    check_notes(c);
    check_replay(c);
}
