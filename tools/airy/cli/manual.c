#include "cli/manual.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "airy/job.h"
#include "airy/calibrate.h"
#include "cli/tool.h"

const char tool_subject[] =
    "compressed detector stacks to radial patterns, on the CPU and on OpenCL devices";
const char tool_exit_codes[] =
    "0 done, 1 failed, 2 wrong use, 3 finished but some frames failed (--on-error skip).";
const char tool_environment[] =
    "AIRY_DEVICE, AIRY_CPU (instruction-set mask), AIRY_LOG (off error warn info debug), "
    "AIRY_CACHE_DIR.";

enum { ROFF_WIDTH = 72 }; /* of the source; man(1) sets the text anew */

/* One word or line in roff: nothing in it is a command. A dash that begins an option stays one. */
static size_t put_word(FILE *file, const char *text, size_t n)
{
    size_t written = 0;
    const char *option = NULL;
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        char one[2] = {c, 0};
        const char *as = one;
        if (i == 0 || !(isalnum((unsigned char)text[i - 1]) || text[i - 1] == '-'))
            option = c == '-' ? text + i : NULL;
        if (c == '-' && (option || i + 1 == n || !isalpha((unsigned char)text[i + 1])))
            as = "\\-";
        else if (c == '\\')
            as = "\\e";
        else if (c == '"')
            as = "\\(dq";
        else if (c == '\'')
            as = "\\(aq";
        else if (c == '`')
            as = "\\(ga";
        else if (c == '^')
            as = "\\(ha";
        else if (c == '~')
            as = "\\(ti";
        else if (c == '.' && i == 0)
            as = "\\&.";
        fputs(as, file);
        written += strlen(as);
    }
    return written;
}

static void put_text(FILE *file, const char *text)
{
    size_t at = 0;
    for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
        const size_t n = strcspn(text, " \n");
        if (at && at + 1 + n > ROFF_WIDTH) {
            putc('\n', file);
            at = 0;
        } else if (at) {
            putc(' ', file);
            at++;
        }
        at += put_word(file, text, n);
        text += n;
    }
    putc('\n', file);
}

static void put_line(FILE *file, const char *macro, const char *text)
{
    fprintf(file, "%s ", macro);
    put_word(file, text, strlen(text));
    putc('\n', file);
}

/* Lines as they are, set in. */
static void put_examples(FILE *file, const char *text)
{
    fputs(".nf\n", file);
    while (*text) {
        const size_t n = strcspn(text, "\n");
        put_word(file, text, n);
        putc('\n', file);
        text += n + (text[n] == '\n');
    }
    fputs(".fi\n", file);
}

/* "airy-simulate-oct" */
static void page_name(char name[64], const struct command *command)
{
    snprintf(name, 64, "airy-%s", command->name);
    for (char *c = name; *c; c++)
        if (*c == ' ')
            *c = '-';
}

/* The day of the page: SOURCE_DATE_EPOCH makes builds repeatable, else today. */
static void put_title(FILE *file, const char *name)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    uint64_t seconds;
    time_t now = epoch && opt_whole(epoch, &seconds) ? (time_t)seconds : time(NULL);
    struct tm day;
    char text[16] = "";
    if (gmtime_r(&now, &day))
        strftime(text, sizeof(text), "%Y-%m-%d", &day);
    fputs(".TH ", file);
    for (const char *c = name; *c; c++)
        putc(toupper((unsigned char)*c), file);
    fprintf(file, " 1 %s \"Airy %s\" \"Airy\"\n.SH NAME\n%s \\-\n", text, airy_version(), name);
}

static void put_option(FILE *file, const struct opt *opt)
{
    char text[OPT_HELP];
    fputs(".TP\n.B ", file);
    if (opt->letter)
        fprintf(file, "\\-%c\\fR, \\fB", opt->letter);
    snprintf(text, sizeof(text), "--%s", opt->name);
    put_word(file, text, strlen(text));
    if (opt->argument) {
        fputs(opt->optional ? "\\fR[=\\fI" : "\\fR \\fI", file);
        put_word(file, opt->argument, strlen(opt->argument));
        fputs(opt->optional ? "\\fR]" : "\\fR", file);
    }
    putc('\n', file);
    opt_help_text(text, opt);
    put_text(file, text);
}

