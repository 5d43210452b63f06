/* What the commands share: failures, the device, progress, interrupts, small text. */
#ifndef AIRY_TOOLS_CLI_TOOL_H
#define AIRY_TOOLS_CLI_TOOL_H

#include <sys/types.h>

#include <jansson.h>
#include <stdio.h>

#include "airy/error.h"
#include "airy/stack.h"
#include "cli/opt.h"

enum { AIRY_EXIT_OK = 0, AIRY_EXIT_FAILED = 1, AIRY_EXIT_USAGE = 2, AIRY_EXIT_PARTLY = 3 };

/* One table entry a command; those of airy-bench are in bench/bench.h. */
extern const struct command cmd_devices, cmd_info, cmd_simulate, cmd_convert, cmd_integrate,
    cmd_compress, cmd_decompress, cmd_plot, cmd_view, cmd_diff, cmd_stats, cmd_clip, cmd_threshold,
    cmd_reduce, cmd_label, cmd_sky, cmd_sources, cmd_simulate_sky, cmd_simulate_diracs,
    cmd_simulate_kernel, cmd_simulate_oct, cmd_oct, cmd_oct_calibrate, cmd_convolve, cmd_blur,
    cmd_filter, cmd_calibrate, cmd_peaks, cmd_densify, cmd_merge, cmd_stream, cmd_keys, cmd_watch;

/* For help and manual. */
extern const char tool_subject[], tool_exit_codes[], tool_environment[];

/*
 * Print "airy COMMAND: <sentence of the last library failure><what to do>" and return exit code 1.
 */
int tool_failed(const struct common *common, airy_status status);
/*
 * The same, but wrong use (exit code 2) where the library refuses options: AIRY_ERR_PARAM about a
 * parameter that is missing, or does not go with another one.
 */
int tool_refused(const struct common *common, airy_status status);
/*
 * The sentence of a failure with options in place of parameters: "NAME ...", "NAME and OTHER ...",
 * "NAME goes with OTHER ...", and words as tool_name_values.
 */
void tool_name_options(const struct common *common, airy_error *error);
/*
 * A sentence of the library with options in place of parameters: a word "NAME=VALUE" becomes
 * "--NAME=VALUE", and "NAME=on" of a flag "--NAME".
 */
