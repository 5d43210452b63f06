#include "cli/compare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/distance.h"

/* An output of the command, and where the two runs put it. */
struct output {
    const char **field; /* of the params */
    const char *path;   /* as it was given */
    char *runs[2];
};

enum { RUNS = 2, TIMES = 2 }; /* devices; the first time kernels are loaded */

struct pair {
    const struct command *command;
    struct common *common;
    bool quiet; /* as it was given */
    char *spec[RUNS];
    struct output outputs[OPT_FILES];
    size_t count;
    struct comparison runs[RUNS], first[RUNS];
};

static int compare_images(const struct common *common, struct distance *d, const char *path[RUNS])
{
    airy_image image[RUNS] = {{.ndim = 0}, {.ndim = 0}};
    airy_status status = AIRY_OK;
    for (int i = 0; i < RUNS && status == AIRY_OK; i++)
        status = airy_image_read(&image[i], path[i]);
    const bool alike = status == AIRY_OK && image[0].dtype == image[1].dtype &&
                       image[0].ndim == image[1].ndim &&
                       memcmp(image[0].shape, image[1].shape,
                              (size_t)image[0].ndim * sizeof(image[0].shape[0])) == 0;
    const size_t n = alike ? tool_count(image[0].shape, image[0].ndim) : 0;
    for (size_t i = 0; i < n; i++) {
        const double a = airy_image_value(&image[0], i), b = airy_image_value(&image[1], i);
        distance_add(d, a, b, ulp_distance(image[0].dtype, a, b));
    }
    for (int i = 0; i < RUNS; i++)
        airy_image_free(&image[i]);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    return alike ? AIRY_EXIT_OK
                 : tool_fail(common, "--compare: the two images differ in shape or dtype");
}

/* Tables as text, and what each of their rows has; of CSV every line but the first is one. */
static const struct {
    const char *suffix, *row;
} tables[] = {{".csv", ""}, {".reg", "ellipse("}, {".vot", "<TR>"}, {".xml", "<TR>"}};

/* NULL: it is no table. */
static const char *row_mark(const char *path)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (tool_has_suffix(path, tables[i].suffix))
            return tables[i].row;
    return NULL;
}

static size_t count_rows(FILE *file, const char *mark)
{
    char *line = NULL;
    size_t size = 0, rows = 0;
    while (getline(&line, &size, file) >= 0)
        rows += strstr(line, mark) != NULL;
    free(line);
    rewind(file);
    return !*mark && rows ? rows - 1 : rows;
}

/* The next word of a table, up to a comma or blank; false at the end. */
static bool next_word(FILE *file, char word[256])
{
    static const char gaps[] = ", \t\r\n()<>\"";
    size_t n = 0;
    int c;
    while ((c = getc(file)) != EOF && (n == 0 || !strchr(gaps, c)))
        if (!strchr(gaps, c) && n < 255)
            word[n++] = (char)c;
    word[n] = 0;
    return n > 0;
}

/* A word without a partner differs. */
static int compare_tables(const struct common *common, struct distance *d, const char *path[RUNS])
{
    FILE *file[RUNS] = {fopen(path[0], "r"), fopen(path[1], "r")};
    char word[RUNS][256];
    const bool opened = file[0] && file[1];
    for (int i = 0; i < RUNS && opened; i++)
        d->rows[i] = count_rows(file[i], row_mark(path[i]));
    for (bool more = opened; more;) {
        const bool left = next_word(file[0], word[0]), right = next_word(file[1], word[1]),
                   both = left && right;
        double x[RUNS];
        more = left || right;
        if (both && !opt_any_number(&x[0], word[0]) && !opt_any_number(&x[1], word[1]))
            distance_add(d, x[0], x[1], ulp_distance(AIRY_DTYPE_F64, x[0], x[1]));
        else if (more)
            distance_add(d, (double)NAN, (double)NAN,
                      both && strcmp(word[0], word[1]) == 0 ? 0 : (double)INFINITY);
    }
    const bool read = opened && !ferror(file[0]) && !ferror(file[1]);
    const int number = errno;
    for (int i = 0; i < RUNS; i++)
        if (file[i])
            fclose(file[i]);
    return read ? AIRY_EXIT_OK
                : tool_fail(common, "--compare: a result of a run is not there: %s",
                            strerror(number));
}

#define RUN_MARK ".compare-%ld-" /* of a process */

/* ".compare-PID-RUN-NAME" in the folder of path, which may be FILE::/DATASET. */
static char *run_path(const char *path, int run)
{
    const char *dataset = strstr(path, "::"), *name = path;
    for (const char *p = path; *p && p != dataset; p++)
        name = *p == '/' ? p + 1 : name;
    const size_t size = strlen(path) + 64;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%.*s" RUN_MARK "%d-%s", (int)(name - path), path, (long)getpid(), run,
                 name);
    return text;
}

/* The file of FILE::DATASET. */
static char *file_of(const char *path)
{
    char *file = strdup(path), *dataset = file ? strstr(file, "::") : NULL;
    if (dataset)
        *dataset = 0;
    return file;
}

