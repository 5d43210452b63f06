#include "cli/program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/file.h"
#include "airy/log.h"
#include "cli/manual.h"
#include "cli/words.h"
#include "cli/tool.h"
#include "cli/world.h"

static void print_usage(FILE *file, const struct program *program)
{
    fprintf(file,
            "usage: airy COMMAND [options] INPUT... [-o OUTPUT]\n\n"
            "Airy %s: %s.\n\nCommands\n",
            airy_version(), tool_subject);
    for (size_t i = 0; i < program->count; i++)
        fprintf(file, "  %-22s %s\n", program->commands[i]->name,
                opt_summary(program->commands[i]));
    fprintf(
        file,
        "\n  airy COMMAND --help     options of a command, with defaults, units and examples\n"
        "  airy --version          version; with --verbose filters, SIMD and libraries; --json\n\n"
        "Exit codes: %s\nEnvironment: %s\n",
        tool_exit_codes, tool_environment);
}

/* The first line's version; with --verbose the whole text beside it. */
static int print_version_json(bool verbose)
{
    json_t *json = json_pack("{s:s}", "version", airy_version());
    if (verbose)
        json_object_set_new(json, "build", tool_json_string(airy_build_info()));
    char *text = json ? tool_json_text(json) : NULL;
    json_decref(json);
    if (!text) {
        tool_line("", "out of memory for the version");
        return AIRY_EXIT_FAILED;
    }
    puts(text);
    free(text);
    return tool_flush("");
}

static int print_version(bool verbose, bool json)
{
    if (json)
        return print_version_json(verbose);
    if (!verbose) {
        printf("airy %s\n", airy_version());
        return tool_flush("");
    }
    const char *info = airy_build_info();
    const size_t n = strlen(info);
    fputs(info, stdout);
    if (n && info[n - 1] != '\n')
        putchar('\n');
    char mpi[512];
    world_describe(mpi, sizeof(mpi));
    puts(mpi);
    return tool_flush("");
}

/* The command that argv names by one or two words; *words says how many. */
static const struct command *find_command(const struct program *program, int argc, char **argv,
                                          int *words)
{
    char two[64];
    snprintf(two, sizeof(two), "%s %s", argv[1], argc > 2 ? argv[2] : "");
    for (size_t i = 0; i < program->count; i++) {
        *words = strchr(program->commands[i]->name, ' ') ? 2 : 1;
        if (strcmp(program->commands[i]->name, *words == 2 ? two : argv[1]) == 0)
            return program->commands[i];
    }
    *words = 1;
    const struct command *hidden = program->hidden;
    return hidden && strcmp(argv[1], hidden->name) == 0 ? hidden : NULL;
}

/* "airy simulate --help", "airy help simulate": what can be simulated. */
static int print_group(const struct program *program, const char *group)
{
    const size_t n = strlen(group);
    printf("usage: airy %s WHAT OUT [options]\n\n", group);
    for (size_t i = 0; i < program->count; i++)
        if (strncmp(program->commands[i]->name, group, n) == 0 &&
            program->commands[i]->name[n] == ' ')
            printf("  %-22s %s\n", program->commands[i]->name, opt_summary(program->commands[i]));
    printf("\n  airy %s WHAT --help   its options, with defaults, units and examples\n", group);
    return tool_flush("");
}

static int refuse(const struct program *program, char **argv)
{
    const bool simulate = strcmp(argv[1], "simulate") == 0;
    const char *names[PROGRAM_COMMANDS] = {0}, *group = simulate ? "simulate " : "",
               *word = simulate && argv[2] ? argv[2] : argv[1];
    const size_t n = strlen(group);
    for (size_t i = 0; i < program->count; i++)
        names[i] = strncmp(program->commands[i]->name, group, n) == 0
                       ? program->commands[i]->name + n
                       : "";
    const char *near = tool_suggest(word, names, program->count);
    const bool option = argv[1][0] == '-';
    if (simulate && (!near || !argv[2])) {
        tool_line("", "simulate what? this build has 'airy simulate diffraction', 'sky', 'oct', "
                      "'diracs' and 'kernel'; see 'airy --help'");
        return AIRY_EXIT_USAGE;
    }
    if (near && !option)
        tool_line("", "unknown command '%s%s', did you mean '%s%s'? see 'airy --help'", group, word,
                  group, near);
    else
        tool_line("", "unknown %s '%s'; see 'airy --help'", option ? "option" : "command", argv[1]);
    return AIRY_EXIT_USAGE;
}

