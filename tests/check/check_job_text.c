/* Text files of the job integrate beside its rows in memory: each number reads back as the same float. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/image.h"
#include "airy/job.h"
#include "check_pipeline.h"

enum { FRAMES = 11, BAD = 4, NAME = 4096 };

static const char geometry[] = "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni1\": 0.0018, "
                               "\"poni2\": 0.0021, \"wavelength\": 1e-10, \"bins\": \"50\", "
                               "\"error-model\": \"poisson\", \"batch\": 1}";

static const char *make_stack(struct check *c, enum spoil spoil)
{
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, spoil == SOUND ? FRAMES : BAD,
                    spoil);
    return path;
}

static airy_job *open_job(struct check *c, const char *stack, const char *output, const char *more,
                          const airy_job_hooks *hooks)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, hooks));
    CHECK_OK(c, airy_job_set_json(job, geometry));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "stack", stack));
    if (output)
        CHECK_OK(c, airy_job_set(job, "output", output));
    if (more)
        CHECK_OK(c, airy_job_set_json(job, more));
    return job;
}

/* "FOLDER/a.dat" and 7 to "FOLDER/a_000007.dat". */
static void number_name(char name[NAME], const char *output, size_t frame)
{
    const char *dot = strrchr(output, '.');
    snprintf(name, NAME, "%.*s_%06zu%s", (int)(dot - output), output, frame, dot);
}

/* Whether a file has these numbers in each line behind the header: an axis, and of columns [count] those of a row. */
static bool has_numbers(const char *path, size_t head, const double *radial,
                        const float *const *columns, size_t count, size_t bins)
{
    char line[4096], *at = line;
    size_t lines = 0, i = 0;
    bool good = true;
    FILE *file = fopen(path, "r");
    while (file && good && fgets(line, sizeof(line), file)) {
        if (lines++ < head || *line == '#')
            continue;
        good = i < bins && fabs(strtod(line, &at) - radial[i]) <= 1e-12 * fabs(radial[i]);
        for (size_t k = 0; k < count && good; k++) {
            const float value = strtof(at, &at);
            good = isnan(value) ? isnan(columns[k][i])
                                : memcmp(&value, &columns[k][i], sizeof(value)) == 0;
        }
        good = good && strcmp(at, "\n") == 0;
        i++;
    }
    if (file)
        (void)fclose(file);
    return file && good && i == bins;
}

/* Rows in memory of every other frame. */
struct rows {
    airy_job *job;
    const float *intensity, *sem;
    const double *radial;
};

static void make_rows(struct check *c, struct rows *rows, const char *stack, const char *more)
{
    airy_host_view view;
    rows->job = open_job(c, stack, NULL, more, NULL);
    CHECK_OK(c, airy_job_run(rows->job));
    CHECK_OK(c, airy_job_get_array(rows->job, "intensity", &view));
    rows->intensity = view.data;
    CHECK_OK(c, airy_job_get_array(rows->job, "sem", &view));
    rows->sem = view.data;
    CHECK_OK(c, airy_job_get_array(rows->job, "radial", &view));
    rows->radial = view.data;
}

static bool count_rows(void *user, const airy_job_event *event)
{
    *(size_t *)user += event->kind == AIRY_JOB_EVENT_ROW;
    return true;
}

/* One file a frame, in each format; their names; what there is already. */
static void check_files(struct check *c)
{
    static const struct {
        const char *name;
        size_t head, columns;
    } kinds[] = {{"a.xye", 0, 2}, {"a.xy", 0, 1}, {"a.chi", 4, 1}, {"a.dat", 0, 2}};
    static const char frames[] = "{\"frames\": \"1:10:4\"}";
    if (!check_case(c, "job_text_files"))
        return;
    struct rows rows;
    char name[NAME];
    const char *text, *stack = make_stack(c, SOUND);
    double lost = 1, ratio = 0;
    airy_host_view view;
    size_t events = 0;
    const airy_job_hooks hooks = {.event = count_rows, .user = &events};
    make_rows(c, &rows, stack, frames);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const char *output = check_run_path(c, kinds[i].name);
        airy_job *job = open_job(c, stack, output, frames, i % 2 ? &hooks : NULL);
        CHECK_OK(c, airy_job_run(job));
        CHECK(c, events == (i + 1) / 2 * 3);
        for (size_t row = 0; row < 3; row++) {
            const float *const columns[] = {rows.intensity + row * RUN_BINS,
                                            rows.sem + row * RUN_BINS};
            number_name(name, output, 1 + 4 * row);
            CHECK(c, has_numbers(name, kinds[i].head, rows.radial, columns, kinds[i].columns,
                                 RUN_BINS));
        }
        CHECK_OK(c, airy_job_get_text(job, "last_output", &text));
        CHECK(c, strcmp(text, name) == 0);
        number_name(name, output, 1);
        CHECK_OK(c, airy_job_get_text(job, "output", &text));
        CHECK(c, strcmp(text, name) == 0 && access(output, F_OK) != 0);
        CHECK_OK(c, airy_job_get_number(job, "lost", &lost));
        CHECK_OK(c, airy_job_get_number(job, "ratio", &ratio));
        CHECK(c, lost == 0 && ratio > 1);
        CHECK(c, airy_job_get_array(job, "intensity", &view) == AIRY_ERR_NOT_FOUND);
        CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "_000001.");
        airy_job_destroy(&job);
    }
    airy_job_destroy(&rows.job);
}