/* What a run writes, and is compared. */
static size_t find_files(const struct common *common, struct opt_file files[OPT_FILES])
{
    const size_t count = opt_files(common, files);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (files[i].use != OPT_READ && files[i].offset != offsetof(struct common, profile_file))
            files[kept++] = files[i];
    return kept;
}

int compare_check(const struct common *common)
{
    const char *text = common->compare, *comma = strchr(text, ',');
    struct opt_file files[OPT_FILES];
    const size_t count = find_files(common, files);
    if (common->device)
        return tool_usage(common, "--device and --compare exclude each other");
    if (!comma || comma == text || !comma[1] || strchr(comma + 1, ','))
        return tool_usage(common, "--compare %s: expected two devices as A,B", text);
    for (size_t i = 0; i < count; i++)
        if (files[i].use == OPT_WRITTEN && !row_mark(files[i].path))
            return tool_usage(common,
                              "--compare: '%s' is neither an image nor a table as text (.csv, "
                              ".vot, .reg), so there is nothing to compare",
                              files[i].path);
    return AIRY_EXIT_OK;
}

static int find_outputs(struct pair *p)
{
    struct opt_file files[OPT_FILES];
    p->count = find_files(p->common, files);
    for (size_t i = 0; i < p->count; i++) {
        struct output *out = &p->outputs[i];
        *out =
            (struct output){.field = (const char **)(void *)((char *)p->common + files[i].offset),
                            .path = files[i].path};
        for (int run = 0; run < RUNS; run++)
            if (!(out->runs[run] = run_path(out->path, run)))
                return tool_fail(p->common, "out of memory for names");
    }
    return AIRY_EXIT_OK;
}

/* One run of the command; what it gave is kept. Only the first talks. */
static int run_once(struct pair *p, void *params, int run, struct comparison *kept)
{
    struct common *common = p->common;
    *kept = (struct comparison){.answer = NULL};
    common->comparison = kept;
    common->device = p->spec[run];
    common->force = common->json = true;
    common->quiet = p->quiet || kept != &p->first[0];
    for (size_t i = 0; i < p->count; i++)
        *p->outputs[i].field = p->outputs[i].runs[run];
    const int code = p->command->run(params);
    for (size_t i = 0; i < p->count; i++)
        *p->outputs[i].field = p->outputs[i].path;
    common->comparison = NULL;
    return code;
}

/* largest: of all results. */
static void take_largest(struct distance *largest, const struct distance *d)
{
    largest->ulp = fmax(largest->ulp, d->ulp);
    largest->relative = fmax(largest->relative, d->relative);
}

static int compare_output(const struct pair *p, const struct output *out, json_t *results,
                          struct distance *largest)
{
    struct distance d = {.values = 0};
    const char *paths[RUNS] = {out->runs[0], out->runs[1]};
    const int code = row_mark(out->path) ? compare_tables(p->common, &d, paths)
                                         : compare_images(p->common, &d, paths);
    if (code == AIRY_EXIT_OK && d.rows[0] != d.rows[1])
        tool_say(p->common, "%s: the number of rows differs, %zu on %s and %zu on %s", out->path,
                 d.rows[0], p->spec[0], d.rows[1], p->spec[1]);
    take_largest(largest, &d);
    json_array_append_new(results, distance_json(out->path, &d));
    return code;
}

static json_t *run_json(const struct pair *p, int run)
{
    const struct comparison *c = &p->runs[run], *first = &p->first[run];
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "device", p->spec[run], "seconds",
                     tool_json_number(c->ended - c->begun), "first_seconds",
                     tool_json_number(first->ended - first->begun), "kernel_seconds",
                     tool_json_number(c->kernels), "copy_seconds", tool_json_number(c->copies));
}

/* The first device's outputs become the command's; the others go. */
static int keep_first(const struct pair *p, bool keep)
{
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < p->count; i++) {
        char *file[RUNS] = {file_of(p->outputs[i].runs[0]), file_of(p->outputs[i].runs[1])},
             *given = file_of(p->outputs[i].path);
        if (keep && file[0] && given && rename(file[0], given) != 0)
            code = tool_fail(p->common, "%s: %s", p->outputs[i].path, strerror(errno));
        for (int run = keep ? 1 : 0; run < RUNS; run++)
            if (file[run])
                (void)unlink(file[run]);
        free(file[0]);
        free(file[1]);
        free(given);
    }
    return code;
}

/* The outputs' own names in an answer. */
static void name_outputs(const struct pair *p, json_t *answer)
{
    const char *key;
    json_t *value;
    json_object_foreach(
        answer, key, value) for (size_t i = 0; i < p->count && json_is_string(value);
                                 i++) if (strcmp(json_string_value(value), p->outputs[i].runs[0]) ==
                                          0) json_string_set(value, p->outputs[i].path);
}

