/* airy watch: how far a result is, and its newest pattern, in the terminal or as a picture. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "airy/file.h"
#include "plot/gnuplot.h"
#include "result/watch_view.h"

enum { PATH_LENGTH = 4200, WATERFALL_ROWS = 400 };

struct watch_params {
    struct common common;
    const char *png;
    double interval;
    size_t count;
    bool log, has_interval, has_count;
};

#define FIELD(member) .offset = offsetof(struct watch_params, member)
#define SEEN(member)  .seen = offsetof(struct watch_params, member)

static const struct opt watch_options[] = {
    {.heading = "View"},
    {.name = "interval",
     .type = OPT_FLOAT,
     FIELD(interval),
     SEEN(has_interval),
     .lo = 0.05,
     .hi = 3600,
     .argument = "S",
     .fallback = "1",
     .help = "sets the time between two looks in s"},
    {.name = "count",
     .type = OPT_COUNT,
     FIELD(count),
     SEEN(has_count),
     .lo = 1,
     .hi = 1e9,
     .argument = "N",
     .fallback = "until the result is finished",
     .help = "ends after N looks"},
    {.name = "log", .type = OPT_FLAG, FIELD(log), .help = "draws the logarithm of the intensity"},
    {.name = "png",
     .type = OPT_STRING,
     FIELD(png),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "names the picture of the newest pattern and the waterfall, renewed at every look"},
    {0},
};

struct viewer {
    const struct watch_params *p;
    const struct common *common;
    char final[PATH_LENGTH], partial[PATH_LENGTH + 16];
    bool tty, keys;
    struct termios before;
    size_t printed; /* lines on the terminal */
    bool seen;
    dev_t device; /* with inode: the file of the last look */
    ino_t inode;
    double begun, last; /* s of the first and the last look at it */
    size_t first, done; /* rows then */
    struct watch_picture picture;
};

/* ---- a look ---- */

static void free_look(struct watch_look *look)
{
    free(look->radial);
    free(look->azimuth);
    free(look->newest);
    *look = (struct watch_look){0};
}

/* Rows and time since the first look at this very file. */
static void measure(struct viewer *v, struct watch_look *look, const struct stat *about)
{
    const double now = tool_now();
    const size_t done = look->info.good + look->info.bad;
    const bool same = v->seen && v->device == about->st_dev && v->inode == about->st_ino &&
                      done >= v->done;
    if (!same) {
        v->begun = v->last = now;
        v->first = v->done = done;
        v->device = about->st_dev;
        v->inode = about->st_ino;
        v->seen = true;
    }
    look->seconds = now - v->begun;
    look->rate = now > v->last ? (double)(done - v->done) / (now - v->last) : 0;
    look->mean = look->seconds > 0 ? (double)(done - v->first) / look->seconds : 0;
    look->left = !look->info.grows && look->mean > 0 ? (double)(look->info.rows - done) / look->mean
                                                     : (double)NAN;
    v->last = now;
    v->done = done;
}

/* An axis that outlives the result. */
static airy_status keep_axis(double **values, size_t *count, char label[128],
                             const airy_result *result, size_t index)
{
    airy_result_axis axis;
    const airy_status status = airy_result_get_axis(result, index, &axis);
    if (status != AIRY_OK)
        return status;
    patterns_copy_axis(values, count, label, &axis);
    return *values ? AIRY_OK : AIRY_ERR_MEMORY;
}

static airy_status read_pattern(float *values, const struct watch_look *look, airy_result *result,
                                size_t row)
{
    return airy_result_read(result, "result/intensity", row, 1, AIRY_DTYPE_F32, values,
                            watch_cells(look) * sizeof(float));
}