/* All frames in one file; groups of frames; a file of one frame has no number. */
static void check_table(struct check *c)
{
    static const char groups[] = "{\"sum\": 4}";
    if (!check_case(c, "job_text_table"))
        return;
    struct rows rows;
    const char *stack = make_stack(c, SOUND), *output = check_run_path(c, "t.dat"),
               *one = check_run_path(c, "one.xye"), *text;
    make_rows(c, &rows, stack, groups);
    const float *columns[6];
    for (size_t row = 0; row < 3; row++) {
        columns[2 * row] = rows.intensity + row * RUN_BINS;
        columns[2 * row + 1] = rows.sem + row * RUN_BINS;
    }
    airy_job *job = open_job(c, stack, output, groups, NULL);
    CHECK_OK(c, airy_job_set_flag(job, "one-table", true));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, has_numbers(output, 0, rows.radial, columns, 6, RUN_BINS));
    CHECK_OK(c, airy_job_get_text(job, "output", &text));
    CHECK(c, strcmp(text, output) == 0 &&
                 airy_job_get_text(job, "last_output", &text) == AIRY_ERR_NOT_FOUND);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_EXISTS, "t.dat");
    CHECK_OK(c, airy_job_set_flag(job, "force", true));
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
    airy_job_destroy(&rows.job);
    make_rows(c, &rows, stack, "{\"frames\": \"5\"}");
    const float *const row[] = {rows.intensity, rows.sem};
    job = open_job(c, stack, one, "{\"frames\": \"5\"}", NULL);
    CHECK_OK(c, airy_job_want(job, "intensity"));
    CHECK_OK(c, airy_job_run(job));
    CHECK(c, has_numbers(one, 0, rows.radial, row, 2, RUN_BINS));
    airy_host_view view = {.data = NULL};
    CHECK_OK(c, airy_job_get_array(job, "intensity", &view));
    CHECK(c, view.data && memcmp(view.data, rows.intensity, RUN_BINS * sizeof(float)) == 0);
    airy_job_destroy(&job);
    airy_job_destroy(&rows.job);
}

/* Names and what does not go with them: each a status with the parameter as subject. */
static void check_refused(struct check *c)
{
    static const struct {
        const char *json, *sentence;
    } bad[] = {
        {"{\"output\": \"a.txt\"}", "output 'a.txt': expected a name"},
        {"{\"output\": \"a.xye\"}", "output 'a.xye' has a column of errors"},
        {"{\"output\": \"a.xy\", \"bins\": \"20x9\"}", "output 'a.xy': two dimensions"},
        {"{\"output\": \"a.chi\", \"one-table\": true}", "one-table: output 'a.chi' is none"},
        {"{\"output\": \"a.h5\", \"one-table\": true}", "one-table: output 'a.h5' is none"},
        {"{\"one-table\": true}", "one-table goes with output"},
        {"{\"output\": \"a.dat\", \"resume\": true}", "resume: text files are complete"},
        {"{\"output\": \"a.dat\", \"format\": \"nxazint\"}", "format nxazint: output 'a.dat'"},
        {"{\"output\": \"a.dat\", \"grid\": \"2x4\"}", "grid: text files hold patterns alone"},
        {"{\"output\": \".dat\"}", "output '.dat': expected a name"},
    };
    if (!check_case(c, "job_text_refused"))
        return;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        airy_job *job = NULL;
        airy_error error;
        CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
        CHECK_OK(c, airy_job_set(job, "stack", "none.h5"));
        CHECK_OK(c, airy_job_set_json(job, bad[i].json));
        CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, bad[i].sentence);
        airy_error_get(&error);
        CHECK(c, error.subject == AIRY_SUBJECT_PARAMETER);
        airy_job_destroy(&job);
    }
}

