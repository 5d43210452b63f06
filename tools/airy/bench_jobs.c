/* Jobs that benches time: `airy integrate` from its start to its exit, and what it wrote. */
#include "bench_jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Words of a command line, malloc'ed each. */
struct words {
    char *list[64];
    size_t count, inputs;
};

static void add_word(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_word(struct words *words, const char *format, ...)
{
    va_list args;
    char *word = NULL;
    va_start(args, format);
    if (words->count + 1 < sizeof(words->list) / sizeof(words->list[0]) &&
        vasprintf(&word, format, args) >= 0)
        words->list[words->count++] = word;
    va_end(args);
}

static bool in_table(const struct opt *table, const char *name)
{
    for (const struct opt *opt = table; opt->name || opt->heading; opt++)
        if (opt->name && strcmp(opt->name, name) == 0)
            return true;
    return false;
}

/* Geometry and pattern as they were given to the bench. */
static void add_given(struct words *words, const struct common *common)
{
    for (size_t i = 0; i + 1 < common->given.count; i += 2) {
        const char *name = common->given.items[i], *argument = common->given.items[i + 1];
        if (in_table(geometry_options, name) || in_table(pattern_options, name) ||
            strcmp(name, "compat") == 0)
            add_word(words, "--%s%s%s", name, argument ? "=" : "", argument ? argument : "");
    }
    if (common->memory_limit)
        add_word(words, "--memory-limit=%llu", (unsigned long long)common->memory_limit);
}

/* "airy integrate OPTIONS -- STACK STACK ..."; NULL when memory is short. */
static char **make_command(struct words *words, const struct bench_job *job)
{
    const struct bench *bench = job->bench;
    if (job->ranks) { /* cores are the bench's to choose */
        char self[4096];
        const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
        self[length < 0 ? 0 : length] = 0;
        add_word(words, "mpirun");
        add_word(words, "--bind-to");
        add_word(words, "none");
        add_word(words, "-n");
        add_word(words, "%zu", job->ranks);
        add_word(words, "%s", self);
    } else
        add_word(words, "airy");
    add_word(words, "integrate");
    add_given(words, bench->common);
    add_word(words, "--device=%s", job->spec);
    if (!job->ranks)
        add_word(words, "--layout=%s", layout_name(job->layout));
    if (!job->ranks && job->layout == LAYOUT_PROCESSES)
        add_word(words, "--processes=%zu", job->processes);
    if (job->threads)
        add_word(words, "--threads=%zu", job->threads);
    add_word(words, "--json");
    add_word(words, "--quiet");
    add_word(words, "--output=%s", job->path);
    add_word(words, "--");
    char **list = calloc(words->count + job->replay + 1, sizeof(*list));
    if (!list || !words->count || strcmp(words->list[words->count - 1], "--") != 0) {
        free(list);
        return NULL;
    }
    memcpy(list, words->list, words->count * sizeof(*list));
    for (size_t i = 0; i < job->replay; i++)
        list[words->count + i] = (char *)bench->path;
    return list;
}

/* Ctrl-C reaches the job as well; a signal to this process alone is handed on. */
static int wait_for(pid_t pid)
{
    int status = 0;
    bool told = false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        if (tool_interrupted() && !told) {
            kill(pid, SIGTERM);
            told = true;
        }
    return status;
}

static json_t *load_answer(int file)
{
    return lseek(file, 0, SEEK_SET) == 0 ? json_loadfd(file, 0, NULL) : NULL;
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

/* Open MPI does not start ranks of root's unless they are asked for twice. */
static void allow_root(void)
{
    if (geteuid() != 0)
        return;
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
}

int bench_job_run(struct bench_job *job)
{
    struct words words = {0};
    pid_t pid = 0;
    const bool ranks = job->ranks > 0;
    const int output = memfd_create("airy-answer", MFD_CLOEXEC),
              banner = ranks ? memfd_create("airy-banner", MFD_CLOEXEC) : STDERR_FILENO;
    char **command = output < 0 || banner < 0 ? NULL : make_command(&words, job);
    if (ranks)
        allow_root();
    const double begin = tool_now();
    int failed = command ? tool_spawn(&pid, output, banner, ranks ? "mpirun" : NULL, command)
                         : ENOMEM;
    const int status = failed ? 0 : wait_for(pid);
    job->wall = tool_now() - begin;
    json_t *answer = !failed && status == 0 ? load_answer(output) : NULL;
    job->seconds = json_number_value(json_object_get(answer, "seconds"));
    job->frames = json_number_value(json_object_get(answer, "frames"));
    json_decref(answer);
    free(command);
    for (size_t i = 0; i < words.count; i++)
        free(words.list[i]);
    job->why[0] = 0;
    if (ranks && banner >= 0) {
        load_banner(job->why, banner);
        close(banner);
    }
    if (output >= 0)
        close(output);
    return failed;
}

/* Bytes of a dataset; false where the file has none. */
static bool load(airy_image *image, size_t *size, const char *path, const char *name)
{
    char where[4400];
    snprintf(where, sizeof(where), "%s::/entry/integrate/%s", path, name);
    memset(image, 0, sizeof(*image));
    if (airy_image_read_real(image, where) != AIRY_OK)
        return false;
    *size = tool_count(image->shape, image->ndim) * airy_dtype_size(image->dtype);
    return true;
}

const char *bench_job_difference(const char *a, const char *b, bool replayed)
{
    static const char *const names[] = {
        "result/intensity",  "result/std",          "result/sem",
        "merged/sum_signal", "merged/sum_variance", "merged/sum_normalization",
        "merged/count",      "frame/status",        "frame/max"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        airy_image one, other;
        size_t size = 0, other_size = 0;
        const bool there = load(&one, &size, a, names[i]);
        const bool other_there = load(&other, &other_size, b, names[i]);
        const bool same =
            there == other_there &&
            (!there || ((size == other_size || replayed) &&
                        memcmp(one.data, other.data, size < other_size ? size : other_size) == 0));
        airy_image_free(&one);
        airy_image_free(&other);
        if (!same || (i == 0 && !there))
            return names[i];
    }
    return NULL;
}