static airy_status read_newest(struct watch_look *look, airy_result *result)
{
    const airy_result_info *info = &look->info;
    static const char *const names[] = {"frame/index", "frame/total", "frame/max",
                                        "frame/saturated"};
    double *const numbers[] = {&look->index, &look->total, &look->max, &look->saturated};
    airy_status status = keep_axis(&look->radial, &look->bins, look->label, result, 0);
    if (status == AIRY_OK && info->axes > 1)
        status = keep_axis(&look->azimuth, &look->azimuth_bins, look->azimuth_label, result, 1);
    if (status != AIRY_OK)
        return status;
    for (size_t i = 0; i < 4; i++)
        *numbers[i] = (double)NAN;
    if (info->newest == SIZE_MAX)
        return AIRY_OK;
    look->newest = malloc(watch_cells(look) * sizeof(float));
    if (!look->newest)
        return AIRY_ERR_MEMORY;
    for (size_t i = 0; i < 4 && status == AIRY_OK; i++) {
        status = airy_result_read(result, names[i], info->newest, 1, AIRY_DTYPE_F64, numbers[i],
                                  sizeof(double));
        if (status == AIRY_ERR_NOT_FOUND) { /* not known */
            *numbers[i] = (double)NAN;
            status = AIRY_OK;
        }
    }
    if (status != AIRY_OK)
        return status;
    return read_pattern(look->newest, look, result, info->newest);
}

/* Good rows evenly from the first to the newest; the last one is the newest. */
static bool read_waterfall(struct patterns *patterns, const struct watch_look *look,
                           airy_result *result)
{
    const airy_result_info *info = &look->info;
    const size_t cells = watch_cells(look), all = info->newest + 1,
                 most = look->azimuth_bins     ? 1
                        : all < WATERFALL_ROWS ? all
                                               : WATERFALL_ROWS;
    patterns->bins = look->bins;
    patterns->azimuth_bins = look->azimuth_bins ? look->azimuth_bins : 1;
    patterns->values = malloc(most * cells * sizeof(float));
    patterns->radial = malloc(look->bins * sizeof(double));
    patterns->along = malloc(most * sizeof(double));
    if (!patterns->values || !patterns->radial || !patterns->along)
        return false;
    memcpy(patterns->radial, look->radial, look->bins * sizeof(double));
    snprintf(patterns->label, sizeof(patterns->label), "%s", look->label);
    for (size_t i = 0; i + 1 < most; i++) {
        size_t row = i * all / most;
        const size_t end = (i + 1) * all / most;
        while (row < end && airy_result_get_row(result, row) != AIRY_ROW_GOOD)
            row++;
        if (row < end && row < info->newest &&
            read_pattern(patterns->values + patterns->frames * cells, look, result, row) == AIRY_OK)
            patterns->along[patterns->frames++] = (double)row;
    }
    memcpy(patterns->values + patterns->frames * cells, look->newest, cells * sizeof(float));
    patterns->along[patterns->frames++] = (double)info->newest;
    snprintf(patterns->along_label, sizeof(patterns->along_label), "Row");
    return true;
}

/* In two dimensions the newest frame is a map of its own. */
static bool fit_patterns(struct patterns *patterns, const struct watch_look *look)
{
    const size_t rows = patterns->azimuth_bins;
    if (look->azimuth) {
        patterns->azimuth = malloc(rows * sizeof(double));
        if (!patterns->azimuth)
            return false;
        memcpy(patterns->azimuth, look->azimuth, rows * sizeof(double));
        snprintf(patterns->azimuth_label, sizeof(patterns->azimuth_label), "%s",
                 look->azimuth_label);
    }
    if (look->azimuth || patterns->frames < 2) {
        free(patterns->along);
        patterns->along = NULL;
    }
    return true;
}

static void draw(struct viewer *v, const struct watch_look *look, airy_result *result)
{
    struct patterns patterns = {0};
    if (look->state == WATCH_FINISHED)
        watch_picture_end(&v->picture); /* the last one is of all rows */
    if (look->newest && watch_picture_idle(&v->picture) &&
        read_waterfall(&patterns, look, result) && fit_patterns(&patterns, look))
        watch_picture_draw(&v->picture, &patterns);
    patterns_free(&patterns);
}

/*
 * What is no result and not being written does not become one: a file of another format, or an HDF5
 * file of something else. An empty file, or a copy of a result that is not complete yet, can.
 * was: before it was looked at; another one since then has not been looked at.
 */