static void put_words(FILE *file, const struct command *command)
{
    struct opt_word word;
    put_line(file, ".SH", command->words);
    for (size_t i = 0; command->word(i, &word); i++) {
        put_line(file, ".TP\n.B", word.name);
        put_text(file, word.help);
    }
}

/* Where the pages are that descriptions name. */
static void put_pages(FILE *file)
{
    fputs(".PP\n", file);
    put_text(file, "Pages such as docs/live.md are in the folder " AIRY_DOCDIR ".");
}

static void put_command(FILE *file, const struct command *command)
{
    char name[64];
    page_name(name, command);
    put_title(file, name);
    put_text(file, opt_summary(command));
    fprintf(file, ".SH SYNOPSIS\n.B airy %s\n", command->name);
    put_text(file, *command->usage ? command->usage : "[options]");
    for (int i = 0; i < 2 && opt_details(command, i); i++) {
        fputs(i == 0 ? ".SH DESCRIPTION\n" : ".PP\n", file);
        put_text(file, opt_details(command, i));
    }
    if (command->word)
        put_words(file, command);
    fputs(".SH OPTIONS\n", file);
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++) {
            if (opt->heading)
                put_line(file, ".SS", opt->heading);
            if (opt->name && opt_taken(command, opt))
                put_option(file, opt);
        }
    if (command->examples) {
        fputs(".SH EXAMPLES\n", file);
        put_examples(file, command->examples);
    }
    fputs(".SH SEE ALSO\n.BR airy (1)\n", file);
    put_pages(file);
}

static void put_overview(FILE *file, const struct command *const *commands, size_t count)
{
    put_title(file, "airy");
    put_text(file, tool_subject);
    fputs(".SH SYNOPSIS\n.B airy\n.I COMMAND\n[options] INPUT... [\\-o OUTPUT]\n.br\n"
          ".B airy\n.I COMMAND\n.B \\-\\-help\n.br\n"
          ".B airy \\-\\-version\n[\\-\\-verbose]\n.SH COMMANDS\n",
          file);
    for (size_t i = 0; i < count; i++) {
        put_line(file, ".TP\n.B", commands[i]->name);
        put_text(file, opt_summary(commands[i]));
    }
    fputs(".SH EXIT STATUS\n", file);
    put_text(file, tool_exit_codes);
    fputs(".SH ENVIRONMENT\n", file);
    put_text(file, tool_environment);
    fputs(".SH SEE ALSO\n", file);
    for (size_t i = 0; i < count; i++) {
        char name[64];
        page_name(name, commands[i]);
        fprintf(file, ".BR %s (1)%s\n", name, i + 1 < count ? "," : "");
    }
    put_pages(file);
}

static int said(const char *path)
{
    tool_line("", "cannot write %s: %s", path, strerror(errno));
    return AIRY_EXIT_FAILED;
}

/* One page: of a command, or of all (NULL). */
static int write_page(const char *folder, const struct program *program,
                      const struct command *command)
{
    char name[64] = "airy", path[4096];
    if (command)
        page_name(name, command);
    snprintf(path, sizeof(path), "%s/%s.1", folder, name);
    unlink(path); /* what a link there leads to is not written */
    FILE *file = fopen(path, "wxe");
    if (!file)
        return said(path);
    if (command)
        put_command(file, command);
    else
        put_overview(file, program->commands, program->count);
    const bool failed = ferror(file) != 0;
    return fclose(file) != 0 || failed ? said(path) : AIRY_EXIT_OK;
}

/* Let the other programs do the same for the commands that they have. Exit code. */
static int ask_others(const struct program *program, const char *option, const char *folder)
{
    char path[TOOL_PATH], *const words[] = {"airy", (char *)option, (char *)folder, NULL};
    const char *asked = "";
    for (size_t i = 0; i < program->count; i++) {
        const char *other = program->commands[i]->program;
        if (!other || strcmp(other, asked) == 0)
            continue;
        asked = other;
        pid_t pid = 0;
        int status = 0, failed = tool_beside(path, other) ? 0 : errno;
        if (!failed)
            failed = tool_spawn(&pid, STDOUT_FILENO, STDERR_FILENO, path, words);
        if (!failed && waitpid(pid, &status, 0) == pid && status == 0)
            continue;
        tool_line("", "%s %s has failed%s%s", other, option, failed ? ": " : "",
                  failed ? strerror(failed) : "");
        return AIRY_EXIT_FAILED;
    }
    return AIRY_EXIT_OK;
}