static int print_comparison(struct pair *p)
{
    struct distance answer = {.values = 0}, largest = {.values = 0};
    int code = AIRY_EXIT_OK;
    json_t *results = json_array(),
           *all = p->runs[0].answer ? json_incref(p->runs[0].answer) : json_object();
    name_outputs(p, all);
    distance_add_json(&answer, p->runs[0].answer, p->runs[1].answer);
    if (answer.values) {
        take_largest(&largest, &answer);
        json_array_append_new(results, distance_json("answer", &answer));
    }
    for (size_t i = 0; i < p->count && code == AIRY_EXIT_OK; i++)
        code = compare_output(p, &p->outputs[i], results, &largest);
    if (code != AIRY_EXIT_OK) {
        json_decref(results);
        json_decref(all);
        return code;
    }
    json_object_set_new(all, "compare",
                        json_pack("{s:[o, o], s:o, s:o, s:o}", "devices", run_json(p, 0),
                                  run_json(p, 1), "results", results, "ulp",
                                  tool_json_number(largest.ulp), "relative",
                                  tool_json_number(largest.relative)));
    return tool_print_json(p->common, all);
}

static int split_specs(struct pair *p)
{
    const char *text = p->common->compare, *comma = strchr(text, ',');
    p->spec[0] = strndup(text, (size_t)(comma - text));
    p->spec[1] = strdup(comma + 1);
    return p->spec[0] && p->spec[1] ? AIRY_EXIT_OK : tool_fail(p->common, "out of memory");
}

/* Both devices, and the answer. Exit code. */
static int compare_runs(struct pair *p, void *params)
{
    const bool json = p->common->json, force = p->common->force;
    p->quiet = p->common->quiet;
    int code = AIRY_EXIT_OK;
    for (int run = 0; run < RUNS; run++)
        for (int time = 0; time < TIMES && code == AIRY_EXIT_OK; time++)
            code = run_once(p, params, run, time == 0 ? &p->first[run] : &p->runs[run]);
    p->common->device = NULL;
    p->common->json = json;
    p->common->force = force;
    p->common->quiet = p->quiet;
    if (code == AIRY_EXIT_OK)
        code = print_comparison(p);
    const int moved = keep_first(p, code == AIRY_EXIT_OK);
    for (int run = 0; run < RUNS; run++) {
        json_decref(p->runs[run].answer);
        json_decref(p->first[run].answer);
    }
    return code == AIRY_EXIT_OK ? moved : code;
}

/* Of a path that may be FILE::/DATASET; -1: it cannot be opened. */
static int open_folder(const char *path)
{
    char *file = file_of(path), *slash = file ? strrchr(file, '/') : NULL;
    if (slash)
        slash[1] = 0;
    const int folder = file ? open(slash ? file : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(file);
    return folder;
}

/* Remove whatever the runs began to write, with the temporary files of the library. */
static void remove_runs(const struct pair *p)
{
    char mark[64];
    const size_t length = (size_t)snprintf(mark, sizeof(mark), RUN_MARK, (long)getpid());
    for (size_t i = 0; i < p->count; i++) {
        const int folder = open_folder(p->outputs[i].runs[0]);
        DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
        for (struct dirent *entry; list && (entry = readdir(list));)
            if (strncmp(entry->d_name, mark, length) == 0)
                (void)unlinkat(folder, entry->d_name, 0);
        if (list)
            closedir(list);
        else if (folder >= 0)
            close(folder);
    }
}

/* Signals to the parent go to the child, until that has ended; its status of waitpid(). */
static int await_child(pid_t child, const sigset_t *signals)
{
    int status = 0, number = 0;
    while (waitpid(child, &status, WNOHANG) == 0)
        if (sigwait(signals, &number) == 0 && number != SIGCHLD)
            kill(child, number);
    return status;
}

/*
 * The runs are a child's, so that a signal that ends them, which may be in the middle of a write,
 * leaves somebody to remove what they wrote. *here: this is the child. Exit code of the parent.
 */
static int run_apart(struct pair *p, bool *here)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t signals, before;
    const pid_t parent = getpid();
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct sigaction action;
        if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&signals, ends[i]);
    }
    (void)signal(SIGCHLD, SIG_DFL); /* where it is ignored, waitpid does not say how it ended */
    sigprocmask(SIG_BLOCK, &signals, &before);
    const pid_t child = fork();
    *here = child == 0;
    int status = 0, code = AIRY_EXIT_FAILED;
    if (*here) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(AIRY_EXIT_FAILED);
    } else if (child < 0) {
        code = tool_fail(p->common, "no process for the runs: %s", strerror(errno));
    } else {
        status = await_child(child, &signals);
        code = WIFEXITED(status) ? WEXITSTATUS(status) : AIRY_EXIT_FAILED;
        if (!WIFEXITED(status))
            remove_runs(p);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child > 0 && WIFSIGNALED(status)) { /* as it would have ended without a child */
        (void)signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return code;
}

int compare_devices(const struct command *command, void *params)
{
    struct pair p = {.command = command, .common = params};
    bool here = false;
    int code = split_specs(&p);
    if (code == AIRY_EXIT_OK)
        code = find_outputs(&p);
    if (code == AIRY_EXIT_OK)
        code = run_apart(&p, &here);
    if (here)
        code = compare_runs(&p, params);
    for (int run = 0; run < RUNS; run++) {
        free(p.spec[run]);
        for (size_t i = 0; i < p.count; i++)
            free(p.outputs[i].runs[run]);
    }
    return code;
}
