/* The stacks that `airy bench` makes by itself, and the folder they lie in. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "airy/job.h"
#include "bench.h"
#include "airy/info.h"
#include "cli/words.h"

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

/* Frames whose chunks together are larger than the memory that the page cache can have. */
static size_t frames_beyond_memory(double frame_bytes)
{
    airy_memory_limits limits;
    airy_memory_limits_get(&limits);
    double memory = (double)limits.host;
    if (limits.cgroup && (double)limits.cgroup < memory)
        memory = (double)limits.cgroup;
    return (size_t)(1.25 * memory / frame_bytes) + 1;
}

/* An airy_log_fn with a struct progress. */
static void say_message(void *user, airy_log_level level, const char *text)
{
    const struct progress *progress = user;
    if (level <= AIRY_LOG_WARN)
        tool_say(progress->common, "%s", text);
}

/* Who is stopped says so itself. */
static int run_job(airy_job *job, const struct common *common)
{
    const airy_status status = airy_job_run(job);
    if (status == AIRY_ERR_CANCELLED)
        return AIRY_EXIT_FAILED;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

int bench_simulate(const struct bench *bench, const char *path, const char *json, double level,
                   airy_geometry *geometry)
{
    const struct common *common = bench->common;
    const double points[2][2] = {{0, level}, {1, level}};
    const airy_host_view curve = {
        .data = points, .dtype = AIRY_DTYPE_F64, .ndim = 2, .shape = {2, 2}};
    char poni[4096];
    struct progress progress;
    const airy_job_hooks hooks = {
        .progress = progress_step, .message = say_message, .user = &progress};
    airy_job *job = NULL;
    bench_name(poni, bench, "geometry.poni");
    airy_status status = airy_job_create(&job, "simulate-diffraction", NULL, &hooks);
    if (status == AIRY_OK)
        status = airy_job_set_json(job, json);
    if (status == AIRY_OK)
        status = airy_job_set(job, "output", path);
    if (status == AIRY_OK)
        status = airy_job_set(job, "write-poni", poni);
    if (status == AIRY_OK && level > 0)
        status = airy_job_set_array(job, "curve", &curve);
    if (status == AIRY_OK)
        status = airy_job_set_number(job, "threads", tool_threads(common));
    tool_catch_interrupts(); /* from here on there are partial files */
    progress_begin(&progress, common, "frames");
    int code = status == AIRY_OK ? run_job(job, common) : tool_failed(common, status);
    progress_end(&progress);
    airy_job_destroy(&job);
    if (code == AIRY_EXIT_OK && (status = airy_geometry_read(geometry, poni)) != AIRY_OK)
        code = tool_failed(common, status);
    return code;
}

int bench_make_case(struct bench *bench, char path[4096], size_t index)
{
    const struct bench_case *made = &cases[index];
    const struct bench_params *p = bench->params;
    airy_detector detector;
    char json[512], increment[64] = "", distinct[64] = "";
    const airy_status status = airy_detector_find(&detector, made->detector);
    if (status != AIRY_OK)
        return tool_failed(bench->common, status);
    const double frame_bytes =
        (double)(detector.height * detector.width * airy_dtype_size(made->dtype)) / made->ratio;
    const size_t frames = p->beyond_memory ? frames_beyond_memory(frame_bytes)
                          : p->has_frames  ? p->frames
                                           : made->frames;
    const int code = bench_need_space(bench, frame_bytes * (double)frames + 1e6);
    if (code != AIRY_EXIT_OK)
        return code;
    bench_name(path, bench, "stack.h5");
    if (made->increment)
        snprintf(increment, sizeof(increment), ", \"increment\": %zu", made->increment);
    if (made->distinct)
        snprintf(distinct, sizeof(distinct), ", \"distinct\": %zu", made->distinct);
    snprintf(json, sizeof(json),
             "{\"detector\": \"%s\", \"dtype\": \"%s\", \"frames\": %zu, \"force\": true, "
             "\"incompressible\": %s%s%s}",
             made->detector, airy_dtype_name(made->dtype), frames,
             made->incompressible ? "true" : "false", increment, distinct);
    return bench_simulate(bench, path, json, made->level, &bench->geometry);
}
