#include "cli/opt.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "airy/file.h"
#include "airy/integrate.h"
#include "cli/job_command.h"
#include "cli/words.h"
#include "cli/tool.h"

enum { HELP_COLUMN = 30, LEAST_WIDTH = 60, MOST_WIDTH = 100 };

static const char *parse_device(void *field, const char *text)
{
    if (!*text)
        return "expected a device, see 'airy devices'";
    *(const char **)field = text;
    return NULL;
}

/* It holds for every HDF5 file of the process, so there is no field. */
static const char *allow_folder(void *field, const char *text)
{
    (void)field;
    return airy_external_folder_allow(text) == AIRY_OK ? NULL : "expected a folder that is there";
}

static const struct opt common_options[] = {
    {.heading = "Everywhere"},
    {.name = "device",
     .type = OPT_PARSED,
     .parse = parse_device,
     .takes = TAKES_DEVICE,
     .offset = offsetof(struct common, device),
     .argument = "SPEC",
     .fallback = "AIRY_DEVICE, else the first GPU that works, else cpu",
     .help = "selects the device: cpu, gpu, gpu:N, opencl, opencl:P:D or a part of a name; see "
             "'airy devices'. For "
             "integrate several: gpu:all, or specs with commas between"},
    {.name = "compare",
     .type = OPT_STRING,
     .takes = TAKES_COMPARE,
     .offset = offsetof(struct common, compare),
     .argument = "A,B",
     .help = "runs on device A and on B, and prints the largest difference in units in the last "
             "place, the "
             "largest relative one and both times as JSON. The outputs are A's"},
    {.name = "threads",
     .type = OPT_COUNT,
     .takes = TAKES_THREADS,
     .offset = offsetof(struct common, threads),
     .lo = 1,
     .hi = 1024,
     .argument = "N",
     .fallback = "what affinity mask and cgroup quota allow",
     .help = "sets the number of threads of the CPU's pool"},
    {.name = "memory-limit",
     .type = OPT_BYTES,
     .takes = TAKES_MEMORY,
     .offset = offsetof(struct common, memory_limit),
     .argument = "SIZE",
     .fallback = "none",
     .help = "sets the most memory in bytes, with K, M or G, for the host and for each device"},
    {.name = "profile",
     .type = OPT_STRING,
     .optional = true,
     .takes = TAKES_PROFILE,
     .offset = offsetof(struct common, profile_file),
     .seen = offsetof(struct common, profile),
     .use = OPT_WRITTEN,
     .argument = "FILE",
     .help = "prints a table of kernels, loops and copies on stderr at the end, or writes JSON "
             "into FILE"},
    {.name = "external-folder",
     .type = OPT_PARSED,
     .parse = allow_folder,
     .argument = "DIR",
     .fallback = "the folder of the HDF5 file",
     .help = "also reads raw data that HDF5 files keep in other files (external storage) from this "
             "folder and from folders in it; may be given several times"},
    {.name = "no-verify",
     .type = OPT_FLAG,
     .offset = offsetof(struct common, unverified),
     .help = "does not verify the checksums in CBF and FITS files, to save the time that this "
             "takes"},
    {.name = "config",
     .type = OPT_STRING,
     .takes = TAKES_CONFIG,
     .offset = offsetof(struct common, config),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "takes parameters from this file: a JSON object of names and values, or a result, of "
             "which it takes the geometry and what decided the values; an option that is given "
             "counts more"},
    {.name = "json",
     .type = OPT_FLAG,
     .offset = offsetof(struct common, json),
     .help = "prints one JSON object on stdout"},
    {.name = "explain",
     .type = OPT_FLAG,
     .takes = TAKES_EXPLAIN,
     .offset = offsetof(struct common, explain),
     .help = "prints engine, matrix, memory and predicted rate, then stops"},
    {.name = "force",
     .type = OPT_FLAG,
     .offset = offsetof(struct common, force),
     .help = "overwrites the output"},
    {.name = "quiet",
     .type = OPT_FLAG,
     .offset = offsetof(struct common, quiet),
     .help = "prints nothing on stderr but errors"},
    {.name = "verbose",
     .type = OPT_FLAG,
     .offset = offsetof(struct common, verbose),
     .help = "prints what was chosen and why"},
    {.name = "help",
     .letter = 'h',
     .type = OPT_FLAG,
     .offset = offsetof(struct common, help),
     .help = "prints this text"},
    {.name = "version",
     .type = OPT_FLAG,
     .offset = offsetof(struct common, version),
     .help = "prints the version; with --verbose also filters, SIMD and libraries"},
    {0},
};

