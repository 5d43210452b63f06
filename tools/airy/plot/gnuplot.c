#include "plot/gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/quote.h"

extern char **environ;

void gnuplot_text(FILE *script, const char *text)
{
    char quoted[QUOTE_GNUPLOT];
    fprintf(script, "%s noenhanced", quote_gnuplot(quoted, text));
}

void gnuplot_whole_ticks(FILE *script, const char *axis, size_t count)
{
    enum { FEW = 10 }; /* from here on gnuplot's own are whole */
    fprintf(script, "set %stics %s\n", axis, count <= FEW ? "1" : "autofreq");
}

void gnuplot_palette(struct gnuplot *plot, const struct colormap *map)
{
    fputs("set palette defined (", plot->script);
    for (int i = 0; i < map->count; i++)
        fprintf(plot->script, "%s%d '#%02x%02x%02x'", i ? ", " : "", i, map->points[i][0],
                map->points[i][1], map->points[i][2]);
    fputs(")\n", plot->script);
}

static int fail_missing(const struct common *common)
{
    return tool_fail(common, "the program 'gnuplot' is not there, and plots are drawn by it; "
                             "install it (Debian, Ubuntu: apt install gnuplot-nox)");
}

int gnuplot_check(const struct common *common)
{
    char path[4300];
    const char *list = getenv("PATH");
    for (const char *folder = list ? list : "/usr/local/bin:/usr/bin:/bin"; *folder;
         folder += *folder == ':') {
        const size_t n = strcspn(folder, ":");
        const int length =
            snprintf(path, sizeof(path), "%.*s%sgnuplot", (int)n, folder, n ? "/" : "");
        if (length > 0 && (size_t)length < sizeof(path) && access(path, X_OK) == 0)
            return AIRY_EXIT_OK;
        folder += n;
    }
    return fail_missing(common);
}

/* gnuplot without its init files, standard input from us, the picture on standard output. */
static int start(struct gnuplot *plot)
{
    int ends[2];
    if (pipe(ends) != 0)
        return tool_fail(plot->common, "no pipe to gnuplot: %s", strerror(errno));
    plot->talk = tmpfile();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_adddup2(&actions, fileno(plot->picture.file), STDOUT_FILENO);
    if (plot->talk)
        posix_spawn_file_actions_adddup2(&actions, fileno(plot->talk), STDERR_FILENO);
    char *const argv[] = {(char *)"gnuplot", (char *)"-d", NULL};
    const int failed = posix_spawnp(&plot->pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (failed) {
        close(ends[1]);
        if (plot->talk)
            fclose(plot->talk);
        if (failed == ENOENT)
            return fail_missing(plot->common);
        return tool_fail(plot->common, "gnuplot cannot be started: %s", strerror(failed));
    }
    plot->script = fdopen(ends[1], "w");
    return AIRY_EXIT_OK;
}

int gnuplot_check_name(const struct common *common, const char *output)
{
    if (tool_has_suffix(output, ".png") || tool_has_suffix(output, ".svg") ||
        tool_has_suffix(output, ".pdf"))
        return AIRY_EXIT_OK;
    return tool_usage(common, "output '%s': expected a name that ends in .png, .svg or .pdf",
                      output);
}

static void write_terminal(FILE *s, const char *output, double aspect)
{
    if (tool_has_suffix(output, ".png"))
        fprintf(s,
                "set terminal pngcairo size 1600,%d font 'DejaVu Sans,22' linewidth 2 background "
                "'white'\n",
                (int)(1600 * aspect));
    else if (tool_has_suffix(output, ".svg"))
        fprintf(
            s,
            "set terminal svg size 800,%d font 'DejaVu Sans,13' linewidth 1.2 background 'white'\n",
            (int)(800 * aspect));
    else
        fprintf(s, "set terminal pdfcairo size 16cm,%.1fcm font 'DejaVu Sans,10' linewidth 1.2\n",
                16 * aspect);
}

int gnuplot_begin(struct gnuplot *plot, const struct common *common, const char *output,
                  double aspect)
{
    memset(plot, 0, sizeof(*plot));
    plot->common = common;
    int code = gnuplot_check_name(common, output);
    if (code == AIRY_EXIT_OK)
        code = tool_file_begin(&plot->picture, common, output);
    if (code != AIRY_EXIT_OK)
        return code;
    signal(SIGPIPE, SIG_IGN); /* a gnuplot that died shows in its exit status */
    code = start(plot);
    if (code != AIRY_EXIT_OK) {
        tool_file_drop(&plot->picture);
        return code;
    }
    write_terminal(plot->script, output, aspect);
    fputs("set encoding utf8\nset border lw 0.8 lc '#303030'\nset tics nomirror scale 0.6\n"
          "set datafile missing 'NaN'\nset format '%h'\n", /* by itself with a blank before */
          plot->script);
    return AIRY_EXIT_OK;
}

int gnuplot_end(struct gnuplot *plot)
{
    char line[512] = "";
    int status = 0;
    fputs("unset output\n", plot->script);
    const bool piped = fclose(plot->script) == 0;
    while (waitpid(plot->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (plot->talk) {
        rewind(plot->talk);
        for (char text[512]; fgets(text, sizeof(text), plot->talk);)
            if (strspn(text, " \t\r\n^") < strlen(text))
                snprintf(line, sizeof(line), "%s", text); /* the last line says what is wrong */
        line[strcspn(line, "\n")] = 0;
        fclose(plot->talk);
    }
    const bool drawn = piped && status == 0;
    if (drawn)
        return tool_file_end(&plot->picture, true);
    tool_file_drop(&plot->picture);
    return tool_fail(plot->common, "%s: gnuplot failed: %s", plot->picture.path,
                     *line ? line : "no reason given");
}
