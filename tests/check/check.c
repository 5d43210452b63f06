#include "check.h"

#include <fnmatch.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "check_cl_faults.h"
#include "check_state.h"
#include "commit.h"

/* The families, in the order of the layers they stand on. One line each. */
static const struct {
    const char *name;
    void (*run)(struct check *c);
} families[] = {
    {"core", check_core},
    {"error", check_error},
    {"opencl", check_opencl},
    {"cpu-integrate", check_cpu_integrate},
    {"codec", check_codec},
    {"stack", check_stack},
    {"image", check_image},
    {"fits", check_fits},
    {"formats", check_formats},
    {"sky", check_sky},
    {"table", check_tables},
    {"geometry", check_geometry},
    {"integrate", check_integrate},
    {"peaks", check_peaks},
    {"rings", check_rings},
    {"calibrate", check_calibrate},
    {"pattern", check_pattern},
    {"pipeline", check_pipeline},
    {"run", check_pipeline_parts},
    {"rows", check_rows},
    {"live", check_live},
    {"log", check_log},
    {"merge", check_merge},
    {"around", check_around},
    {"quote", check_quote},
    {"sparse", check_sparse_files},
    {"reduce", check_reduce},
    {"reduce_stack", check_reduce_stack},
    {"job", check_job},
    {"job_all", check_job_all},
    {"job_convert", check_job_convert},
    {"job_filter", check_job_filter},
    {"job_simulate", check_job_simulate},
    {"job_oct", check_job_oct},
    {"job_integrate", check_job_integrate},
    {"job_params", check_job_params},
    {"job_live", check_job_live},
    {"job_follow", check_job_follow},
    {"job_text", check_job_text},
    {"job_ranks", check_job_ranks},
    {"job_rivals", check_job_rivals},
    {"job_events", check_job_events},
    {"job_results", check_job_results},
    {"job_stream", check_job_stream},
    {"info", check_info},
    {"label", check_label},
    {"element", check_element},
    {"move", check_move},
    {"fft", check_fft},
    {"filter", check_filter},
    {"stencil", check_stencil},
    {"rank", check_rank},
    {"hampel", check_hampel},
    {"background", check_backgrounds},
    {"sources", check_sources},
    {"tile", check_tile},
    {"oct", check_oct},
    {"frames", check_frame_files},
    {"oct_config", check_oct_config},
    {"oct_stack", check_oct_stack},
    {"oct_stream", check_oct_stream},
    {"ring", check_ring},
    {"stream", check_stream},
    {"stream_send", check_stream_send},
    {"result", check_result},
    {"oct_calibrate", check_oct_calibrate},
    {"simulated_oct", check_simulated_oct},
    {"null", check_null},
    {"tuning", check_tuning},
    {"opencl_kernels", check_opencl_kernels},
    {"opencl_integrate", check_opencl_integrate},
    {"opencl_split", check_opencl_split},
};

enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

static const char runner[] = "runner";

struct options {
    const char **specs;
    size_t spec_count;
    bool all_devices, bench;
    const char *json;
    uint64_t seed;
    unsigned part, parts; /* every parts-th family, from number part on; 0: all */
};

/* For the handler of crashes, which may use little else. */
static const char *volatile running;

static void on_crash(int number)
{
    static const char before[] = "# crashed in case ";
    const char *name = running;
    if (name && write(STDOUT_FILENO, before, sizeof(before) - 1) > 0 &&
        write(STDOUT_FILENO, name, strlen(name)) > 0)
        (void)!write(STDOUT_FILENO, "\n", 1);
    signal(number, SIG_DFL);
    raise(number);
}

/* The sanitizers have better handlers of their own. */
static void watch_crashes(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    signal(SIGFPE, on_crash);
    signal(SIGABRT, on_crash);
#else
    (void)on_crash;
#endif
}

static bool is_meant(const struct check_state *s, const char *pattern, const char *name)
{
    return fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, s->family, 0) == 0;
}

/* Any of the patterns, and none of those behind a '!'. */
static bool is_wanted(const struct check_state *s, const char *name)
{
    bool any = false, wanted = false;
    for (size_t i = 0; i < s->filter_count; i++) {
        const char *pattern = s->filters[i];
        if (*pattern == '!' && is_meant(s, pattern + 1, name))
            return false;
        any |= *pattern != '!';
        wanted |= *pattern != '!' && is_meant(s, pattern, name);
    }
    return wanted || !any;
}

static uint64_t hash_name(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, 64 bits */
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h;
}