/* Go on as the program that has the command. Exit code of what failed before. */
static int become(const struct command *command, char *const argv[])
{
    char path[TOOL_PATH];
    if (tool_beside(path, command->program))
        execv(path, argv);
    tool_line(command->name,
              "%s, which has this command, cannot be started from the folder of airy: "
              "%s; install it there",
              command->program, strerror(errno));
    return AIRY_EXIT_FAILED;
}

/* Wrong use is told before what is wrong with files. */
static int check_and_run(const struct command *command, void *params)
{
    const struct common *common = params;
    int code = command->check ? command->check(params) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK)
        code = tool_check_files(common);
    if (code != AIRY_EXIT_OK)
        return code;
    if (!command->own_signals)
        tool_clean_at_interrupt();
    return command->run(params);
}

static int run_command(const struct command *command, int argc, char **argv)
{
    void *params = calloc(1, command->params_size);
    if (!params) {
        tool_line(command->name, "out of memory");
        return AIRY_EXIT_FAILED;
    }
    if (strcmp(command->name, "integrate") == 0)
        world_hush(argc, argv);
    int code = opt_parse(command, params, argc, argv);
    const struct common *common = params;
    airy_checksums_verify(!common->unverified);
    if (code == AIRY_EXIT_OK) {
        if (common->help)
            opt_help(command);
        else if (common->version)
            code = print_version(common->verbose, common->json);
        else
            code = check_and_run(command, params);
    }
    opt_free(command, params);
    free(params);
    return code == AIRY_EXIT_OK ? tool_flush(command->name) : code;
}

/* Of --verbose, unless the environment names one; what it names wrongly is reported first of all. */
static void set_log_level(bool verbose)
{
    const char *named = getenv("AIRY_LOG");
    if (verbose && !(named && *named))
        airy_log_set_level(AIRY_LOG_INFO);
    (void)airy_log_get_level();
}

int program_main(const struct program *program, int argc, char **argv)
{
    bool verbose = false, json = false, version = argc > 1;
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error of a write, not the end */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const bool talks = strcmp(argv[i], "--verbose") == 0, data = strcmp(argv[i], "--json") == 0;
        verbose |= talks;
        json |= data;
        version &= talks || data || strcmp(argv[i], "--version") == 0;
    }
    set_log_level(verbose);
    if (argc < 2) {
        print_usage(stderr, program);
        return AIRY_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (argc == 2 && strcmp(argv[1], "help") == 0)) {
        print_usage(stdout, program);
        return tool_flush("");
    }
    for (int i = 1; i < argc && (version || i == 1); i++)
        if (strcmp(argv[i], "--version") == 0)
            return print_version(verbose, json);
    if (strcmp(argv[1], "--manual") == 0 && argc == 3)
        return manual_pages(argv[2], program);
    if (strcmp(argv[1], "--completion") == 0 && argc == 2)
        return manual_completion(program);
    int words = 1;
    const bool help = strcmp(argv[1], "help") == 0; /* airy help COMMAND */
    if (help) {
        argc--;
        argv++;
    }
    const struct command *command = find_command(program, argc, argv, &words);
    const char *second = argc > 2 ? argv[2] : "";
    if (strcmp(argv[1], "simulate") == 0 &&
        (strcmp(second, "--help") == 0 || strcmp(second, "-h") == 0 || (help && !*second)))
        return print_group(program, "simulate");
    if (command && command->program)
        return become(command, help ? (char *[]){"airy", argv[1], "--help", NULL} : argv);
    if (command && help) {
        opt_help(command);
        return tool_flush("");
    }
    return command ? run_command(command, argc - 1 - words, argv + 1 + words)
                   : refuse(program, argv);
}
