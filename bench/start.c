/*
 * airy bench start: from nothing to the first pattern, step by step. Each sample is a process of
 * its own, started anew ("airy bench-start"), because a driver is loaded only once in a process.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* Ends of the steps, in order; s since the process was asked for. */
enum step { STEP_MAIN, STEP_DEVICE, STEP_STACK, STEP_INTEGRATOR, STEP_FIRST, STEP_ALL, STEPS };
static const char *const step_names[STEPS] = {
    [STEP_MAIN] = "main",   [STEP_DEVICE] = "device",
    [STEP_STACK] = "stack", [STEP_INTEGRATOR] = "integrator",
    [STEP_FIRST] = "first", [STEP_ALL] = "all",
};

/* The child: what `airy integrate` does, with a look at the clock behind each step. */
struct start {
    struct bench bench;
    double marks[STEPS];
    double matrix; /* s of the integrator's step without its corrections */
};

static bool note_first(void *user, size_t done, size_t total)
{
    (void)total;
    struct start *start = user;
    if (start->marks[STEP_FIRST] == 0 && done > 0)
        start->marks[STEP_FIRST] = tool_now();
    return true;
}

static int open_start(struct start *start)
{
    struct bench *bench = &start->bench;
    airy_status status = tool_device(bench->common, &bench->device);
    start->marks[STEP_DEVICE] = tool_now();
    if (status == AIRY_OK)
        status = bench_replayed(&bench->stack, bench, 1);
    if (status == AIRY_OK)
        status = airy_stack_get_info(bench->stack, &bench->stack_info);
    if (status != AIRY_OK)
        return tool_failed(bench->common, status);
    const int code = bench_find_geometry(bench);
    start->marks[STEP_STACK] = tool_now();
    return code;
}

static airy_status run_to_end(struct start *start)
{
    struct bench *bench = &start->bench;
    airy_integrator *integrator = NULL;
    airy_run_info info;
    const airy_run_params run = {
        .batch = bench->params->batch, .progress = note_first, .user = start};
    airy_status status = bench_integrator(&integrator, bench);
    start->marks[STEP_INTEGRATOR] = tool_now();
    airy_integrator_info made;
    if (status == AIRY_OK)
        status = airy_integrator_get_info(integrator, &made);
    if (status == AIRY_OK)
        start->matrix = made.matrix_seconds + made.sums_seconds + made.tables_seconds;
    if (status == AIRY_OK)
        status = airy_integrate_stack(NULL, bench->stack, &integrator, 1, &run, &info);
    start->marks[STEP_ALL] = tool_now();
    airy_integrator_destroy(&integrator);
    return status;
}

static int print_start(const struct start *start)
{
    airy_start_info info;
    const airy_status status = airy_device_start(start->bench.device, &info);
    if (status != AIRY_OK)
        return tool_failed(start->bench.common, status);
    json_t *root = json_pack("{s:f, s:f, s:f, s:i, s:i}", "context_s", info.context_seconds,
                             "matrix_s", start->matrix, "programs_s", info.programs_seconds,
                             "programs", (int)info.programs, "compiled", (int)info.compiled);
    for (int i = 0; root && i < STEPS; i++)
        json_object_set_new(root, step_names[i], json_real(start->marks[i]));
    return tool_print_json(start->bench.common, root);
}

static int run_start(void *user)
{
    struct bench_params *p = user;
    struct start *start = calloc(1, sizeof(*start));
    if (!start)
        return tool_fail(&p->job.common, "out of memory");
    start->marks[STEP_MAIN] = tool_now();
    start->bench.params = p;
    start->bench.common = &p->job.common;
    start->bench.path = p->job.common.inputs.items[0];
    int code = bench_take_given(p);
    if (code == AIRY_EXIT_OK)
        code = open_start(start);
    if (code == AIRY_EXIT_OK) {
        const airy_status status = run_to_end(start);
        code = status == AIRY_OK ? print_start(start) : tool_failed(start->bench.common, status);
    }
    airy_detector_arrays_destroy(&start->bench.arrays);
    airy_stack_destroy(&start->bench.stack);
    airy_device_destroy(&start->bench.device);
    free(start);
    return code;
}