int manual_pages(const char *folder, const struct program *program)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return said(folder);
    int code = program->is_part ? AIRY_EXIT_OK : write_page(folder, program, NULL);
    for (size_t i = 0; i < program->count && code == AIRY_EXIT_OK; i++)
        if (!program->commands[i]->program)
            code = write_page(folder, program, program->commands[i]);
    return code == AIRY_EXIT_OK ? ask_others(program, "--manual", folder) : code;
}

/* The option's parser takes the word. */
static bool takes_word(const struct command *command, const struct opt *opt, const char *word)
{
    char *params = calloc(1, command->params_size);
    const bool taken = params && opt->parse(params + opt->offset, word) == NULL;
    free(params);
    return taken;
}

/* Whether the parameter of an option takes this text; why not is the library's last error. */
static bool takes_text(const struct command *command, const struct opt *opt, const char *text)
{
    airy_job *job = NULL;
    const char *name = command->job ? command->job : command->borrows;
    const bool taken = airy_job_create(&job, name, NULL, NULL) == AIRY_OK &&
                       airy_job_set(job, opt->name, text) == AIRY_OK;
    airy_job_destroy(&job);
    return taken;
}

/*
 * Words of text that the option takes as its value, added to the list of words between blanks. An
 * option with a parser is asked, and so is a parameter; one without names its words as A|B in lower case.
 */
static void add_words(const struct command *command, const struct opt *opt, const char *text,
                      bool numbers, char *list, size_t size)
{
    static const char of_words[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_^*+-.";
    for (text += strcspn(text, of_words); *text; text += strcspn(text, of_words)) {
        char word[32], padded[34];
        const size_t n = strspn(text, of_words), have = strlen(list);
        const size_t used = n - (text[n - 1] == '.'); /* the end of a sentence */
        snprintf(word, sizeof(word), "%.*s", (int)used, text);
        snprintf(padded, sizeof(padded), " %s ", word);
        const bool whole = used < sizeof(word) && text[n] != '=';
        text += n;
        if (!whole || (!numbers && strspn(word, "0123456789.-+") == used) || strstr(list, padded) ||
            have + used + 2 > size)
            continue;
        if (opt->parameter ? takes_text(command, opt, word)
            : opt->parse   ? takes_word(command, opt, word)
                           : strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == used)
            snprintf(list + have, size - have, "%s ", word);
    }
}

/* A name of a table; blanks in it count as '_'. */
static void add_name(const char *name, char *list, size_t size)
{
    const size_t have = strlen(list);
    if (have + strlen(name) + 2 > size)
        return;
    snprintf(list + have, size - have, "%s ", name);
    for (char *at = list + have; at[0] && at[1]; at++)
        *at = *at == ' ' ? '_' : *at;
}

/* Names of the library's tables, which options say as NAME alone; false: it is none of these. */
static bool add_table(const struct opt *opt, char *list, size_t size)
{
    airy_detector detector;
    airy_calibrant_info calibrant;
    if (strcmp(opt->name, "detector") == 0) {
        for (size_t i = 0; i < airy_detector_count(); i++)
            if (airy_detector_get(&detector, i) == AIRY_OK &&
                airy_detector_find(&detector, detector.name) == AIRY_OK)
                add_name(detector.name, list, size);
    } else if (strcmp(opt->name, "calibrant") == 0) {
        for (size_t i = 0; i < airy_calibrant_count(); i++)
            if (airy_calibrant_get(&calibrant, i) == AIRY_OK)
                add_name(calibrant.name, list, size);
    } else if (strcmp(opt->name, "device") == 0) {
        snprintf(list, size, " cpu gpu opencl ");
    } else {
        return false;
    }
    return true;
}

/* Values of an option between blanks, from what its table and its parser say; "" where it is open. */
static void values_of(const struct command *command, const struct opt *opt, char *list, size_t size)
{
    snprintf(list, size, " ");
    if (add_table(opt, list, size))
        return;
    const bool choice = opt->argument && strchr(opt->argument, '|');
    const airy_parameter *p = opt->parameter;
    for (size_t i = 0; p && p->words && p->words[i]; i++)
        add_name(p->words[i], list, size);
    if (p && p->type == AIRY_PARAMETER_RECORD && !takes_text(command, opt, "?")) {
        add_words(command, opt, airy_last_error(), false, list, size);
        add_words(command, opt, opt->help, false, list, size);
    }
    if (!p && opt->type == OPT_PARSED && opt->parse && !takes_word(command, opt, "?")) {
        char expected[1024], *params = calloc(1, command->params_size);
        const char *sentence = params ? opt->parse(params + opt->offset, "?") : NULL;
        snprintf(expected, sizeof(expected), "%s", sentence ? sentence : "");
        free(params);
        if (choice)
            add_words(command, opt, opt->argument, true, list, size);
        add_words(command, opt, expected, false, list, size);
        add_words(command, opt, opt->help, false, list, size);
    } else if (!p && !opt->parse && choice) {
        add_words(command, opt, opt->argument, true, list, size);
    }
    if (strcmp(list, " ") == 0)
        *list = 0;
}

/* The case of a command: its options, and which of them have which values. */
static void print_case(const struct command *command)
{
    printf("    \"%s\")\n        options=\"", command->name);
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++)
            if (opt->name && opt_taken(command, opt))
                printf("--%s ", opt->name);
    struct opt_word word;
    printf("\"\n        words=\"");
    for (size_t i = 0; command->word && command->word(i, &word); i++)
        printf("%s ", word.name);
    printf("\"\n        case $previous in\n");
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++) {
            char values[4096];
            if (!opt->name || !opt_taken(command, opt) || opt->type == OPT_FLAG)
                continue;
            values_of(command, opt, values, sizeof(values));
            if (!*values && opt->optional)
                continue;
            printf("        --%s", opt->name);
            if (opt->letter)
                printf("|-%c", opt->letter);
            if (*values)
                printf(") value=yes values='%s' ;;\n", values);
            else
                printf(") value=yes ;;\n");
        }
    printf("        esac\n        ;;\n");
}