static void check_text_of(struct check *c, const char *path, const char *part, bool wanted)
{
    char text[1 << 14] = "";
    FILE *file = fopen(path, "r");
    const size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        (void)fclose(file);
    CHECK(c, n > 0 && !strstr(text, part) == !wanted);
}

/* No input is written over, even by force; a name with a line feed is one line of the header. */
static void check_inputs(struct check *c)
{
    if (!check_case(c, "job_text_inputs"))
        return;
    const char *stack = make_stack(c, SOUND), *poni = check_run_path(c, "pose.dat"),
               *dark = check_run_path(c, "da\nrk\xc2\x9b.npy"),
               *output = check_run_path(c, "o.dat");
    static float zeros[RUN_PIXELS];
    const airy_image image = {
        .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {RUN_HEIGHT, RUN_WIDTH}, .data = zeros};
    CHECK_OK(c, airy_image_write(&image, dark, false));
    FILE *file = fopen(poni, "w");
    if (CHECK(c, file)) {
        fputs("poni_version: 2\nDetector: Detector\nDetector_config: {\"pixel1\": 1e-4, "
              "\"pixel2\": 1e-4}\nDistance: 0.1\nWavelength: 1e-10\n",
              file);
        (void)fclose(file);
    }
    airy_job *job = open_job(c, stack, poni, "{\"frames\": \"3\", \"force\": true}", NULL);
    CHECK_OK(c, airy_job_set(job, "poni", poni));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "which would be lost");
    check_text_of(c, poni, "Distance: 0.1", true);
    airy_job_destroy(&job);
    job = open_job(c, stack, output, "{\"frames\": \"3\"}", NULL);
    CHECK_OK(c, airy_job_set(job, "dark", dark));
    CHECK_OK(c, airy_job_run(job));
    check_text_of(c, output, "da\\nrk\\xc2\\x9b.npy\n# Flat field applied: False\n", true);
    check_text_of(c, output, "\xc2\x9b", false);
    airy_job_destroy(&job);
}

static bool stop_soon(void *user, size_t done, size_t total)
{
    (void)total;
    return done < *(const size_t *)user;
}

/* How many of the files are there. */
static size_t count_files(const char *output)
{
    char name[NAME];
    size_t count = 0;
    for (size_t i = 0; i < FRAMES; i++) {
        number_name(name, output, i);
        count += access(name, F_OK) == 0;
    }
    return count;
}

/* Runs that fail leave no file behind the first that is missing, and tell how to go on. */
static void check_failures(struct check *c)
{
    if (!check_case(c, "job_text_failures"))
        return;
    size_t most = 2;
    const airy_job_hooks hooks = {.progress = stop_soon, .user = &most};
    const char *stack = make_stack(c, SOUND), *output = check_run_path(c, "s.dat"), *go;
    airy_job *job = open_job(c, stack, output, NULL, &hooks);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "of 11 frames; go on with frames=");
    go = strstr(airy_last_error(), "frames=");
    CHECK(c, go && strtoul(go + strlen("frames="), NULL, 10) == count_files(output));
    CHECK_OK(c, airy_job_set_flag(job, "one-table", true));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "s.dat' is not written");
    airy_job_destroy(&job);
    stack = make_stack(c, FLIPPED);
    output = check_run_path(c, "b.dat");
    job = open_job(c, stack, output, NULL, NULL);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CORRUPT,
                "; on-error=skip frames=4:11:1 goes on without it");
    CHECK(c, count_files(output) == BAD);
    CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
    CHECK_OK(c, airy_job_set(job, "frames", "4:"));
    CHECK(c, airy_job_run(job) == AIRY_PARTLY);
    CHECK(c, count_files(output) == FRAMES - 1);
    airy_job_destroy(&job);
    job = open_job(c, stack, check_run_path(c, "n.dat"),
                   "{\"on-error\": \"skip\", \"frames\": \"4\"}", NULL);
    char *json = NULL;
    const char *text;
    CHECK(c, airy_job_run(job) == AIRY_PARTLY);
    CHECK(c, airy_job_get_text(job, "output", &text) == AIRY_ERR_NOT_FOUND);
    CHECK_OK(c, airy_job_results_json(job, &json));
    CHECK(c, json && strstr(json, "\"output\":null,"));
    CHECK(c, strncmp(airy_job_summary(job), "no file: 1 frame", 16) == 0);
    airy_job_text_free(json);
    airy_job_destroy(&job);
}

void check_job_text(struct check *c)
{
    check_files(c);
    check_table(c);
    check_refused(c);
    check_inputs(c);
    check_failures(c);
}