const struct command cmd_bench_start = {
    .name = "bench-start",
    .usage = "STACK [options]",
    .summary = "a sample of 'airy bench start', which starts it",
    .borrows = "integrate",
    .borrowed = bench_borrows,
    .takes = TAKES_COMPUTE | TAKES_DEVICES,
    .params_size = sizeof(struct bench_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .run = run_start,
};

/* What was measured, all samples but the first in the times. */
struct samples {
    struct timing steps[STEPS]; /* each step's own length */
    struct timing matrix, context, programs, result, beyond;
    int program_count, compiled;
};

/* Fill in "airy bench-start STACK" with the options of the command line that it takes. */
static void fill_words(struct bench_words *words, const struct bench *bench)
{
    const struct common *common = bench->common;
    bench_words_add(words, "airy");
    bench_words_add(words, "%s", cmd_bench_start.name);
    bench_words_add(words, "%s", bench->path);
    bench_words_add(words, "--device=%s", airy_device_spec(bench->device));
    if (common->threads)
        bench_words_add(words, "--threads=%zu", common->threads);
    if (common->memory_limit)
        bench_words_add(words, "--memory-limit=%llu", (unsigned long long)common->memory_limit);
    bench_words_add_given(words, common);
}

/* Run the words as a process. Returns NULL after a message of that process or of this one. */
static json_t *run_child(const struct bench *bench, const struct bench_words *words, double *asked)
{
    struct bench_child child;
    int status;
    const int failed = bench_child_start(&child, NULL, STDERR_FILENO, words);
    if (failed) {
        tool_fail(bench->common, "/proc/self/exe cannot be started: %s", strerror(failed));
        return NULL;
    }
    *asked = child.asked;
    return bench_child_end(&child, &status);
}

static double number(const json_t *answer, const char *key)
{
    return json_number_value(json_object_get(answer, key));
}

/* The first sample has cold caches: it stands apart. */
static void add_time(struct timing *t, size_t sample, double seconds)
{
    if (sample == 0)
        t->first = seconds;
    else
        t->times[t->count++] = seconds;
}

static void add_sample(struct samples *s, size_t sample, const json_t *answer, double asked)
{
    double before = asked;
    for (int i = 0; i < STEPS; i++) {
        const double end = number(answer, step_names[i]);
        add_time(&s->steps[i], sample, end - before);
        before = end;
    }
    const double result = number(answer, step_names[STEP_FIRST]) - asked,
                 device = number(answer, step_names[STEP_DEVICE]) -
                          number(answer, step_names[STEP_MAIN]);
    add_time(&s->matrix, sample, number(answer, "matrix_s"));
    add_time(&s->context, sample, number(answer, "context_s"));
    add_time(&s->programs, sample, number(answer, "programs_s"));
    add_time(&s->result, sample, result);
    add_time(&s->beyond, sample, result - device);
    s->program_count = (int)number(answer, "programs");
    s->compiled = (int)number(answer, "compiled");
}

static void report(struct bench *bench, struct samples *s)
{
    char note[96];
    static const char *const rows[STEPS] = {
        [STEP_MAIN] = "start: process",
        [STEP_DEVICE] = "start: device opened",
        [STEP_STACK] = "start: stack and geometry",
        [STEP_INTEGRATOR] = "start: integrator",
        [STEP_FIRST] = "start: to the first patterns",
        [STEP_ALL] = "start: the other patterns",
    };
    snprintf(note, sizeof(note), "%d programs, %d of them compiled; within the steps",
             s->program_count, s->compiled);
    for (int i = 0; i < STEPS; i++)
        bench_add_latency(bench, &s->steps[i],
                          &(struct bench_row){.name = rows[i], .unit = "s", .amount = 1});
    bench_add_latency(
        bench, &s->matrix,
        &(struct bench_row){.name = "start: the integrator's matrix",
                            .unit = "s",
                            .amount = 1,
                            .note = "with its sums and tables, and where the step waits for the "
                                    "context; within the step"});
    bench_add_latency(bench, &s->context,
                      &(struct bench_row){.name = "start: context alone",
                                          .unit = "s",
                                          .amount = 1,
                                          .note = "in a thread behind the opening"});
    bench_add_latency(
        bench, &s->programs,
        &(struct bench_row){.name = "start: programs", .unit = "s", .amount = 1, .note = note});
    bench_add_latency(bench, &s->result,
                      &(struct bench_row){.name = "first patterns after start",
                                          .unit = "s",
                                          .amount = 1,
                                          .limit = 0.4 +
                                                   bench_percentile(&s->steps[STEP_DEVICE], 0.5) +
                                                   bench_percentile(&s->context, 0.5),
                                          .limit_name = "device opened + context + 0.4 s"});
    bench_add_latency(
        bench, &s->beyond,
        &(struct bench_row){.name = "the same without the device", .unit = "s", .amount = 1});
}

int bench_start(struct bench *bench)
{
    struct bench_words words = {0};
    struct samples *s = calloc(1, sizeof(*s));
    int code = AIRY_EXIT_OK;
    fill_words(&words, bench);
    if (!s || words.lost)
        code = tool_fail(bench->common, "out of memory");
    const double begin = tool_now();
    size_t sample = 0;
    for (; code == AIRY_EXIT_OK && sample < BENCH_MAX_REPEATS &&
           (sample < 4 || tool_now() - begin < bench_seconds(bench)) && !tool_interrupted();
         sample++) {
        double asked = 0;
        json_t *answer = run_child(bench, &words, &asked);
        if (answer)
            add_sample(s, sample, answer, asked);
        else
            code = AIRY_EXIT_FAILED;
        json_decref(answer);
    }
    if (code == AIRY_EXIT_OK && sample > 1)
        report(bench, s);
    bench_words_free(&words);
    free(s);
    return code;
}