bool opt_list_add(struct opt_list *list, const char *item)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof(*items));
    if (!items)
        return false;
    list->items = items;
    list->items[list->count++] = item;
    return true;
}

bool opt_ends(const struct opt *opt)
{
    return !opt->name && !opt->heading;
}

bool opt_in_table(const struct opt *table, const char *name)
{
    for (; !opt_ends(table); table++)
        if (table->name && strcmp(table->name, name) == 0)
            return true;
    return false;
}

static bool is_common(const char *name)
{
    return opt_in_table(common_options, name);
}

const char *opt_summary(const struct command *command)
{
    airy_job_info info;
    return command->job && airy_job_describe(&info, command->job) == AIRY_OK ? info.summary
                                                                             : command->summary;
}

const char *opt_details(const struct command *command, int paragraph)
{
    airy_job_info info;
    const bool is_job = command->job && airy_job_describe(&info, command->job) == AIRY_OK;
    return paragraph == is_job ? command->details : paragraph == 0 ? info.details : NULL;
}

/* Whether the command writes a file that may be there already. */
static bool overwrites(const struct command *command)
{
    for (size_t t = 0; t < OPT_TABLES && !command->writes; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++)
            if (opt->name && opt->use >= OPT_WRITTEN && opt_taken(command, opt))
                return true;
    return command->writes > 0;
}

bool opt_taken(const struct command *command, const struct opt *opt)
{
    if (opt->name && strcmp(opt->name, "force") == 0)
        return overwrites(command);
    return !opt->takes || (command->takes & opt->takes) ||
           (opt->takes == TAKES_CONFIG && command->job);
}

static void usage_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void usage_error(const struct command *command, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)tool_wrong(command, text);
}

/* What set_field answers then; no wrong use. */
static const char no_memory[] = "out of memory";

static int out_of_memory(const struct command *command)
{
    tool_line(command->name, "%s", no_memory);
    return AIRY_EXIT_FAILED;
}

bool opt_number(const char *text, double *value)
{
    char *end = NULL;
    if (text[strspn(text, "0123456789+-.eE")]) /* strtod takes blanks, 0x1p3, inf and nan, too */
        return false;
    const double number = strtod(text, &end);
    if (*end || end == text || isinf(number))
        return false;
    *value = number;
    return true;
}

const char *opt_any_number(void *field, const char *text)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    const char *word = text + (*text == '+' || *text == '-');
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(word, words[i]) == 0) {
            *(double *)field = strtod(text, NULL);
            return NULL;
        }
    return opt_number(text, field) ? NULL : "expected a number, nan or inf";
}

bool opt_whole(const char *text, uint64_t *value)
{
    if (!isdigit((unsigned char)*text))
        return false;
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (*end || errno)
        return false;
    *value = number;
    return true;
}

/* Numbers between commas, `most` of them at most; how many, 0 where the text is something else. */
static size_t read_numbers(const char *text, double *numbers, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        char word[64];
        const size_t n = strcspn(text, ",");
        if (n >= sizeof(word))
            return 0;
        memcpy(word, text, n);
        word[n] = 0;
        if (!opt_number(word, &numbers[i]))
            return 0;
        if (!text[n])
            return i + 1;
        text += n + 1;
    }
    return 0;
}

const char *opt_given(const struct common *common, const char *name, const char *otherwise)
{
    const char *argument = otherwise;
    for (size_t i = 0; i + 1 < common->given.count; i += 2)
        if (strcmp(common->given.items[i], name) == 0)
            argument = common->given.items[i + 1];
    return argument;
}

/* "A,B" as two numbers. */
static bool read_two(const char *text, double value[2])
{
    double pair[2];
    if (read_numbers(text, pair, 2) != 2)
        return false;
    value[0] = pair[0];
    value[1] = pair[1];
    return true;
}