void tool_name_values(const struct common *common, char *to, size_t size, const char *text);
/* The same for the failure of another thread, whose record was kept. */
int tool_failed_as(const struct common *common, const airy_error *error);
/* Write a hint with options and commands by their names; as airy_hint_render. */
size_t tool_hint(char *text, size_t size, const struct common *common, airy_hint hint);
/* The airy_hint_style of these names; user: the address of a pointer to the command's struct common. */
bool tool_hint_style(void *user, char *text, size_t size, const char *name, const char *value);
/* The same with a sentence of the command itself. */
int tool_fail(const struct common *common, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Print a failure, or keep it (tool_hold); tail: "; WHAT TO DO NEXT", or "". */
void tool_print_failure(const char *command, const char *text, const char *tail);
/*
 * Replace the name of a temporary file, NAME.XXXXXXXX.partial, by NAME, which the user knows.
 */
void tool_hide_temporary(char *text);
/* Wrong use: "airy COMMAND: <sentence>; see ... --help", exit code 2. */
int tool_usage(const struct common *common, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a sentence that is ready, before there are parameters. */
int tool_wrong(const struct command *command, const char *text);
/*
 * Of several processes that do one job: do not print failures, the first is kept; and no talk. Each
 * call forgets what was kept.
 */
void tool_hold(bool failures, bool talk);
const char *tool_held(void);
/* Talk on stderr, unless --quiet. */
void tool_say(const struct common *common, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Open the device of --device, --threads, --memory-limit, --profile. */
airy_status tool_device(const struct common *common, airy_device **device);
/* Say which device was taken when none was named: before the work. */
void tool_say_device(const struct common *common, const airy_device *device);
/* --list, which was given, goes alone. Exit code. */
int tool_check_list(const struct common *common);
/* A text of one line that a terminal shows, as names of files: unsafe characters (quote.h) are escapes, as in
 * messages. Returns shown. */
enum { TOOL_SHOWN = 4 * 4352 };
const char *tool_shown(char shown[TOOL_SHOWN], const char *text);
/* Unsafe characters (quote.h), but for ends of lines, as '?': a text of a file that a terminal shows. */
void tool_plain(char *text);
/*
 * "airy COMMAND: text" (of no command: "") on stderr, as one line whatever the names in it: their
 * control characters are escapes, "\n" or "\x1b". All messages go through it.
 */
void tool_line(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Start a program of the search path (NULL: this one) with other words, its standard output and
 * error into files, as a child that is killed when the calling thread ends, however it ends. 0 or an errno.
 */
int tool_spawn(pid_t *pid, int output, int errors, const char *program, char *const words[]);
enum { TOOL_PATH = 4096 };
/* The path of a program in the folder of this one; false after errno was set. */
bool tool_beside(char path[TOOL_PATH], const char *name);
/* The sizes of `airy tune` that are not the defaults, if any. */
void tool_say_tuning(const struct common *common, const airy_device *device);
/* The profile asked for by --profile: table on stderr or JSON file. 0 or exit code 1. */
int tool_profile(const struct common *common, const airy_device *device);
/* The same of several devices. */
int tool_profile_all(const struct common *common, const airy_device *const *devices, size_t count);
/* The file of --profile=FILE. Exit code. */
int tool_write_profile(const struct common *common, const json_t *rows);
/* Threads for loops of the command itself: --threads, else what the CPU device would use. */
unsigned tool_threads(const struct common *common);
/* Sort numbers, none of which is NaN, in ascending order. */
void tool_sort(double *values, size_t count);
/* Sort numbers, and return the one at this part of them (0.5: the median); NaN where there is none. */
double tool_percentile(double *values, size_t count, double part);
/* Call work(user) in so many threads, the calling one among them, or in fewer; waits for all. */
void tool_work(size_t threads, void *(*work)(void *), void *user);

/* A string; bytes that are not UTF-8 are read as Latin-1, so that any file name has a text. */
json_t *tool_json_string(const char *text);
/* The string of a key of an object, as tool_shown has it from now on; "" where there is none. */
const char *tool_json_shown(const json_t *object, const char *key);
/* A number, or null where it is not finite. */
json_t *tool_json_number(double value);
/*
 * The text of a value, malloc'ed, with the fewest digits that give back each number; NULL when
 * memory is short.
 */
char *tool_json_text(const json_t *json);
/*
 * Print an object or array on stdout and release it. 0, or exit code 1 when stdout does not take
 * it.
 */
int tool_print_json(const struct common *common, json_t *json);

/*
 * Ctrl-C, SIGTERM and the end of a session (SIGHUP, unless it is ignored) before there is anything
 * to keep: say this whole line, which stays the caller's, and exit with AIRY_EXIT_FAILED. Until
 * tool_catch_interrupts().
 */
void tool_end_at_interrupt(const char *line);
/* The same signals: the first sets a flag, one half a second later or more kills. */
void tool_catch_interrupts(void);
/* A whole line that is said in the very moment; NULL: none. It stays the caller's. */
void tool_at_interrupt(const char *line);
bool tool_interrupted(void);
/*
 * Clean up temporary files (airy/file.h) where one of these signals would end the process by itself,
 * and let it end the process then. For commands that have not asked for anything else.
 */
void tool_clean_at_interrupt(void);
/* Write this line, which must stay, to standard error where a signal ends the process; NULL: none. */
void tool_say_at_interrupt(const char *line);

/* A bar with rate and time left, on a terminal only. */
struct progress {
    const struct common *common;
    const char *what;             /* "frames" */
    double start, shown, changed; /* changed: when `done` last grew */
    size_t first, done;           /* first: done when it began */
    bool active, begun, lines;    /* lines: not a terminal */
};
void progress_begin(struct progress *progress, const struct common *common, const char *what);
/* An airy_progress_fn with a struct progress; false after Ctrl-C. */
bool progress_step(void *user, size_t done, size_t total);
/* Clear the line of a terminal, where another one is to be printed. */
void progress_clear(const struct progress *progress);
void progress_end(struct progress *progress);

/* For lists of formats: text where this build reads FITS, or reads and writes TIFF. */
#if AIRY_HAVE_FITS
#define IF_FITS(text) text
#else
#define IF_FITS(text) ""
#endif
#if AIRY_HAVE_TIFF
#define IF_TIFF(text) text
#else
#define IF_TIFF(text) ""
#endif
/* What airy_frame_writer_has_format knows in this build. */
#define FRAME_SUFFIXES ".h5, .npy" IF_TIFF(", .tif")

/* The ending of a plural. */
#define tool_s(count) ((count) == 1 ? "" : "s")
/* A terminal that moves its cursor: not one of TERM=dumb, which gets no escapes. */
bool tool_is_terminal(int fd);
double tool_now(void); /* s, monotonic */
/* "17.9 MB" into text; decimal units. */
const char *tool_bytes(char text[32], double bytes);
bool tool_has_suffix(const char *path, const char *suffix); /* case is ignored */
bool tool_exists(const char *path);
/* What is under the name of an output (NULL: there is none) that a run was to write and did not. */
const char *tool_left(const struct common *common, const char *output);
/*
 * Files of the command line (files.c), looked at before a command runs: an output that is the same
 * file as an input, by whatever path or link, or as another output, is refused, and without --force
 * one that is there already. Exit code.
 */
int tool_check_files(const struct common *common);
/* The first of these for an output that the command line does not name. */
int tool_keep_inputs(const struct common *common, const char *output);
/* The message of tool_check_files about an output that is there; exit code 1. */
int tool_exists_already(const struct common *common, const char *path);
/*
 * An output, NULL or an image, whose format does not hold a result of that dtype and that many
 * dimensions (0: not known yet), as airy_image_check_format: before the work. A name of no format
 * is told by tool_check_files. Exit code.
 */
int tool_check_format(const struct common *common, const char *output, airy_dtype dtype, int ndim);
/* Before a command waits for what comes: files to be read are there, and the output's folder. */
int tool_check_waiting(const struct common *common, const char *output);
/* tool_keep_inputs for every file that frames of a stack are read from. */
int tool_keep_stack(const struct common *common, const char *output, const airy_stack *stack);
/*
 * A file that a command writes itself: under a name of its own until it is whole, as those of the
 * library (airy/file.h). Any thread, each its own.
 */
struct tool_file {
    const struct common *common;
    const char *path; /* the caller's */
    char *partial;
    FILE *file; /* what is written goes here */
};
/* Without --force a path that is there already is refused. Exit code; after 0 end or drop it. */
int tool_file_begin(struct tool_file *file, const struct common *common, const char *path);
/* It takes its name if all was written, else it goes, and why is said. sync: both to the disk. Exit code. */
int tool_file_end(struct tool_file *file, bool sync);
void tool_file_drop(struct tool_file *file);
/* airy_file_open_text of an option "--NAME ", or of an argument (""). NULL after it was said why. */
FILE *tool_open_text(const struct common *common, const char *option, const char *path);
/* Print the failure of opening the text of such an option or argument. Exit code. */
int tool_failed_open(const struct common *common, const char *option);
/* Flush stdout; a message and exit code 1 when it does not take what was printed. */
int tool_flush(const char *command);
/* Pixels of all kinds: count of a shape, 0 when it does not fit size_t. */
size_t tool_count(const size_t *shape, int ndim);

#endif
