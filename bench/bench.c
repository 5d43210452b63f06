/* airy bench: whole jobs, with the limit of the machine measured in the same run. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cli/program.h"
#include "cli/words.h"
#include "plot/gnuplot.h"

/* All there are, in the order in which they run. */
static const struct bench_kind benches[] = {
    {"decode", "chunks in page-locked memory to frames on the device", BENCH_STACK, true,
     bench_decode},
    {"integrate", "a file in the page cache to patterns in memory; --write: to a file",
     BENCH_GEOMETRY, true, bench_integrate},
    {"stages", "read, decode, + integrate, + write, each from the page cache and cold; --plot",
     BENCH_GEOMETRY, false, bench_stages},
    {"layouts", "one file by each layout of 'airy integrate', results compared bit by bit; --plot",
     BENCH_GEOMETRY, false, bench_layouts},
    {"start", "from a new process to the first patterns, step by step", BENCH_GEOMETRY, false,
     bench_start},
    {"latency", "one frame to its pattern: a chunk, a frame, a frame on the device", BENCH_GEOMETRY,
     false, bench_latency},
    {"peaks",
     "frames on the device, and a file in the page cache, to pixels that stand out and peaks",
     BENCH_GEOMETRY, false, bench_peaks},
    {"write",
     "frames in memory to chunks, to a file in TMPDIR and to a file a thread, by the host's "
     "threads whatever the device",
     BENCH_STACK, false, bench_write},
    {"scaling",
     "integrate on 1, 2, 4 ... cores, by as many commands and ranks, or on as many GPUs, beside "
     "what these can do; --plot",
     BENCH_GEOMETRY, false, bench_scaling},
    {"convolve", "2048 x 2048 by 15 x 15, direct and found to be of rank 1, f32 and f64",
     BENCH_ALONE, false, bench_convolve},
    {"convolve1d", "4 M elements by 15", BENCH_ALONE, false, bench_convolve1d},
    {"blur", "100 x 1024 x 1024, sigma 1, 2, 5, 10", BENCH_ALONE, false, bench_blur},
    {"filter",
     "medians of 3 x 3, 5 x 5, 15 x 15, 3 x 3 x 3, maximum and opening of 15 x 15, hampel of 5 x "
     "5; "
     "u8, u16, f32",
     BENCH_ALONE, false, bench_filter},
    {"stats", "mean, median, standard deviation and maximum of 2048 x 2048", BENCH_ALONE, false,
     bench_stats},
    {"clip", "a kappa-sigma clip to convergence of it", BENCH_ALONE, false, bench_clip},
    {"threshold", "a mask of it", BENCH_ALONE, false, bench_threshold},
    {"label", "its connected components", BENCH_ALONE, false, bench_label},
    {"measure", "their measures", BENCH_ALONE, false, bench_measure},
    {"chain", "clip, threshold, label and measure together", BENCH_ALONE, false, bench_chain},
    {"background", "its background from meshes of 64 x 64, subtracted", BENCH_ALONE, false,
     bench_background},
    {"oct", "raw spectra to profiles: on the device, host to host, frame by frame; steps, lengths",
     BENCH_ALONE, false, bench_oct},
    {"copy", "400 MB to the device and back, page-locked and not", BENCH_ALONE, false, bench_copy},
    {"memory", "the largest array and the largest blur that the device takes", BENCH_ALONE, false,
     bench_memory},
};

enum { BENCHES = sizeof(benches) / sizeof(benches[0]) };

#define FIELD(member) .offset = offsetof(struct bench_params, member)
#define SEEN(member)  .seen = offsetof(struct bench_params, member)