const char *opt_word(const char *text, const char *const *words, int *index)
{
    static char why[256]; /* the sentence outlives the call */
    size_t count = 0;
    for (; words[count]; count++)
        if (strcmp(text, words[count]) == 0) {
            *index = (int)count;
            return NULL;
        }
    const char *near = tool_suggest(text, words, count);
    size_t n = (size_t)snprintf(why, sizeof(why), "expected");
    for (size_t i = 0; i < count && n < sizeof(why); i++)
        n += (size_t)snprintf(why + n, sizeof(why) - n, "%s %s",
                              i == 0           ? ""
                              : i + 1 == count ? " or"
                                               : ",",
                              words[i]);
    if (near && n < sizeof(why))
        snprintf(why + n, sizeof(why) - n, "; did you mean '%s'?", near);
    return why;
}

static bool parse_bytes(const char *text, uint64_t *value)
{
    char digits[32];
    const size_t n = strspn(text, "0123456789.");
    if (n == 0 || n >= sizeof(digits))
        return false;
    memcpy(digits, text, n);
    digits[n] = 0;
    double number;
    if (!opt_number(digits, &number))
        return false;
    static const char units[] = "KMGT";
    double scale = 1;
    const char *rest = text + n;
    if (*rest) {
        const char *unit = strchr(units, toupper((unsigned char)*rest));
        if (!unit || (rest[1] && strcmp(rest + 1, "iB") != 0 && strcmp(rest + 1, "B") != 0))
            return false;
        scale = ldexp(1, 10 * (int)(unit - units + 1));
    }
    /* 2^60: beyond any memory, and exact in the conversion */
    if (!(number * scale >= 1) || number * scale > 0x1p60)
        return false;
    *value = (uint64_t)(number * scale);
    return true;
}

/* Of two values of a job's parameter the last one counts. */
static const char *set_parameter(const struct opt *opt, airy_job *job, const char *text)
{
    airy_job_origin origin = AIRY_ORIGIN_DEFAULT;
    (void)airy_job_get_origin(job, opt->name, &origin);
    if (origin == AIRY_ORIGIN_GIVEN && !opt->parameter->list)
        (void)airy_job_reset(job, opt->name);
    const airy_status status = airy_job_set(job, opt->name, text ? text : "on");
    return status == AIRY_ERR_MEMORY ? no_memory : status == AIRY_OK ? NULL : airy_last_error();
}

static const char *set_count(const struct opt *opt, size_t *field, const char *text)
{
    static char why[128];
    uint64_t value;
    snprintf(why, sizeof(why), "expected a whole number from %.0f to %.0f", opt->lo, opt->hi);
    if (!opt_whole(text, &value) || (double)value < opt->lo || (double)value > opt->hi)
        return why;
    *field = (size_t)value;
    return NULL;
}

static const char *set_number(const struct opt *opt, double *field, const char *text)
{
    static char why[128];
    const bool limited = opt->lo != 0 || opt->hi != 0; /* only both zero means no limit */
    double value;
    if (!opt_number(text, &value))
        return "expected a number";
    snprintf(why, sizeof(why), "expected a number from %g to %g", opt->lo, opt->hi);
    if (limited && !(value >= opt->lo && value <= opt->hi))
        return why;
    *field = value;
    return NULL;
}

/* A sentence of what was expected, or NULL when the field was filled. */
static const char *set_field(const struct opt *opt, void *field, const char *text)
{
    if (opt->parameter)
        return set_parameter(opt, *(airy_job **)field, text);
    switch (opt->type) {
    case OPT_FLAG:
        *(bool *)field = true;
        return NULL;
    case OPT_COUNT:
        return set_count(opt, field, text);
    case OPT_BYTES:
        return parse_bytes(text, field) ? NULL : "expected bytes such as 800M or 2G";
    case OPT_FLOAT:
        return set_number(opt, field, text);
    case OPT_PAIR:
        return read_two(text, field) ? NULL : "expected two numbers A,B";
    case OPT_STRING:
        if (!*text)
            return "expected a word";
        *(const char **)field = text;
        return NULL;
    case OPT_LIST:
        return opt_list_add(field, text) ? NULL : no_memory;
    case OPT_WORD:
        return opt_word(text, opt->words, field);
    case OPT_PARSED:
        return opt->parse(field, text);
    }
    return NULL;
}

