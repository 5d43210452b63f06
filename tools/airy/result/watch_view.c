#include "result/watch_view.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "result/plot.h"
#include "cli/quote.h"

static const char *const states[] = {
    [WATCH_WAITING] = "waiting",   [WATCH_RUNNING] = "running", [WATCH_STOPPED] = "stopped",
    [WATCH_FINISHED] = "finished", [WATCH_GONE] = "gone",       [WATCH_UNREADABLE] = "unreadable"};

size_t watch_cells(const struct watch_look *look)
{
    return look->bins * (look->azimuth_bins ? look->azimuth_bins : 1);
}

bool watch_has_rows(const struct watch_look *look)
{
    return look->state == WATCH_RUNNING || look->state == WATCH_STOPPED ||
           look->state == WATCH_FINISHED;
}

/* ---- text ---- */

enum { LEVELS = 8, SPARK_ROWS = 4, TEXT_ROWS = 4, MOST_WIDTH = 400 };

/* The mean of the finite values of a column's bins, over all azimuths; NaN: none. */
static double column_mean(const struct watch_look *look, size_t column, size_t columns, bool log)
{
    const size_t bins = look->bins, rows = watch_cells(look) / bins,
                 first = column * bins / columns, end = (column + 1) * bins / columns;
    double sum = 0;
    size_t count = 0;
    for (size_t row = 0; row < rows; row++)
        for (size_t i = first; i < (end > first ? end : first + 1); i++) {
            const double raw = look->newest[row * bins + i], v = log ? log10(raw) : raw;
            if (isfinite(v)) {
                sum += v;
                count++;
            }
        }
    return count ? sum / (double)count : (double)NAN;
}

/* Bars of blocks, some rows high, and a line below. */
static void print_spark(FILE *out, const struct watch_look *look, size_t width, size_t height,
                        bool log)
{
    double heights[MOST_WIDTH], lo = (double)INFINITY, hi = -(double)INFINITY;
    const size_t bins = look->bins, columns = bins < width ? bins : width;
    for (size_t x = 0; x < columns; x++) {
        heights[x] = column_mean(look, x, columns, log);
        lo = fmin(lo, heights[x]);
        hi = fmax(hi, heights[x]);
    }
    if (!(hi >= lo)) {
        fputs("the newest pattern has no values to draw\n", out);
        return;
    }
    lo = log || lo < 0 ? lo : 0;
    for (size_t row = height; row-- > 0;) {
        for (size_t x = 0; x < columns; x++) {
            const double level =
                isfinite(heights[x]) && hi > lo
                    ? (heights[x] - lo) / (hi - lo) * ((double)height * LEVELS - 1) + 1
                    : 0;
            const long rest = lround(level) - (long)(row * LEVELS);
            /* U+2581 to U+2588 */
            if (rest <= 0)
                fputc(' ', out);
            else
                fprintf(out, "\xe2\x96%c", (int)(0x80 + (rest < LEVELS ? rest : LEVELS)));
        }
        fputc('\n', out);
    }
    fprintf(out, "%.4g to %.4g, %s%s%.4g to %.4g\n", look->radial[0], look->radial[bins - 1],
            look->label, log ? "; log10 of the intensity " : "; intensity ", lo, hi);
}

