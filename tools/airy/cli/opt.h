/*
 * Options: one table a command, mapped to one params struct whose first member is struct common.
 * The same table parses, checks ranges and prints the help text.
 */
#ifndef AIRY_TOOLS_CLI_OPT_H
#define AIRY_TOOLS_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_type {
    OPT_FLAG,   /* bool */
    OPT_COUNT,  /* size_t, lo..hi */
    OPT_BYTES,  /* uint64_t, with K, M, G (1024) */
    OPT_FLOAT,  /* double, lo..hi */
    OPT_PAIR,   /* double[2] as A,B */
    OPT_STRING, /* const char * */
    OPT_WORD,   /* one of words; its place as an int or an enum */
    OPT_LIST,   /* struct opt_list: may be given several times */
    OPT_PARSED  /* anything: parse fills the field */
};

/* Words of the command line, not copied. */
struct opt_list {
    const char **items;
    size_t count;
};
bool opt_list_add(struct opt_list *list, const char *item);

/* What an option's argument names, for the checks of files (files.c). */
enum opt_use {
    OPT_NO_FILE,
    OPT_READ,          /* FILE, FILE::DATASET or FILE[EXT] that is only read */
    OPT_WRITTEN,       /* a file that is written; one that is there already only by --force */
    OPT_WRITTEN_IMAGE, /* the same, of a format that airy_image_write knows */
    OPT_WRITTEN_OWN    /* the command itself looks whether it is there already */
};

/* Fill the field from text; NULL, or a sentence that says what was expected. */
typedef const char *(*opt_parse_fn)(void *field, const char *text);

/* Common options that not every command takes; others are for all. */
enum opt_takes {
    TAKES_DEVICE = 1u << 0,
    TAKES_DEVICES = 1u << 6, /* and several of them */
    TAKES_MEMORY = 1u << 1,
    TAKES_PROFILE = 1u << 2,
    TAKES_EXPLAIN = 1u << 4,
    TAKES_COMPARE = 1u << 7, /* of commands whose devices can be compared */
    TAKES_CONFIG = 1u << 8,  /* of jobs, which all take it */
    TAKES_THREADS = 1u << 5, /* others accept it: one thread is no more than N */
    /* of commands that compute on a device */
    TAKES_COMPUTE = TAKES_DEVICE | TAKES_MEMORY | TAKES_PROFILE | TAKES_THREADS
};

struct opt {
    const char *name; /* without the dashes; NULL ends the table, or only opens a section with
                         `heading` */
    char letter;      /* short form, 0: none */
    bool optional;    /* the argument may be left out (only --name=ARGUMENT gives one) */
    enum opt_type type;
    size_t offset; /* of the field in the params struct */
    size_t seen;   /* of a bool that says the option was given; 0: none */
    double lo, hi; /* both 0: no limit */
    opt_parse_fn parse;
    const char *const *words; /* of OPT_WORD, NULL behind the last */
    enum opt_use use;         /* of strings only */
    int holds; /* of OPT_WRITTEN_IMAGE: 1 + the dtype of results, 0: any; the formats that hold it
                  stand behind the help text */
    const char *argument; /* "N", "FILE", "A,B" */
    const char *fallback; /* what holds without it, for the help text; NULL: says nothing */
    const char *help;     /* one line with the unit */
    const char *heading;  /* of the section that starts here */
    unsigned takes;       /* opt_takes of a common option */
    const struct airy_parameter *parameter; /* of a job, to which the value goes; NULL: none */
};

/* Options every command takes. */
struct common {
    const struct command *command;
    int argc; /* of the command line behind the command's name */
    char **argv;
    struct opt_list inputs;
    struct opt_list
        given; /* name and argument in turn (NULL for a flag) of what was given, without the
                  other common options */
    const char *device;
    const char *compare; /* A,B: run on both */
    const char *config;  /* a file of parameters */
    size_t threads;
    uint64_t memory_limit;
    bool profile;
    const char *profile_file;
    bool unverified; /* --no-verify */
    bool json, explain, force, quiet, verbose, help, version;
};

/* What was given for an option, as it was written, or `otherwise`. */
const char *opt_given(const struct common *common, const char *name, const char *otherwise);

/* A word that a command knows, for the help text. */
struct opt_word {
    const char *name, *help;
};