const struct opt *opt_table(const struct command *command, size_t i)
{
    if (i == 0 && (command->job || command->borrows))
        return job_options(command, is_common);
    return i + 1 == OPT_TABLES ? common_options : command->tables[i];
}

/* word, or NULL, has this length and these letters. */
static bool is_word(const char *word, const char *text, size_t length)
{
    return word && strlen(word) == length && strncmp(word, text, length) == 0;
}

/* By long name of some length, or by letter. own: not of the common table. */
static const struct opt *find_option(const struct command *command, const char *name, size_t length,
                                     char letter, bool *own)
{
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++) {
            if (!opt->name)
                continue;
            *own = t + 1 < OPT_TABLES;
            const char *older = opt->parameter ? opt->parameter->alias : NULL;
            if (letter ? opt->letter == letter
                       : is_word(opt->name, name, length) || is_word(older, name, length))
                return opt;
        }
    return NULL;
}

/* Keep an option for a configuration that can be replayed; the argument is NULL for a flag. */
static bool remember(struct common *common, const struct opt *opt, const char *argument)
{
    return opt_list_add(&common->given, opt->name) && opt_list_add(&common->given, argument);
}

static void unknown_option(const struct command *command, const char *word)
{
    const char *names[128];
    size_t count = 0;
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt) && count < 128;
             opt++)
            if (opt->name && opt_taken(command, opt))
                names[count++] = opt->name;
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *near = tool_suggest(name, names, count);
    if (near)
        usage_error(command, "unknown option --%s, did you mean --%s?", name, near);
    else
        usage_error(command, "unknown option --%s", name);
}

/* The option of a word that the command takes; *argument: what the word has of it, or NULL. NULL: it was refused. */
static const struct opt *option_of_word(const struct command *command, const char *word,
                                        const char **argument, bool *own)
{
    const bool is_long = word[1] == '-';
    const size_t length = is_long ? strcspn(word + 2, "=") : 0;
    const struct opt *opt = find_option(command, word + 2, length, is_long ? 0 : word[1], own);
    *argument = NULL;
    if (opt && is_long && word[2 + length])
        *argument = word + 2 + length + 1;
    if (opt && !is_long && word[2]) /* -oFILE, -o=FILE */
        *argument = word + 2 + (word[2] == '=');
    const bool more = opt && opt->type == OPT_FLAG && *argument;
    if (is_long && !opt)
        unknown_option(command, word);
    else if (!opt || (!is_long && more))
        usage_error(command, "unknown option %s", word);
    else if (!opt_taken(command, opt) && opt->takes != TAKES_THREADS)
        usage_error(command, "--%s is no option of this command", opt->name);
    else if (more)
        usage_error(command, "--%s takes no argument", opt->name);
    else
        return opt;
    return NULL;
}

/* The argument of an option that is the next word. Exit code. */
static int next_argument(const struct command *command, const struct opt *opt, const char *next,
                         const char **argument)
{
    if (opt->optional) {
        if (!next || !tool_has_suffix(next, ".json")) /* which no command reads */
            return 0;
        usage_error(command, "--%s %s: its %s goes behind '=', --%s=%s", opt->name, next,
                    opt->argument, opt->name, next);
        return AIRY_EXIT_USAGE;
    }
    if (!next) {
        usage_error(command, "--%s needs an argument %s", opt->name, opt->argument);
        return AIRY_EXIT_USAGE;
    }
    const bool number = next[0] == '-' && (isdigit((unsigned char)next[1]) || next[1] == '.');
    if (next[0] == '-' && next[1] && !number) {
        usage_error(command, "--%s needs an argument %s; one that begins with '-' goes as --%s=%s",
                    opt->name, opt->argument, opt->name, next);
        return AIRY_EXIT_USAGE;
    }
    *argument = next;
    return 0;
}