static bool never_a_result(const char *path, airy_status status, const struct stat *was)
{
    uint64_t there, declared;
    struct stat is;
    if (stat(path, &is) != 0 || is.st_ino != was->st_ino || is.st_size != was->st_size ||
        (S_ISREG(is.st_mode) && is.st_size == 0))
        return false;
    const bool other = status == AIRY_ERR_FORMAT || status == AIRY_ERR_NOT_FOUND;
    return !S_ISREG(is.st_mode) ||
           (other && !airy_hdf5_is_cut(path, &there, &declared) && !airy_result_is_written(path));
}

static void look_at(struct watch_look *look, struct viewer *v, const char *path, bool finished)
{
    airy_result *result = NULL;
    struct stat about = {0}, before = {0};
    (void)stat(path, &before);
    airy_status status = patterns_open(&result, path);
    if (status == AIRY_OK)
        status = airy_result_get_info(result, &look->info);
    /* Its file has got its final name: that is the next look's. */
    if (status == AIRY_OK && strcmp(look->info.path, path) != 0)
        status = AIRY_ERR_NOT_FOUND;
    if (status == AIRY_OK)
        status = read_newest(look, result);
    look->state = finished ? WATCH_FINISHED : look->info.written ? WATCH_RUNNING : WATCH_STOPPED;
    if (status == AIRY_OK && stat(path, &about) == 0) {
        measure(v, look, &about);
        if (v->picture.output)
            draw(v, look, result);
    } else if (status != AIRY_OK) {
        look->state = access(path, F_OK) == 0 ? WATCH_UNREADABLE : WATCH_GONE;
        snprintf(look->why, sizeof(look->why), "%s", airy_last_error());
        /* A result has its name when it is complete: what has it and is none does not become one. */
        look->never = look->state == WATCH_UNREADABLE &&
                      (finished || never_a_result(path, status, &before));
    }
    airy_result_close(&result);
}

/*
 * The file that there is: while it is written OUT.h5.partial, then OUT.h5. It may take its name
 * between two calls, once.
 */
static void take_look(struct watch_look *look, struct viewer *v)
{
    const bool partial = access(v->partial, F_OK) == 0;
    *look = (struct watch_look){.path = partial ? v->partial : v->final};
    if (partial)
        look_at(look, v, v->partial, false);
    if (partial && look->state != WATCH_GONE)
        return;
    if (partial) {
        free_look(look);
        *look = (struct watch_look){.path = v->final};
    }
    if (access(v->final, F_OK) == 0)
        look_at(look, v, v->final, true);
    else
        look->state = v->seen || partial ? WATCH_GONE : WATCH_WAITING;
}

/* ---- the terminal ---- */

static void open_terminal(struct viewer *v)
{
    v->tty = tool_is_terminal(STDOUT_FILENO) && !v->common->json;
    v->keys = v->tty && isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &v->before) == 0;
    if (v->keys) {
        struct termios now = v->before;
        now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &now);
    }
}

static void close_terminal(const struct viewer *v)
{
    if (v->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &v->before);
}

/* Over what the last look printed. */
static int show(struct viewer *v, const struct watch_look *look)
{
    if (!v->tty)
        return watch_print_json(v->common, look);
    struct winsize size;
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    const size_t width = known && size.ws_col > 1 ? size.ws_col : 80,
                 height = known && size.ws_row > 1 ? size.ws_row : 24;
    if (v->printed)
        printf("\033[%zuA\r\033[J", v->printed);
    /* Long lines are cut, so that each is one of the terminal's. */
    fputs("\033[?7l", stdout);
    /* The cursor needs a line, too. */
    const int code = watch_print(&v->printed, v->common, look, width - 1, height - 1, v->p->log);
    fputs("\033[?7h", stdout);
    return code != AIRY_EXIT_OK  ? code
           : fflush(stdout) == 0 ? AIRY_EXIT_OK
                                 : tool_fail(v->common, "standard output: %s", strerror(errno));
}