static const struct opt bench_options[] = {
    {.heading = "Job"},
    {.name = "case",
     .type = OPT_PARSED,
     FIELD(cases),
     SEEN(has_cases),
     .parse = bench_parse_cases,
     .argument = "NAME[,NAME...]",
     .fallback = "4M",
     .help =
         "selects the stacks to make where none is given: 4M, 4M-u16, 16M, sparse (0.01 counts a "
         "pixel), incompressible; all"},
    {.name = "frames",
     .type = OPT_COUNT,
     FIELD(frames),
     SEEN(has_frames),
     .lo = 1,
     .hi = 1000000,
     .argument = "N",
     .fallback = "by case, 64 to 1024",
     .help = "sets the frames of a case that is made"},
    {.name = "seconds",
     .type = OPT_FLOAT,
     FIELD(seconds),
     SEEN(has_seconds),
     .lo = 0.01,
     .hi = 3600,
     .argument = "S",
     .fallback = "2",
     .help = "repeats for at least this long, in s"},
    {.name = "replay",
     .type = OPT_COUNT,
     FIELD(replay),
     SEEN(has_replay),
     .lo = 1,
     .hi = 100000,
     .argument = "N",
     .fallback = "so that a call takes a third of --seconds",
     .help = "integrate: reads the stack N times in a row, for a steady state"},
    {.name = "larger-than-memory",
     .type = OPT_FLAG,
     FIELD(beyond_memory),
     .help = "makes so many frames that the case's chunks do not fit the machine's memory"},
    {.name = "write",
     .type = OPT_FLAG,
     FIELD(write),
     .help = "integrate, scaling: writes patterns into a file in TMPDIR, not only to memory"},
    {.name = "all",
     .type = OPT_FLAG,
     FIELD(all),
     .help = "integrate: times every splitting and error model, in one dimension and in two, each "
             "for a quarter of a second without --seconds"},
    {.name = "plot",
     .type = OPT_STRING,
     FIELD(plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "stages, layouts, scaling: also draws rates, limits and speed-up (.png, .svg, .pdf)"},
    {.name = "against",
     .type = OPT_STRING,
     FIELD(against),
     .argument = "AIRY",
     .help = "runs this build and the command AIRY of another build in turn with the same options, "
             "and prints the ratio of each figure; exit code 1 if this build is slower"},
    {.name = "rounds",
     .type = OPT_COUNT,
     FIELD(rounds),
     SEEN(has_rounds),
     .lo = 1,
     .hi = 100,
     .argument = "N",
     .fallback = "5",
     .help = "--against: sets how often each build runs"},
    {.name = "table",
     .type = OPT_FLAG,
     FIELD(table),
     .help = "prints a table to read instead of JSON"},
    {0},
};

/* What the command line asks for. */
struct choice {
    bool chosen[BENCHES];
    const char *stack; /* NULL: made */
};

/* What would make the picture fail after all has been measured. */
static int check_plot(const struct bench_params *p, const struct choice *choice)
{
    const struct common *common = &p->job.common;
    size_t cases = 0, drawn = 0;
    for (size_t i = 0; bench_case_name(i); i++)
        cases += p->cases[i] != 0;
    for (size_t k = 0; k < BENCHES; k++)
        drawn += choice->chosen[k] &&
                 (benches[k].run == bench_stages || benches[k].run == bench_layouts ||
                  benches[k].run == bench_scaling);
    if (cases > 1)
        return tool_usage(common, "--plot draws one case; name one with --case");
    if (drawn != 1)
        return tool_usage(common, "--plot draws stages, layouts or scaling: name one of them");
    if (!tool_has_suffix(p->plot, ".png") && !tool_has_suffix(p->plot, ".svg") &&
        !tool_has_suffix(p->plot, ".pdf"))
        return tool_usage(common, "--plot %s: expected a name that ends in .png, .svg or .pdf",
                          p->plot);
    return gnuplot_check(common);
}

/* Does a bench look at an option? Those that are not named here are for all. */
static bool is_used(const struct bench_kind *kind, const char *name)
{
    int (*const run)(struct bench *) = kind->run;
    if (strcmp(name, "replay") == 0)
        return run == bench_integrate || run == bench_layouts || run == bench_scaling ||
               run == bench_peaks;
    if (strcmp(name, "split") == 0 && run == bench_peaks)
        return false; /* its pixels are not split */
    if (strcmp(name, "write") == 0)
        return run == bench_integrate || run == bench_scaling;
    if (strcmp(name, "all") == 0)
        return run == bench_integrate;
    if (strcmp(name, "batch") == 0)
        return kind->wants >= BENCH_STACK && run != bench_write;
    if (strcmp(name, "case") == 0 || strcmp(name, "channel") == 0 || strcmp(name, "frames") == 0 ||
        strcmp(name, "larger-than-memory") == 0)
        return kind->wants >= BENCH_STACK;
    if (opt_section(&cmd_bench, name))
        return kind->wants == BENCH_GEOMETRY;
    return true;
}

/* An option that none of the chosen benches looks at is refused. */
static int check_used(const struct common *common, const struct choice *choice)
{
    size_t named = 0;
    const char *only = "";
    for (size_t k = 0; k < BENCHES; k++)
        if (choice->chosen[k] && named++ == 0)
            only = benches[k].name;
    for (size_t i = 0; i < common->given.count; i += 2) {
        const char *name = common->given.items[i];
        bool used = false;
        for (size_t k = 0; k < BENCHES; k++)
            used |= choice->chosen[k] && is_used(&benches[k], name);
        if (!used && named == 1)
            return tool_usage(common, "--%s: bench %s does not use it", name, only);
        if (!used)
            return tool_usage(common, "--%s: none of the benches named uses it", name);
        if (!choice->stack && strcmp(name, "channel") == 0)
            return tool_usage(common,
                              "--channel: cases that are made have no channels; name a stack");
        const char *section = opt_section(&cmd_bench, name);
        if (!choice->stack && section && strcmp(section, "Geometry") == 0)
            return tool_usage(common,
                              "--%s: cases that are made have a geometry of their own; "
                              "name a stack",
                              name);
    }
    return AIRY_EXIT_OK;
}

static bool is_given(const struct common *common, const char *name)
{
    for (size_t i = 0; i < common->given.count; i += 2)
        if (strcmp(common->given.items[i], name) == 0)
            return true;
    return false;
}

/* Every bench that is chosen reads the stack, and no option asks for one that is made. */
static int check_stack(const struct bench_params *p, const struct choice *choice)
{
    const struct common *common = &p->job.common;
    for (size_t k = 0; k < BENCHES; k++)
        if (choice->chosen[k] && benches[k].wants == BENCH_ALONE)
            return tool_usage(common, "bench %s makes its own data and does not read '%s'",
                              benches[k].name, choice->stack);
    return p->has_frames || p->has_cases || p->beyond_memory
               ? tool_usage(common, "--frames, --case and --larger-than-memory are for cases that "
                                    "are made, not for a stack")
               : AIRY_EXIT_OK;
}

static int choose(const struct bench_params *p, struct choice *choice)
{
    static const char *const overruled[] = {"write", "split", "error-model", "clip", "quantile"};
    const struct common *common = &p->job.common;
    const char *names[BENCHES];
    size_t named = 0;
    for (size_t i = 0; i < BENCHES; i++)
        names[i] = benches[i].name;
    for (size_t i = 0; i < common->inputs.count; i++) {
        const char *word = common->inputs.items[i];
        size_t k = 0;
        while (k < BENCHES && strcmp(word, names[k]) != 0)
            k++;
        if (k < BENCHES) {
            choice->chosen[k] = true;
            named++;
        } else if (!choice->stack && (strpbrk(word, "./") || strstr(word, "::"))) {
            choice->stack = word;
        } else {
            const char *near = tool_suggest(word, names, BENCHES);
            return near ? tool_usage(common, "unknown benchmark '%s', did you mean '%s'?", word,
                                     near)
                        : tool_usage(common, "unknown benchmark '%s'", word);
        }
    }
    for (size_t k = 0; named == 0 && k < BENCHES; k++)
        choice->chosen[k] = benches[k].by_default;
    if (choice->stack && check_stack(p, choice) != AIRY_EXIT_OK)
        return AIRY_EXIT_USAGE;
    for (size_t i = 0; p->all && i < sizeof(overruled) / sizeof(overruled[0]); i++)
        if (is_given(common, overruled[i]))
            return tool_usage(common, "--all and --%s exclude each other", overruled[i]);
    if (p->has_frames && p->beyond_memory)
        return tool_usage(common, "--frames and --larger-than-memory exclude each other");
    const int code = check_used(common, choice);
    return code == AIRY_EXIT_OK && p->plot ? check_plot(p, choice) : code;
}

/* A bench of the choice wants what is at least `wants`. */
static bool wanted(const struct choice *choice, enum bench_wants wants)
{
    for (size_t k = 0; k < BENCHES; k++)
        if (choice->chosen[k] && benches[k].wants >= wants)
            return true;
    return false;
}

static bool is_of_host(const struct bench_kind *kind)
{
    return kind->run == bench_write;
}

static airy_status open_device(struct bench *bench, const struct bench_kind *kind)
{
    struct common common = *bench->common;
    if (is_of_host(kind)) {
        if (common.device && strcmp(common.device, "cpu") != 0)
            tool_say(&common, "--device %s does not matter to %s, which the host does",
                     common.device, kind->name);
        common.device = "cpu";
    }
    airy_status status = team_open(&bench->team, &common);
    bench->device = status == AIRY_OK ? bench->team.devices[0] : NULL;
    if (status == AIRY_OK)
        status = airy_queue_create(&bench->queue, bench->device);
    if (status == AIRY_OK)
        status = airy_device_get_info(bench->device, &bench->info);
    bench->cpu = status == AIRY_OK && strcmp(bench->info.backend, "cpu") == 0;
    return status;
}

/* One bench, on a device of its own, so that its peaks are its own. */
static int run_one(struct bench *bench, const struct bench_kind *kind)
{
    const airy_status status = open_device(bench, kind);
    int code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(bench->common, status);
    if (code == AIRY_EXIT_OK && bench->team.count > 1 && kind->run != bench_integrate &&
        kind->run != bench_scaling)
        code = tool_usage(bench->common, "bench %s measures one device, not %zu", kind->name,
                          bench->team.count);
    if (code == AIRY_EXIT_OK && !bench->device_said && !is_of_host(kind)) {
        tool_say_device(bench->common, bench->device);
        bench->device_said = true;
    }
    if (code == AIRY_EXIT_OK) {
        const char *sample = bench->sample ? bench->sample : "", *slash = strrchr(sample, '/');
        tool_say(bench->common, "%s%s%s ...", kind->name, *sample ? " of " : "",
                 slash ? slash + 1 : sample);
        code = kind->run(bench);
    }
    if (bench->params->table)
        bench_show(bench);
    if (code == AIRY_EXIT_OK)
        code = tool_profile_all(bench->common, (const airy_device *const *)bench->team.devices,
                                bench->team.count);
    airy_queue_destroy(&bench->queue);
    team_close(&bench->team);
    bench->device = NULL;
    return code;
}

/* Each chosen bench on a stack that is open, or those that want none. */
static int run_chosen(struct bench *bench, const struct choice *choice)
{
    int code = AIRY_EXIT_OK;
    for (size_t k = 0; k < BENCHES && code == AIRY_EXIT_OK && !tool_interrupted(); k++)
        if (choice->chosen[k] && (benches[k].wants == BENCH_ALONE) == !bench->stack)
            code = run_one(bench, &benches[k]);
    return code;
}

/* On the stack at bench->path. */
static int run_stack(struct bench *bench, const struct choice *choice)
{
    bench->limits.wire = 0;
    airy_status status = bench_replayed(&bench->stack, bench, 1);
    if (status == AIRY_OK)
        status = airy_stack_get_info(bench->stack, &bench->stack_info);
    int code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(bench->common, status);
    if (code == AIRY_EXIT_OK && choice->stack && wanted(choice, BENCH_GEOMETRY))
        code = bench_find_geometry(bench);
    if (code == AIRY_EXIT_OK)
        code = run_chosen(bench, choice);
    airy_detector_arrays_destroy(&bench->arrays);
    airy_stack_destroy(&bench->stack);
    return code;
}

/* Each case in turn; only one of them is on the disk at a time. */
static int run_cases(struct bench *bench, const struct choice *choice)
{
    char path[4096];
    int code = AIRY_EXIT_OK;
    for (size_t turn = 1; turn <= BENCH_MAX_CASES && code == AIRY_EXIT_OK && !tool_interrupted();
         turn++) {
        size_t i = 0;
        while (bench_case_name(i) &&
               (bench->params->has_cases ? bench->params->cases[i] : i == 0) != turn)
            i++;
        if (!bench_case_name(i))
            break;
        bench->sample = bench_case_name(i);
        bench->path = path;
        code = bench_make_case(bench, path, i);
        if (code == AIRY_EXIT_OK)
            code = run_stack(bench, choice);
        bench_remove_folder(bench);
    }
    return code;
}

static int run_all(struct bench *bench, const struct choice *choice)
{
    int code = AIRY_EXIT_OK;
    tool_catch_interrupts();
    bench->sample = "";
    code = run_chosen(bench, choice);
    bench->sample = bench->path = choice->stack;
    if (code == AIRY_EXIT_OK && wanted(choice, BENCH_STACK))
        code = choice->stack ? run_stack(bench, choice) : run_cases(bench, choice);
    if (tool_interrupted())
        code = tool_fail(bench->common, "cancelled; %s",
                         json_array_size(bench->rows) ? "what was measured before is printed"
                                                      : "nothing was measured to the end");
    return code;
}

static int run_bench(void *user)
{
    struct bench_params *p = user;
    struct choice choice = {0};
    if (p->table && p->job.common.json)
        return tool_usage(&p->job.common, "--table and --json exclude each other");
    if (p->has_rounds && !p->against)
        return tool_usage(&p->job.common, "--rounds goes with --against");
    if (p->against && p->plot)
        return tool_usage(&p->job.common, "--against and --plot exclude each other");
    int code = bench_take_given(p);
    if (code == AIRY_EXIT_OK)
        code = choose(p, &choice);
    if (code != AIRY_EXIT_OK)
        return code;
    if (p->against)
        return bench_against(p);
    struct bench *bench = calloc(1, sizeof(*bench));
    if (!bench)
        return tool_fail(&p->job.common, "out of memory");
    bench->params = p;
    bench->common = &p->job.common;
    bench->rows = json_array();
    code = run_all(bench, &choice);
    bench_remove_folder(bench);
    if (!p->table && (code == AIRY_EXIT_OK || json_array_size(bench->rows) > 0)) {
        const int printed = tool_print_json(bench->common, json_incref(bench->rows));
        code = code == AIRY_EXIT_OK ? printed : code;
    }
    json_decref(bench->rows);
    free(bench);
    return code;
}

static bool bench_word(size_t index, struct opt_word *word)
{
    if (index < BENCHES)
        *word = (struct opt_word){benches[index].name, benches[index].help};
    return index < BENCHES;
}

const struct command cmd_bench = {
    .name = "bench",
    .usage = "[BENCH...] [STACK] [options]",
    .summary = BENCH_SUMMARY,
    .details =
        "Prints [{name, case, device, value, unit, p10, p90, limit, limit_name, ratio, "
        "first_call, ...}] (docs/command.md). Without STACK cases are made in TMPDIR and removed: "
        "\"4M\" is Eiger 4M uint32 frames, one Poisson frame around 100/(1+q^2) plus (frame "
        "index mod 500), 2.4 MB each. first_call is in seconds; on the CPU limits are copies by "
        "all threads, on a device "
        "copies to it and inside it.",
    .examples = "  airy bench decode --device cpu\n"
                "  airy bench integrate --case all --device gpu --table\n"
                "  airy bench integrate series_master.h5 --poni lab6.poni\n"
                "  airy bench integrate peaks --against /opt/airy-old/bin/airy --table\n",
    .words = "Benches (the first two where none is named)",
    .word = bench_word,
    .borrows = "integrate",
    .borrowed = bench_borrows,
    .tables = {NULL, bench_options},
    .takes = TAKES_COMPUTE | TAKES_DEVICES,
    .params_size = sizeof(struct bench_params),
    .min_inputs = 0,
    .max_inputs = BENCHES + 1,
    .run = run_bench,
};