static int print_cases(const struct program *program)
{
    for (size_t i = 0; i < program->count; i++)
        if (!program->commands[i]->program)
            print_case(program->commands[i]);
    const int code = tool_flush("");
    return code == AIRY_EXIT_OK ? ask_others(program, "--completion", NULL) : code;
}

int manual_completion(const struct program *program)
{
    const struct command *const *commands = program->commands;
    const size_t count = program->count;
    if (program->is_part)
        return print_cases(program);
    printf("# bash completion of airy %s, made by 'airy --completion'\n\n", airy_version());
    printf(
        "_airy()\n{\n"
        "    local current=$2 previous=$3 command=${COMP_WORDS[1]} options= words= values= value= "
        "first=\n"
        "    COMPREPLY=()\n"
        "    # --name=value comes as three words\n"
        "    if [[ $current == = ]]; then current=; previous=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "    case $command in\n");
    for (size_t i = 0; i < count; i++) { /* those of two words */
        const char *blank = strchr(commands[i]->name, ' ');
        if (blank)
            printf("    %.*s) first=\"$first %s\" ;;&\n", (int)(blank - commands[i]->name),
                   commands[i]->name, blank + 1);
    }
    printf("    esac\n"
           "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; i < count; i++)
        printf("%.*s ", (int)strcspn(commands[i]->name, " "), commands[i]->name);
    printf("help --help --version\" -- \"$current\"))\n"
           "        return\n    fi\n"
           "    if [[ -n $first ]]; then\n"
           "        [[ $COMP_CWORD -eq 2 ]] && words=$first\n"
           "        [[ \" $first \" == *\" ${COMP_WORDS[2]} \"* ]] && "
           "command=\"$command ${COMP_WORDS[2]}\"\n    fi\n"
           "    local second=$words\n"
           "    words=\n"
           "    case $command in\n");
    const int code = print_cases(program);
    printf("    esac\n"
           "    [[ $current != -* ]] || words=\n"
           "    if [[ -n $value ]]; then words=$values options=\n"
           "    else words=\"$words $second\"; [[ $current == -* ]] || options=; fi\n"
           "    COMPREPLY=($(compgen -W \"$words $options\" -- \"$current\"))\n"
           "}\n"
           "complete -o bashdefault -o default -F _airy airy\n");
    return code == AIRY_EXIT_OK ? tool_flush("") : code;
}