/* True: q, or Ctrl-C. */
static bool wait_for_next(const struct viewer *v, double due)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    for (double left; !tool_interrupted() && (left = due - tool_now()) > 0;) {
        const int ms = (int)fmin(left * 1e3 + 1, 200);
        char key = 0;
        if (poll(&keys, v->keys ? 1 : 0, ms) > 0 &&
            (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q'))
            return true;
    }
    return tool_interrupted();
}

/* ---- the command ---- */

static int name_files(struct viewer *v)
{
    static const char ending[] = ".partial";
    const char *path = v->common->inputs.items[0];
    const size_t n = strlen(path), cut = tool_has_suffix(path, ending) ? sizeof(ending) - 1 : 0;
    if (n - cut == 0 || n - cut >= sizeof(v->final))
        return tool_fail(v->common, "the result's name has %zu bytes, expected 1 to %zu", n - cut,
                         sizeof(v->final) - 1);
    snprintf(v->final, sizeof(v->final), "%.*s", (int)(n - cut), path);
    snprintf(v->partial, sizeof(v->partial), "%s%s", v->final, ending);
    return AIRY_EXIT_OK;
}

static int watch(struct viewer *v)
{
    const struct watch_params *p = v->p;
    const double interval = p->has_interval ? p->interval : 1;
    int code = AIRY_EXIT_OK;
    bool ends = false, found = false, wrong = false;
    char why[512] = "";
    double due = tool_now();
    for (size_t i = 0; code == AIRY_EXIT_OK && !ends; i++) {
        struct watch_look look;
        take_look(&look, v);
        code = show(v, &look);
        snprintf(why, sizeof(why), "%s", look.why);
        found |= watch_has_rows(&look);
        wrong = look.never;
        ends = look.state == WATCH_FINISHED || wrong || (p->has_count && i + 1 >= p->count);
        /* A look that took longer than the interval moves the next ones. */
        due = fmax(due + interval, tool_now());
        free_look(&look);
        ends = ends || wait_for_next(v, due);
    }
    if (code == AIRY_EXIT_OK && *why && (wrong || !found))
        code = tool_fail(v->common, "%s", why);
    else if (code == AIRY_EXIT_OK && !found)
        code = tool_fail(v->common, "neither %s nor %s is there", v->final, v->partial);
    return code;
}

static int run_watch(void *user)
{
    const struct watch_params *p = user;
    struct viewer v = {.p = p, .common = &p->common};
    int code = name_files(&v);
    if (code == AIRY_EXIT_OK && p->png && !tool_has_suffix(p->png, ".png"))
        code = tool_usage(v.common, "--png %s: expected a name that ends in .png", p->png);
    if (code == AIRY_EXIT_OK && p->png)
        code = tool_check_waiting(v.common, p->png);
    if (code == AIRY_EXIT_OK && p->png)
        code = gnuplot_check(v.common);
    if (code != AIRY_EXIT_OK)
        return code;
    v.picture = (struct watch_picture){.common = v.common, .output = p->png, .log = p->log};
    tool_catch_interrupts();
    open_terminal(&v);
    code = watch(&v);
    close_terminal(&v);
    const int drawn = watch_picture_end(&v.picture);
    return code != AIRY_EXIT_OK ? code : drawn;
}

const struct command cmd_watch = {
    .name = "watch",
    .usage = "OUT.h5 [options]",
    .summary = "show how far a result is, and its newest pattern",
    .details = "OUT.h5 is what 'airy integrate' writes, or will write: while it does, "
               "OUT.h5.partial is looked at. In a terminal the view is renewed until the result "
               "has its name, or q or Ctrl-C; elsewhere, or with --json, each look is one line of "
               "JSON. A file of either name that is no result, and that no process writes, ends it "
               "with exit code 1. The writer "
               "notices nothing.",
    .examples = "  airy watch patterns.h5\n"
                "  airy watch patterns.h5 --log --png newest.png\n"
                "  airy watch patterns.h5 --count 1 --json\n",
    .tables = {watch_options},
    .params_size = sizeof(struct watch_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .run = run_watch,
};