struct command {
    const char *name;    /* "integrate", "simulate diffraction" */
    const char *usage;   /* what follows the name */
    const char *job;     /* of the library, which has summary, details and options; NULL: none */
    const char *borrows; /* another job of the library that it has some options of; NULL: none */
    bool (*borrowed)(const char *section, const char *name); /* which of its parameters */
    const char *summary;                                     /* one line */
    const char *details; /* a paragraph between summary and options, wrapped when printed; NULL:
                            none. Of a job: what follows the job's own */
    const char *examples;
    const struct opt *tables[4]; /* NULL where fewer */
    const char *words;           /* heading of the words that it knows; NULL: none */
    bool (*word)(size_t index, struct opt_word *word); /* false behind the last one */
    unsigned takes;                                    /* opt_takes */
    size_t params_size;
    size_t min_inputs, max_inputs;
    size_t writes;     /* from this argument on (1: the first) they are outputs; 0: none is */
    bool writes_image; /* those are OPT_WRITTEN_IMAGE */
    bool prints_json;  /* the answer is JSON, with --json and without */
    bool
        prints_messages; /* of a job: what it reports is the answer for people, on standard output */
    const char *json_without;   /* of a job: the result that --json leaves out; NULL: none */
    int writes_holds;           /* 1 + the dtype of results, 0: any */
    bool word_first;            /* the first input is no file */
    bool reads_pipe;            /* an input may be '-', standard input */
    bool asks;                  /* of a job: it asks again and again whether to end */
    bool own_signals;           /* from its start on it says itself what Ctrl-C and the like do */
    int (*check)(void *params); /* what the options say by themselves, before any file is looked at;
                                   exit code; NULL: nothing */
    int (*run)(void *params);
    /* Of a job. Show its results: draw pictures, and print for people unless --json is given. NULL: one line. */
    int (*show)(void *params);
    bool shows_json; /* it also prints what --json asks for */
    /* Of a job, before its run: what its plan forbids, which this asks for where it needs it. Exit code. NULL: nothing. */
    int (*planned)(void *params);
    void (*watch)(void *params); /* called now and then during a run without a known end; or NULL */
    bool optional_output;        /* the job's output may be left out */
    const char *program; /* beside this one, which has all but name and summary; NULL: this one */
};

/*
 * Parse argv[0..argc) (what follows the command's name) into params, which is cleared first.
 * Returns 0, or the exit code 2 after one line on stderr.
 */
int opt_parse(const struct command *command, void *params, int argc, char **argv);
void opt_free(const struct command *command, void *params);
void opt_help(const struct command *command);

enum { OPT_TABLES = sizeof(((struct command *)0)->tables) / sizeof(struct opt *) + 1 };
/* The help text of an option, with the formats of its image and its default. */
enum { OPT_HELP = 640 };
void opt_help_text(char text[OPT_HELP], const struct opt *opt);
/* The i-th table of a command: its own, then the common one; may be NULL. */
const struct opt *opt_table(const struct command *command, size_t i);
/* Behind the last entry of a table. */
bool opt_ends(const struct opt *opt);
/* The section of an option among those of a job that the command has; NULL: it is none of them. */
const char *opt_section(const struct command *command, const char *name);
/* The table has an option of this name. */
bool opt_in_table(const struct opt *table, const char *name);
/* The line that says what a command does, and its paragraphs: the first one and the second, or NULL. */
const char *opt_summary(const struct command *command);
const char *opt_details(const struct command *command, int paragraph);
/* The command takes this option, which may be a common one. */
bool opt_taken(const struct command *command, const struct opt *opt);

/* A file that was named by an option. */
struct opt_file {
    const char *path;
    size_t offset; /* of the field that holds it */
    enum opt_use use;
    int holds;
};
enum { OPT_FILES = 32 };
/* Those of the common options and the command's own; their number. */
size_t opt_files(const struct common *common, struct opt_file files[OPT_FILES]);

/* The command has an option of its own of that name. */
bool opt_has(const struct command *command, const char *name);

/*
 * Number parsers, for OPT_PARSED functions too: the whole text must be used. Numbers are decimal and
 * finite: no 0x10, no inf, no nan.
 */
bool opt_number(const char *text, double *value);
bool opt_whole(const char *text, uint64_t *value);
/* The place of text among words, which NULL ends; else a sentence with the words, and a near one. */
const char *opt_word(const char *text, const char *const *words, int *index);
/* An opt_parse_fn, of values of pixels: any number, inf or nan into a double. */
const char *opt_any_number(void *field, const char *text);

#endif