/* One option of argv at *i; advances *i when the argument is the next word. */
static int parse_option(const struct command *command, void *params, int argc, char **argv, int *i)
{
    const char *argument;
    bool own = false;
    const struct opt *opt = option_of_word(command, argv[*i], &argument, &own);
    if (!opt)
        return AIRY_EXIT_USAGE;
    if (opt->seen)
        *(bool *)((char *)params + opt->seen) = true;
    if (opt->type != OPT_FLAG && !argument) {
        const int code =
            next_argument(command, opt, *i + 1 < argc ? argv[*i + 1] : NULL, &argument);
        if (code != 0 || !argument)
            return code;
        ++*i;
    }
    const char *expected = set_field(opt, (char *)params + opt->offset, argument);
    if (expected == no_memory)
        return out_of_memory(command);
    if (expected) {
        if (opt->parameter) /* the sentence begins with its name */
            usage_error(command, "--%s", expected);
        else
            usage_error(command, "--%s %s: %s", opt->name, *argument ? argument : "''", expected);
        return AIRY_EXIT_USAGE;
    }
    if (own && !remember(params, opt, argument))
        return out_of_memory(command);
    return 0;
}

/* Several devices only where they are taken, and none twice. */
static bool check_device(const struct command *command, const char *device)
{
    if (!device || !strchr(device, ','))
        return true;
    if (!(command->takes & TAKES_DEVICES)) {
        usage_error(command, "--device %s: this command takes one device", device);
        return false;
    }
    for (const char *a = device; *a; a += a[0] == ',') {
        const size_t n = strcspn(a, ",");
        for (const char *b = a + n; *b;) {
            const size_t m = strcspn(++b, ",");
            if (n == m && strncasecmp(a, b, n) == 0) {
                usage_error(command, "--device %s: %.*s is named twice", device, (int)n, a);
                return false;
            }
            b += m;
        }
        a += n;
    }
    return true;
}

/* What the options and the number of arguments say by themselves. Exit code. */
static int check_common(const struct command *command, const struct common *common)
{
    if (common->quiet && common->verbose) {
        usage_error(command, "--quiet and --verbose exclude each other");
        return AIRY_EXIT_USAGE;
    }
    if (!check_device(command, common->device))
        return AIRY_EXIT_USAGE;
    if (common->inputs.count < command->min_inputs) {
        usage_error(command, "%s, usage: airy %s %s",
                    common->inputs.count ? "an argument is missing"
                                         : "nothing was given to work on",
                    command->name, command->usage);
        return AIRY_EXIT_USAGE;
    }
    if (common->inputs.count > command->max_inputs) {
        usage_error(command, "unexpected argument '%s', usage: airy %s%s%s",
                    common->inputs.items[command->max_inputs], command->name,
                    *command->usage ? " " : "", command->usage);
        return AIRY_EXIT_USAGE;
    }
    return 0;
}

int opt_parse(const struct command *command, void *params, int argc, char **argv)
{
    memset(params, 0, command->params_size);
    struct common *common = params;
    common->command = command;
    common->argc = argc;
    common->argv = argv;
    const char *job = command->job ? command->job : command->borrows;
    if (job && (!opt_table(command, 0) || !job_open(params, job)))
        return out_of_memory(command);
    bool only_inputs = false;
    for (int i = 0; i < argc; i++) {
        if (!only_inputs && strcmp(argv[i], "--") == 0) {
            only_inputs = true;
        } else if (!only_inputs && argv[i][0] == '-' && argv[i][1]) {
            const int failed = parse_option(command, params, argc, argv, &i);
            if (failed)
                return failed;
        } else {
            static const struct opt input = {.type = OPT_LIST};
            const char *expected = set_field(&input, &common->inputs, argv[i]);
            if (expected == no_memory)
                return out_of_memory(command);
            if (expected) {
                usage_error(command, "%s: %s", argv[i], expected);
                return AIRY_EXIT_USAGE;
            }
        }
    }
    if (common->help || common->version)
        return 0;
    return check_common(command, common);
}

void opt_free(const struct command *command, void *params)
{
    struct common *common = params;
    if (command->job || command->borrows)
        job_close(params);
    free(common->inputs.items);
    free(common->given.items);
    for (size_t t = 0; t + 1 < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++)
            if (opt->name && opt->type == OPT_LIST)
                free(((struct opt_list *)(void *)((char *)params + opt->offset))->items);
}

const char *opt_section(const struct command *command, const char *name)
{
    const char *section = "";
    for (const struct opt *opt = opt_table(command, 0); opt && !opt_ends(opt); opt++) {
        section = opt->heading ? opt->heading : section;
        if (opt->parameter && strcmp(opt->name, name) == 0)
            return section;
    }
    return NULL;
}

bool opt_has(const struct command *command, const char *name)
{
    for (size_t t = 0; t + 1 < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++)
            if (opt->name && strcmp(opt->name, name) == 0)
                return true;
    return false;
}

