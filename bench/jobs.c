/* Jobs that benches time: `airy integrate` from its start to its exit, and what it wrote. */
#include "jobs.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/result.h"

const char *layout_name(enum layout layout)
{
    const airy_parameter *parameter;
    for (size_t i = 0; (parameter = airy_job_parameter_at("integrate", i)); i++)
        if (strcmp(parameter->name, "layout") == 0)
            return parameter->words[layout];
    return "";
}

/* Return the memory limit of a process: several commands share it, or the memory of a device. */
static uint64_t memory_limit(const struct bench_job *job)
{
    const struct bench *bench = job->bench;
    const uint64_t limit = bench->common->memory_limit;
    if (job->kind != BENCH_JOB_COMMANDS)
        return limit;
    return (limit || bench->cpu ? limit : bench->info.memory) / job->processes;
}

/* Name the result of a process, which is that of the job unless there are several commands. */
static void name_part(char path[4352], const struct bench_job *job, size_t part)
{
    if (job->kind == BENCH_JOB_COMMANDS)
        snprintf(path, 4352, "%s.%zu.h5", job->path, part);
    else
        snprintf(path, 4352, "%s", job->path);
}

/* Add "airy integrate OPTIONS -- STACK...", with the stack as often as it is replayed. */
static void add_integrate(struct bench_words *words, const struct bench_job *job, size_t part)
{
    const struct bench *bench = job->bench;
    const size_t frames = job->replay * bench->stack_info.frames;
    const uint64_t limit = memory_limit(job);
    char path[4352];
    if (job->kind == BENCH_JOB_RANKS) { /* cores are the bench's to choose */
        char airy[TOOL_PATH] = "airy";
        tool_beside(airy, "airy");
        bench_words_add(words, "mpirun");
        bench_words_add(words, "--bind-to");
        bench_words_add(words, "none");
        bench_words_add(words, "-n");
        bench_words_add(words, "%zu", job->processes);
        bench_words_add(words, "%s", airy);
    } else
        bench_words_add(words, "airy");
    bench_words_add(words, "integrate");
    bench_words_add_given(words, bench->common);
    if (limit)
        bench_words_add(words, "--memory-limit=%llu", (unsigned long long)limit);
    bench_words_add(words, "--device=%s", job->spec);
    bench_words_add(words, "--layout=%s", layout_name(job->layout));
    if (job->threads)
        bench_words_add(words, "--threads=%zu", job->threads);
    if (job->kind == BENCH_JOB_COMMANDS)
        bench_words_add(words, "--frames=%zu:%zu", frames * part / job->processes,
                        frames * (part + 1) / job->processes);
    bench_words_add(words, "--json");
    bench_words_add(words, "--quiet");
    name_part(path, job, part);
    bench_words_add(words, "--output=%s", path);
    bench_words_add(words, "--");
    for (size_t i = 0; i < job->replay; i++)
        bench_words_add(words, "%s", bench->path);
}

static void add_merge(struct bench_words *words, const struct bench_job *job)
{
    char path[4352];
    bench_words_add(words, "airy");
    bench_words_add(words, "merge");
    bench_words_add(words, "--json");
    bench_words_add(words, "--quiet");
    bench_words_add(words, "--output=%s", job->path);
    bench_words_add(words, "--");
    for (size_t i = 0; i < job->processes; i++) {
        name_part(path, job, i);
        bench_words_add(words, "%s", path);
    }
}

/* Start the program of these words, and free them. 0 or an errno. */
static int start(struct bench_child *child, int errors, struct bench_words *words)
{
    char airy[TOOL_PATH] = "";
    const bool is_airy = words->list.count && strcmp(words->list.items[0], "airy") == 0;
    int failed = words->lost ? ENOMEM : is_airy && !tool_beside(airy, "airy") ? errno : 0;
    if (!failed)
        failed = bench_child_start(child, is_airy ? airy : words->list.items[0], errors, words);
    bench_words_free(words);
    return failed;
}

/* The first paragraph of a launcher's banner, in one line. */
static void load_banner(char why[256], int file)
{
    char text[2048];
    size_t used = 0;
    const ssize_t n = pread(file, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = 0;
    why[0] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        line += strspn(line, " \t");
        const bool words = *line && line[strspn(line, "-=*")];
        if (!words && used)
            break;
        if (words && used < 255)
            used += (size_t)snprintf(why + used, 256 - used, "%s%s", used ? " " : "", line);
    }
    tool_plain(why);
}

/*
 * Open MPI does not start more ranks than there are cores unless that is asked for, nor ranks of
 * root's unless they are asked for twice.
 */
static void allow_ranks(void)
{
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    if (geteuid() != 0)
        return;
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
}

