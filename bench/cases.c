/* The stacks that `airy bench` makes by itself, and the folder they lie in. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "bench.h"
#include "cli/memory_limits.h"
#include "cli/words.h"
#include "simulate/simulated.h"
#include "cli/stack_out.h"

/* The curve is 100/(1+q^2), or level. */
struct bench_case {
    const char *name, *detector;
    airy_dtype dtype;
    size_t frames;    /* where --frames is not given */
    size_t increment; /* added to one Poisson frame */
    size_t distinct;  /* frames, where nothing is added */
    double level;     /* counts a pixel; 0: the curve */
    bool incompressible;
    double ratio; /* a frame is stored in raw size / ratio or less */
};

static const struct bench_case cases[] = {
    {"4M", "eiger_4M", AIRY_DTYPE_U32, 256, 500, 1, 0, false, 7.2},
    {"4M-u16", "eiger_4M", AIRY_DTYPE_U16, 256, 500, 1, 0, false, 3.7},
    {"16M", "eiger_16M", AIRY_DTYPE_U32, 128, 500, 1, 0, false, 7.2},
    {"sparse", "eiger_4M", AIRY_DTYPE_U32, 1024, 0, 16, 0.01, false, 55},
    {"incompressible", "eiger_4M", AIRY_DTYPE_U32, 64, 0, 8, 0, true, 0.99},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

_Static_assert((int)CASES <= (int)BENCH_MAX_CASES, "BENCH_MAX_CASES is too small");

const char *bench_case_name(size_t index)
{
    return index < CASES ? cases[index].name : NULL;
}

const char *bench_parse_cases(void *field, const char *text)
{
    uint8_t *chosen = field, rank = 0;
    static char expected[256]; /* the sentence outlives the call */
    for (;;) {
        const size_t length = strcspn(text, ",");
        bool known = false;
        for (size_t i = 0; i < CASES; i++)
            if ((strlen(cases[i].name) == length && strncmp(text, cases[i].name, length) == 0) ||
                (length == 3 && strncmp(text, "all", 3) == 0)) {
                known = true;
                chosen[i] = chosen[i] ? chosen[i] : ++rank;
            }
        if (!known) {
            const char *names[CASES];
            char word[64];
            snprintf(word, sizeof(word), "%.*s", (int)length, text);
            int n = snprintf(expected, sizeof(expected), "expected all, or some of");
            for (size_t i = 0; i < CASES; i++) {
                names[i] = cases[i].name;
                n += snprintf(expected + n, sizeof(expected) - (size_t)n, "%s %s", i ? "," : "",
                              names[i]);
            }
            const char *near = tool_suggest(word, names, CASES);
            if (near)
                snprintf(expected + n, sizeof(expected) - (size_t)n, "; did you mean '%s'?", near);
            return expected;
        }
        if (!text[length])
            return NULL;
        text += length + 1;
    }
}

int bench_folder(struct bench *bench)
{
    if (*bench->folder)
        return AIRY_EXIT_OK;
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent ? parent : "/tmp";
    const bool fits = (size_t)snprintf(bench->folder, sizeof(bench->folder), "%s/airy-bench-XXXXXX",
                                       parent) < sizeof(bench->folder);
    if (fits && mkdtemp(bench->folder))
        return AIRY_EXIT_OK;
    *bench->folder = 0;
    return tool_fail(bench->common, "no folder can be made in %s (%s); set TMPDIR", parent,
                     fits ? strerror(errno) : "name too long");
}

void bench_name(char path[4096], const struct bench *bench, const char *name)
{
    snprintf(path, 4096, "%s/%s", bench->folder, name);
}

void bench_remove_folder(struct bench *bench)
{
    if (!*bench->folder)
        return;
    DIR *folder = opendir(bench->folder);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        unlinkat(dirfd(folder), entry->d_name, 0); /* fails for "." and "..", as it should */
    if (folder)
        closedir(folder);
    if (rmdir(bench->folder) != 0)
        tool_say(bench->common, "%s: cannot be removed (%s)", bench->folder, strerror(errno));
    *bench->folder = 0;
}

int bench_need_space(struct bench *bench, double bytes)
{
    struct statvfs about;
    char text[2][32];
    int code = bench_folder(bench);
    if (code != AIRY_EXIT_OK)
        return code;
    if (statvfs(bench->folder, &about) != 0)
        return tool_fail(bench->common, "%s: its free space is unknown (%s)", bench->folder,
                         strerror(errno));
    const double space = (double)about.f_bavail * (double)about.f_frsize;
    return bytes <= space
               ? AIRY_EXIT_OK
               : tool_fail(bench->common,
                           "%s has %s free, the case \"%s\" needs %s; lower --frames or set TMPDIR",
                           bench->folder, tool_bytes(text[0], space), bench->sample,
                           tool_bytes(text[1], bytes));
}

/* Counts a pixel on average, [pixels]. */
static airy_status make_means(double *mean, const struct bench_case *made,
                              const airy_geometry *geometry)
{
    const airy_integrator_params params = {.unit = AIRY_UNIT_Q_NM};
    double q[SIMULATED_POINTS], curve[SIMULATED_POINTS];
    simulated_curve(q, curve);
    for (size_t i = 0; i < SIMULATED_POINTS && made->level > 0; i++)
        curve[i] = made->level;
    return airy_image_from_pattern(mean, geometry, &params, q, curve, SIMULATED_POINTS);
}

/* Frames whose chunks together are larger than the memory that the page cache can have. */
static size_t frames_beyond_memory(double frame_bytes)
{
    struct memory_limits limits;
    memory_limits_get(&limits);
    double memory = (double)limits.host;
    if (limits.cgroup && (double)limits.cgroup < memory)
        memory = (double)limits.cgroup;
    return (size_t)(1.25 * memory / frame_bytes) + 1;
}

static int write_case(struct bench *bench, const char *path, const struct bench_case *made,
                      struct simulated *s, size_t frames)
{
    struct stack_out out = {
        .common = bench->common,
        .path = path,
        .writer = {.dtype = made->dtype,
                   .frames = frames,
                   .height = bench->geometry.detector.height,
                   .width = bench->geometry.detector.width,
                   .codec = {.codec = AIRY_CODEC_BSLZ4,
                             .elem_size = (uint32_t)airy_dtype_size(made->dtype)},
                   .geometry = &bench->geometry},
        .fill = {.make = simulated_frame, .source = s, .period = simulated_period(s)},
        .passing = true};
    return stack_out_run(&out);
}

int bench_make_case(struct bench *bench, char path[4096], size_t index)
{
    const struct bench_case *made = &cases[index];
    const struct bench_params *p = bench->params;
    airy_geometry *geometry = &bench->geometry;
    struct simulated s;
    memset(geometry, 0, sizeof(*geometry));
    airy_status status = airy_detector_find(&geometry->detector, made->detector);
    if (status != AIRY_OK)
        return tool_failed(bench->common, status);
    geometry->wavelength = 1e-10;
    simulated_distance(geometry);
    simulated_begin(&s, made->dtype, geometry);
    s.increment = made->increment;
    s.distinct = made->distinct;
    s.incompressible = made->incompressible;
    const double frame_bytes = (double)(s.pixels * airy_dtype_size(made->dtype)) / made->ratio;
    const size_t frames = p->beyond_memory ? frames_beyond_memory(frame_bytes)
                          : p->has_frames  ? p->frames
                                           : made->frames;
    int code = bench_need_space(bench, frame_bytes * (double)frames + 1e6);
    if (code != AIRY_EXIT_OK)
        return code;
    bench_name(path, bench, "stack.h5");
    double *mean = malloc(s.pixels * sizeof(double));
    uint32_t *base = malloc(s.pixels * sizeof(uint32_t));
    if (!mean || !base)
        code = tool_fail(bench->common, "out of memory for %zu pixels", s.pixels);
    else if (!s.incompressible)
        status = make_means(mean, made, geometry);
    s.mean = mean;
    if (code == AIRY_EXIT_OK && status == AIRY_OK && s.distinct == 1) {
        status = simulated_draw(&s, base, tool_threads(bench->common));
        s.base = base;
    }
    if (status != AIRY_OK)
        code = tool_failed(bench->common, status);
    if (code == AIRY_EXIT_OK)
        code = write_case(bench, path, made, &s, frames);
    free(mean);
    free(base);
    return code;
}