/* Of all threads, an OpenCL device's on the host among them: what a case costs on a busy machine. */
static double processor_seconds(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether a case that is meant is among those of the sample; the runner's own case always is. */
static bool is_sampled(struct check_state *s, const char *spec)
{
    const unsigned every = s->every                          ? s->every
                           : strncmp(spec, "opencl", 6) == 0 ? s->opencl_every
                                                             : s->cpu_every;
    return !every || s->family == runner || s->met++ % every == s->slice % every;
}

bool check_case(struct check *c, const char *format, ...)
{
    struct check_state *s = c->state;
    char name[CHECK_NAME];
    check_end(c);
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    if (!is_wanted(s, name) || !is_sampled(s, c->spec))
        return false;
    if (s->list) {
        printf("%s/%s on %s\n", s->family, name, c->spec);
        return false;
    }
    memcpy(s->name, name, sizeof(name));
    running = s->name;
    s->failed = s->skipped = false;
    s->messages = 0;
    s->stream = hash_name(name);
    s->drawn = 0;
    s->begun_s = processor_seconds();
    if (s->records)
        s->record =
            json_pack("{s:s, s:s, s:s}", "family", s->family, "case", name, "device", c->spec);
    return true;
}

static void print_result(struct check *c, const char *status)
{
    struct check_state *s = c->state;
    s->number++;
    printf("%s %zu %s/%s on %s", strcmp(status, "failed") == 0 ? "not ok" : "ok", s->number,
           s->family, s->name, c->spec);
    if (s->record) {
        json_object_set_new(s->record, "status", json_string(status));
        json_object_set_new(s->record, "processor_s", json_real(processor_seconds() - s->begun_s));
        json_array_append_new(s->records, s->record);
        s->record = NULL;
    }
}

void check_skip(struct check *c, const char *format, ...)
{
    struct check_state *s = c->state;
    if (!s->name[0] || s->skipped || s->failed)
        return;
    s->skipped = true;
    s->skips++;
    print_result(c, "skipped");
    printf(" # SKIP ");
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

void check_end(struct check *c)
{
    struct check_state *s = c->state;
    if (!s->name[0])
        return;
    if (!s->skipped) {
        const airy_status status = airy_queue_finish(c->queue);
        if (status != AIRY_OK)
            check_failed(c, __FILE__, __LINE__, "work left on the queue failed: %s: %s",
                         airy_status_name(status), airy_last_error());
        check_guards(c);
        print_result(c, s->failed ? "failed" : "passed");
        printf("\n");
        fflush(stdout);
        *(s->failed ? &s->failures : &s->passed) += 1;
    }
    check_free_case(c);
    s->name[0] = 0;
    running = NULL;
}

void check_note(struct check *c, const char *format, ...)
{
    struct check_state *s = c->state;
    if (s->messages++ >= CHECK_MESSAGES)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (char *p = text; (p = strchr(p, '\n')) != NULL;)
        *p = ' ';
    printf("#   %s\n", text);
    fflush(stdout);
}

/* The environment that a case needs to fail in the same way, too. */
static void print_again(const struct check *c)
{
    static const char *const names[] = {"AIRY_CPU", "POCL_EXTRA_BUILD_FLAGS"};
    const struct check_state *s = c->state;
    printf("# %s/%s on %s; run it again:", s->family, s->name, c->spec);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            printf(" %s='%s'", names[i], getenv(names[i]));
    printf(" %s --device %s --seed %llu", s->program, c->spec, (unsigned long long)c->seed);
    if (s->threads)
        printf(" --threads %u", s->threads);
    printf("%s '%s'\n", s->shared ? " --shared" : "", s->name);
}

bool check_failed(struct check *c, const char *file, int line, const char *format, ...)
{
    struct check_state *s = c->state;
    char text[768];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    const char *base = strrchr(file, '/');
    if (!s->failed)
        print_again(c);
    check_note(c, "%s:%d: %s", base ? base + 1 : file, line, text);
    s->failed = true;
    return false;
}

bool check_status(struct check *c, const char *file, int line, const char *expr, airy_status got,
                  airy_status want)
{
    if (got == want)
        return true;
    return check_failed(c, file, line, "%s: got %s, want %s: %s", expr, airy_status_name(got),
                        airy_status_name(want), got == AIRY_OK ? "" : airy_last_error());
}

bool check_count(struct check *c, const char *file, int line, const char *expr, size_t got,
                 size_t want)
{
    return got == want || check_failed(c, file, line, "%s: got %zu, want %zu", expr, got, want);
}

bool check_fails(struct check *c, const char *file, int line, const char *expr, airy_status got,
                 airy_status want, const char *part)
{
    if (!check_status(c, file, line, expr, got, want))
        return false;
    if (strstr(airy_last_error(), part))
        return true;
    return check_failed(c, file, line, "%s: the sentence '%s' lacks '%s'", expr, airy_last_error(),
                        part);
}

static void begin_family(struct check_state *s, const char *name)
{
    s->family = name;
    s->met = 0;
}

/* The runner's own cases: a device opens, and has all its memory back at the end. */
static void run_device(struct check *c, const struct options *o, const char *spec)
{
    struct check_state *s = c->state;
    const airy_device_params params = {.threads = s->threads};
    c->device = NULL;
    c->queue = NULL;
    c->spec = spec;
    s->copy_rate = 0;
    if (airy_device_create(&c->device, spec, &params) != AIRY_OK ||
        airy_queue_create(&c->queue, c->device) != AIRY_OK) {
        printf("not ok %zu device %s\n#   %s\n", ++s->number, spec, airy_last_error());
        s->failures++;
        airy_device_destroy(&c->device);
        return;
    }
    airy_device_info info;
    (void)airy_device_get_info(c->device, &info);
    c->spec = airy_device_spec(c->device);
    c->is_cpu = strcmp(info.backend, "cpu") == 0;
    if (s->shared && !c->is_cpu)
        check_cl_share(c->device);
    printf("# device %s: %s; %s; %u units\n", c->spec, info.name, info.driver, info.units);
    for (size_t i = o->part; i < FAMILIES; i += o->parts ? o->parts : 1) {
        begin_family(s, families[i].name);
        families[i].run(c);
        check_end(c);
    }
    begin_family(s, runner);
    char held[96] = "";
    if (check_case(c, "memory_given_back")) {
        airy_memory_info memory = {0};
        airy_queue_destroy(&c->queue);
        CHECK_OK(c, airy_queue_create(&c->queue, c->device));
        CHECK_OK(c, airy_device_memory(c->device, &memory));
        snprintf(held, sizeof(held), "%llu bytes in %llu pieces, host %llu",
                 (unsigned long long)memory.in_use, (unsigned long long)memory.count,
                 (unsigned long long)memory.host_in_use);
        if (memory.in_use || memory.count || memory.host_in_use)
            check_failed(c, __FILE__, __LINE__, "still held: %s", held);
    }
    check_end(c);
    airy_queue_destroy(&c->queue);
    airy_device_destroy(&c->device);
}

static void run_all_devices(struct check *c, const struct options *o)
{
    airy_device_info *list;
    size_t count;
    if (airy_device_list(&list, &count) != AIRY_OK) {
        printf("not ok %zu device list\n#   %s\n", ++c->state->number, airy_last_error());
        c->state->failures++;
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (list[i].usable) {
            run_device(c, o, list[i].spec);
        } else {
            printf("ok %zu device %s # SKIP %s\n", ++c->state->number, list[i].spec, list[i].why);
            c->state->skips++;
        }
    airy_device_list_free(list);
}

/* True if AIRY_CPU asks for a set that this machine has (or for none). */
static bool has_cpu_set(void)
{
    const char *mask = getenv("AIRY_CPU");
    return !mask || !*mask || strcmp(mask, airy_cpu_name()) == 0;
}

static void print_usage(void)
{
    printf("usage: airy-check [options] [NAME...]\n"
           "NAME: a case or a family, with * and ? as in file names; without one, all cases run,\n"
           "      and those behind a '!' never.\n"
           "  --device SPEC   run on this device; may be given several times (default: cpu)\n"
           "  --all-devices   run on every device that is usable\n"
           "  --shared        on PoCL, too, kernels tell results in memory of the host\n"
           "  --part I/N      part I of N, 1 to N: every N-th family\n"
           "  --every N       one of every N cases of each family: the first, or the one after\n"
           "                  $CHECK_SLICE modulo N others\n"
           "  --cpu-every N, --opencl-every N\n"
           "                  the same on these devices alone; all cases if CHECK_SLICE=all\n"
           "  --threads N     size of the CPU pool\n"
           "  --bench         time the cases that have timings\n"
           "  --json FILE     write results, timings and each case's processor time\n"
           "  --seed N        of the random numbers (default 1)\n"
           "  --list          print the names only\n");
}

static bool parse_count(const char *text, uint64_t limit, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == 0 && *value <= limit)
        return true;
    fprintf(stderr, "airy-check: '%s' is no number up to %llu\n", text, (unsigned long long)limit);
    return false;
}

/* "2/4" */
static bool parse_part(struct options *o, const char *text)
{
    char rest;
    if (sscanf(text, "%2u/%2u%c", &o->part, &o->parts, &rest) != 2 || o->part < 1 ||
        o->part > o->parts) {
        fprintf(stderr, "airy-check: --part '%s', expected I/N with 1 <= I <= N\n", text);
        return false;
    }
    o->part--;
    return true;
}

/* 0 go on, else the exit status + 1. */
static int parse(struct options *o, struct check_state *s, int argc, char **argv)
{
    static const struct option table[] = {{"device", required_argument, NULL, 'd'},
                                          {"all-devices", no_argument, NULL, 'a'},
                                          {"shared", no_argument, NULL, 'm'},
                                          {"part", required_argument, NULL, 'p'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"cpu-every", required_argument, NULL, 'c'},
                                          {"opencl-every", required_argument, NULL, 'o'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"bench", no_argument, NULL, 'b'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    uint64_t number = 0;
    for (int option; (option = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (option) {
        case 'd':
            o->specs[o->spec_count++] = optarg;
            break;
        case 'a':
            o->all_devices = true;
            break;
        case 'm':
            s->shared = true;
            break;
        case 'p':
            if (!parse_part(o, optarg))
                return 3;
            break;
        case 'e':
            if (!parse_count(optarg, 1000, &number))
                return 3;
            s->every = (unsigned)number;
            break;
        case 'c':
        case 'o':
            if (!parse_count(optarg, 1000, &number))
                return 3;
            *(option == 'c' ? &s->cpu_every : &s->opencl_every) = (unsigned)number;
            break;
        case 't':
            if (!parse_count(optarg, 1024, &number))
                return 3;
            s->threads = (unsigned)number;
            break;
        case 'b':
            o->bench = true;
            break;
        case 'j':
            o->json = optarg;
            break;
        case 's':
            if (!parse_count(optarg, UINT64_MAX, &o->seed))
                return 3;
            break;
        case 'l':
            s->list = true;
            break;
        case 'h':
            print_usage();
            return 1;
        default:
            return 3;
        }
    }
    s->program = argv[0];
    s->filters = argv + optind;
    s->filter_count = (size_t)(argc - optind);
    const char *slice = getenv("CHECK_SLICE");
    if (slice && strcmp(slice, "all") == 0)
        s->cpu_every = s->opencl_every = 0;
    else if (slice && !parse_count(slice, UINT_MAX, &s->slice))
        return 3;
    return 0;
}

static json_t *describe_devices(void)
{
    json_t *array = json_array();
    airy_device_info *list;
    size_t count;
    if (airy_device_list(&list, &count) != AIRY_OK)
        return array;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:b}", "spec", list[i].spec, "name",
                                               list[i].name, "driver", list[i].driver, "usable",
                                               list[i].usable));
    airy_device_list_free(list);
    return array;
}

static bool write_json(const struct check_state *s, const struct options *o)
{
    json_t *root = json_pack("{s:s, s:s, s:s, s:I, s:b, s:o, s:o}", "version", airy_version(),
                             "commit", CHECK_COMMIT, "cpu", airy_cpu_name(), "seed",
                             (json_int_t)o->seed, "bench", o->bench, "devices", describe_devices(),
                             "cases", s->records);
    const bool ok = root &&
                    json_dump_file(root, o->json, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
    if (!ok)
        fprintf(stderr, "airy-check: cannot write %s\n", o->json);
    json_decref(root);
    return ok;
}

int main(int argc, char **argv)
{
    static struct check_state state;
    const char **specs = calloc((size_t)argc + 1, sizeof(*specs));
    struct options o = {.specs = specs, .seed = 1};
    const int stop = specs ? parse(&o, &state, argc, argv) : 2;
    if (stop || !specs) {
        free(specs);
        return stop - 1;
    }
    if (!has_cpu_set()) {
        printf("1..0 # SKIP this machine has no %s\n", getenv("AIRY_CPU"));
        free(specs);
        return 0;
    }
    watch_crashes();
    if (o.json)
        state.records = json_array();
    struct check c = {.bench = o.bench, .seed = o.seed, .state = &state};
    if (!state.list)
        printf("# airy %s, commit %s, SIMD %s, seed %llu\n", airy_version(), CHECK_COMMIT,
               airy_cpu_name(), (unsigned long long)o.seed);
    if (o.all_devices)
        run_all_devices(&c, &o);
    else if (o.spec_count == 0)
        run_device(&c, &o, "cpu");
    for (size_t i = 0; i < o.spec_count && !o.all_devices; i++)
        run_device(&c, &o, specs[i]);
    free(specs);
    bool ok = state.failures == 0;
    if (o.json && !write_json(&state, &o))
        ok = false;
    if (state.list)
        return 0;
    printf("1..%zu\n", state.number);
    printf("# %zu passed, %zu failed, %zu skipped\n", state.passed, state.failures, state.skips);
    if (state.number == 0)
        fprintf(stderr, "airy-check: no case has such a name\n");
    if (ok)
        check_remove_tmp(&state);
    return ok && state.number > 0 ? 0 : 1;
}