/* Run the process of the job, or all commands at once. 0 or an errno. */
static int run_parts(struct bench_job *job, int errors)
{
    struct bench_child list[BENCH_PROCESSES_MAX];
    const size_t parts = job->kind == BENCH_JOB_COMMANDS ? job->processes : 1;
    size_t started = 0, whole = 0;
    int failed = 0, status;
    for (; started < parts && !failed; started += !failed) {
        struct bench_words words = {0};
        add_integrate(&words, job, started);
        failed = start(&list[started], errors, &words);
    }
    for (size_t i = 0; i < started; i++) {
        if (failed)
            kill(list[i].pid, SIGTERM);
        json_t *answer = bench_child_end(&list[i], &status);
        whole += answer != NULL;
        job->seconds = fmax(job->seconds, json_number_value(json_object_get(answer, "seconds")));
        job->frames += json_number_value(json_object_get(answer, "frames"));
        json_decref(answer);
    }
    if (whole < parts)
        job->seconds = job->frames = 0;
    return failed;
}

/* Merge the results of the commands, and remove them. 0 or an errno. */
static int merge_parts(struct bench_job *job)
{
    struct bench_words words = {0};
    char path[4352];
    struct bench_child merge;
    int status;
    const double begin = tool_now();
    add_merge(&words, job);
    const int failed = start(&merge, STDERR_FILENO, &words);
    json_t *answer = failed ? NULL : bench_child_end(&merge, &status);
    job->seconds = answer ? job->seconds + tool_now() - begin : 0;
    json_decref(answer);
    for (size_t i = 0; i < job->processes; i++) {
        name_part(path, job, i);
        unlink(path);
    }
    return failed;
}

int bench_job_run(struct bench_job *job)
{
    const bool ranks = job->kind == BENCH_JOB_RANKS;
    const int banner = ranks ? memfd_create("airy-banner", MFD_CLOEXEC) : STDERR_FILENO;
    job->seconds = job->frames = 0;
    job->why[0] = 0;
    if (banner < 0)
        return errno;
    if (ranks)
        allow_ranks();
    const double begin = tool_now();
    int failed = run_parts(job, banner);
    if (job->kind == BENCH_JOB_COMMANDS && job->seconds > 0)
        failed = merge_parts(job);
    job->wall = tool_now() - begin;
    if (ranks) {
        load_banner(job->why, banner);
        close(banner);
    }
    return failed;
}

const char *bench_job_why(const struct bench_job *job, int failed)
{
    return failed ? strerror(failed) : *job->why ? job->why : "mpirun has failed";
}

/* All of a plane, malloc'ed; NULL where the result has none. */
static void *load(size_t *size, airy_result *result, const char *name)
{
    airy_result_plane plane;
    if (airy_result_find_plane(result, name, &plane) != AIRY_OK)
        return NULL;
    *size = plane.rows * plane.cells * airy_dtype_size(plane.dtype);
    void *values = malloc(*size + 1);
    if (values &&
        airy_result_read(result, name, 0, plane.rows, plane.dtype, values, *size) != AIRY_OK) {
        free(values);
        values = NULL;
    }
    return values;
}

/* Return whether `all` consists of the bytes of `one` again and again. */
static bool repeats(const void *all, size_t size, const void *one, size_t step)
{
    for (size_t at = 0; at < size && step > 0; at += step)
        if (memcmp((const char *)all + at, one, size - at < step ? size - at : step) != 0)
            return false;
    return step > 0;
}

const char *bench_job_difference(const struct bench_job *job, const char *other, bool replayed)
{
    enum { RESULTS = 3, OF_FRAMES = 7 };
    static const char *const names[] = {
        "result/intensity",    "result/std",   "result/sem", "merged/sum_signal",
        "merged/sum_variance", "frame/status", "frame/max",  "merged/sum_normalization",
        "merged/count"};
    const size_t start = job->kind == BENCH_JOB_COMMANDS && !job->bench->cpu ? RESULTS : 0;
    airy_result *results[2] = {NULL, NULL};
    const char *different = airy_result_open(&results[0], job->path) == AIRY_OK &&
                                    airy_result_open(&results[1], other) == AIRY_OK
                                ? NULL
                                : names[start];
    for (size_t i = start; !different && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t size = 0, other_size = 0;
        void *one = load(&size, results[0], names[i]),
             *two = load(&other_size, results[1], names[i]);
        const bool there = one != NULL;
        const bool same = there == (two != NULL) &&
                          (!there || ((size == other_size || replayed || i >= OF_FRAMES) &&
                                      (size < other_size ? repeats(two, other_size, one, size)
                                                         : repeats(one, size, two, other_size))));
        free(one);
        free(two);
        if (!same || (i == start && !there))
            different = names[i];
    }
    for (size_t k = 0; k < 2; k++)
        airy_result_close(&results[k]);
    return different;
}