size_t opt_files(const struct common *common, struct opt_file files[OPT_FILES])
{
    size_t count = 0;
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(common->command, t); opt && !opt_ends(opt); opt++) {
            if (!opt->name || opt->use == OPT_NO_FILE ||
                (opt->type != OPT_STRING && !opt->parameter))
                continue;
            const char *path =
                opt->parameter
                    ? opt_given(common, opt->name, NULL)
                    : *(const char *const *)(const void *)((const char *)common + opt->offset);
            if (path && count < OPT_FILES)
                files[count++] = (struct opt_file){path, opt->offset, opt->use, opt->holds};
        }
    return count;
}

/* Columns of the terminal, where COLUMNS or the terminal itself says so, within limits. */
static int help_width(void)
{
    const char *said = getenv("COLUMNS");
    struct winsize window = {.ws_col = 0};
    uint64_t columns = 0;
    if (!said || !opt_whole(said, &columns) || columns == 0)
        columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
    return columns == 0 || columns > MOST_WIDTH ? MOST_WIDTH
           : columns < LEAST_WIDTH              ? LEAST_WIDTH
                                                : (int)columns;
}

/* Print text from column on, broken at blanks. */
static void print_wrapped(const char *text, int column, int indent)
{
    const int width = help_width();
    int at = column;
    for (bool first = true; *text; first = false) {
        text += strspn(text, " ");
        const int word = (int)strcspn(text, " ");
        if (!first && at + 1 + word > width) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        printf("%.*s", word, text);
        at += word;
        text += word;
    }
    putchar('\n');
}

void opt_help_text(char text[OPT_HELP], const struct opt *opt)
{
    char formats[TOOL_FORMATS] = "";
    if (opt->use == OPT_WRITTEN_IMAGE)
        tool_image_suffixes(formats, opt->holds ? (airy_dtype)(opt->holds - 1) : AIRY_DTYPE_COUNT,
                            0);
    const char *unit = opt->parameter ? opt->parameter->unit : NULL;
    const bool is_found = opt->parameter && opt->parameter->computed;
    char value[OPT_HELP] = "";
    if (unit && opt->fallback && !is_found)
        snprintf(value, sizeof(value), " (default %s %s)", opt->fallback, unit);
    else if (unit || opt->fallback)
        snprintf(value, sizeof(value), " (%s%s%s%s%s)", unit ? "in " : "", unit ? unit : "",
                 unit && opt->fallback ? "; " : "", opt->fallback ? "default " : "",
                 opt->fallback ? opt->fallback : "");
    snprintf(text, OPT_HELP, "%s%s%s%s", opt->help, *formats ? "; " : "", formats, value);
}

static void print_option(const struct opt *opt)
{
    char left[96], help[OPT_HELP];
    int n = opt->letter ? snprintf(left, sizeof(left), "  -%c, --%s", opt->letter, opt->name)
                        : snprintf(left, sizeof(left), "  --%s", opt->name);
    if (opt->argument)
        n += snprintf(left + n, sizeof(left) - (size_t)n, opt->optional ? "[=%s]" : " %s",
                      opt->argument);
    opt_help_text(help, opt);
    if (n >= HELP_COLUMN - 1)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    print_wrapped(help, HELP_COLUMN, HELP_COLUMN);
}

void opt_help(const struct command *command)
{
    printf("usage: airy %s %s\n\n%s\n", command->name,
           *command->usage ? command->usage : "[options]", opt_summary(command));
    const char *details;
    for (int i = 0; i < 2 && (details = opt_details(command, i)); i++) {
        putchar('\n');
        print_wrapped(details, 0, 0);
    }
    struct opt_word word;
    if (command->word)
        printf("\n%s\n", command->words);
    for (size_t i = 0; command->word && command->word(i, &word); i++) {
        printf("  %-*s", HELP_COLUMN - 2, word.name);
        print_wrapped(word.help, HELP_COLUMN, HELP_COLUMN);
    }
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++) {
            if (opt->heading)
                printf("\n%s\n", opt->heading);
            if (opt->name && opt_taken(command, opt))
                print_option(opt);
        }
    if (command->examples)
        printf("\nExamples\n%s", command->examples);
}