static const char *format_time(char text[32], double seconds)
{
    const long s = isfinite(seconds) && seconds < 1e9 ? lround(seconds) : 0;
    snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

static void print_look(FILE *out, const struct watch_look *look, size_t width, size_t height,
                       bool log)
{
    const airy_result_info *info = &look->info;
    const size_t done = info->good + info->bad;
    char text[32];
    fprintf(out, "%s: %s%s\n", look->path, states[look->state],
            look->state == WATCH_STOPPED ? ", no process writes it; --resume may go on with it"
                                         : "");
    if (look->state == WATCH_UNREADABLE) {
        fprintf(out, "%s\n", look->why);
        return;
    }
    if (look->state == WATCH_WAITING || look->state == WATCH_GONE)
        return;
    fprintf(out, "%zu", done);
    if (info->grows)
        fprintf(out, " frames");
    else
        fprintf(out, " of %zu frames (%.1f %%)", info->rows,
                info->rows ? 100 * (double)done / (double)info->rows : 100);
    fprintf(out, ", %zu bad, %zu %s\n", info->bad, info->rows - done,
            info->grows ? "missing" : "to come");
    fprintf(out, "%.1f frames/s now, %.1f since %s", look->rate, look->mean,
            format_time(text, look->seconds));
    if (isfinite(look->left))
        fprintf(out, ", %s left", format_time(text, look->left));
    fputc('\n', out);
    if (!look->newest)
        return;
    fprintf(out, "frame %.0f: total %.6g, largest %.6g, %.0f saturated\n", look->index, look->total,
            look->max, look->saturated);
    const size_t left = height > TEXT_ROWS + 1 ? height - TEXT_ROWS - 1 : 0;
    if (left)
        print_spark(out, look, width < MOST_WIDTH ? width : MOST_WIDTH,
                    left < SPARK_ROWS ? left : SPARK_ROWS, log);
}

int watch_print(size_t *lines, const struct common *common, const struct watch_look *look,
                size_t width, size_t height, bool log)
{
    char *text = NULL;
    size_t size = 0, end = 0;
    FILE *out = open_memstream(&text, &size);
    if (out)
        print_look(out, look, width, height, log);
    if (!out || fclose(out) != 0) {
        free(text);
        return tool_fail(common, "out of memory for a view");
    }
    tool_plain(text); /* names and units are as files have them */
    for (*lines = 0; text[end] && *lines < height; (*lines)++)
        end += strcspn(text + end, "\n") + 1;
    fwrite(text, 1, end, stdout);
    free(text);
    return AIRY_EXIT_OK;
}

int watch_print_json(const struct common *common, const struct watch_look *look)
{
    const airy_result_info *info = &look->info;
    const size_t done = info->good + info->bad;
    json_t *json =
        json_pack("{s:o, s:s}", "file", tool_json_string(look->path), "state", states[look->state]);
    if (look->state == WATCH_UNREADABLE)
        json_object_set_new(json, "why", tool_json_string(look->why));
    if (watch_has_rows(look)) {
        json_object_set_new(json, "written", json_boolean(info->written));
        json_object_set_new(json, "frames",
                            info->grows ? json_null() : json_integer((json_int_t)info->rows));
        json_object_set_new(json, "done", json_integer((json_int_t)done));
        json_object_set_new(json, "bad", json_integer((json_int_t)info->bad));
        json_object_set_new(json, info->grows ? "missing" : "to_come",
                            json_integer((json_int_t)(info->rows - done)));
        json_object_set_new(json, "frames_per_second", tool_json_number(look->rate));
        json_object_set_new(json, "mean_frames_per_second", tool_json_number(look->mean));
        json_object_set_new(json, "seconds_left", tool_json_number(look->left));
        json_object_set_new(json, "newest",
                            look->newest ? tool_json_number(look->index) : json_null());
        json_object_set_new(json, "total", tool_json_number(look->total));
        json_object_set_new(json, "largest", tool_json_number(look->max));
        json_object_set_new(json, "saturated", tool_json_number(look->saturated));
    }
    char *text = json ? quote_json(json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9))) : NULL;
    json_decref(json);
    if (!text)
        return tool_fail(common, "out of memory for a line");
    puts(text);
    free(text);
    return fflush(stdout) == 0 ? AIRY_EXIT_OK
                               : tool_fail(common, "standard output: %s", strerror(errno));
}

/* ---- the picture ---- */

/* gnuplot on a busy machine takes seconds; one that hangs does not end by itself. */
static const double PICTURE_S = 30;
/* For the last one looks are counted, 10 s in all: what stops the machine stops gnuplot, too. */
enum { LAST_LOOKS = 500, LOOK_US = 20000 };

/* Collect the process; `patience` s after its start it is killed, with its gnuplot. */
static void collect(struct watch_picture *picture, double patience)
{
    int status = 0;
    pid_t done = waitpid(picture->process, &status, WNOHANG);
    if (done == 0 && tool_now() - picture->since > patience) {
        kill(-picture->process, SIGTERM); /* it cleans up its temporary files then */
        while ((done = waitpid(picture->process, &status, 0)) < 0 && errno == EINTR)
            continue;
        kill(-picture->process, SIGKILL); /* a gnuplot that did not listen */
    }
    if (done == 0)
        return;
    picture->process = 0;
    if (status != 0 && !picture->failed)
        tool_say(picture->common, "gnuplot could not draw %s; each look tries again",
                 picture->output);
    picture->failed = status != 0;
}

bool watch_picture_idle(struct watch_picture *picture)
{
    if (picture->process)
        collect(picture, PICTURE_S);
    return picture->process == 0;
}

void watch_picture_draw(struct watch_picture *picture, const struct patterns *patterns)
{
    fflush(stdout);
    picture->since = tool_now();
    const pid_t process = fork();
    if (process == 0) {
        /* A group of its own, which Ctrl-C does not reach and one signal ends. */
        setpgid(0, 0);
        (void)signal(SIGTERM, SIG_DFL);
        tool_clean_at_interrupt();
        if (!freopen("/dev/null", "w", stderr))
            _exit(AIRY_EXIT_FAILED);
        _exit(plot_newest(picture->common, patterns, picture->log, picture->output));
    }
    if (process > 0) {
        setpgid(process, process);
        picture->process = process;
    }
}

int watch_picture_end(struct watch_picture *picture)
{
    picture->since = tool_now();
    for (int looks = 0; picture->process; looks++) {
        collect(picture, looks < LAST_LOOKS ? (double)INFINITY : 0);
        if (picture->process)
            usleep(LOOK_US);
    }
    return picture->failed ? AIRY_EXIT_FAILED : AIRY_EXIT_OK;
}
