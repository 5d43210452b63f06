/*
 * Commands that are jobs of the library (airy/job.h): options, arguments, run and results come from
 * the job's description.
 */
#ifndef AIRY_TOOLS_CLI_JOB_COMMAND_H
#define AIRY_TOOLS_CLI_JOB_COMMAND_H

#include "airy/job.h"
#include "cli/tool.h"
#include "cli/world.h"

/* The parameters of such a command. */
struct job_params {
    struct common common;
    airy_job *job;
    struct progress progress;
    bool begun;            /* progress was called, and the device named */
    bool is_silent;        /* nothing is to be printed */
    bool prints_series;    /* a line for each series of a stream */
    bool world_is_asked;   /* job_run_ranks has said what a signal does before the work */
    bool catches_late;     /* signals are caught when the work begins */
    airy_progress_fn step; /* of a run, with these params as user; NULL: not yet */
    airy_log_fn message;
    airy_job_event_fn event;
    struct world *world;  /* NULL: one process */
    airy_job_ranks ranks; /* of the world, for the job; zeroed: one process */
    const char
        *at_interrupt; /* printed at once where a run that has begun is stopped; NULL: nothing */
};

/*
 * The options of the command's job, or those that it borrows of another one, but for those that every
 * command has (job_options.c). NULL: out of memory.
 */
const struct opt *job_options(const struct command *command, bool (*is_common)(const char *name));
/* Create the job; false: it is not there, or out of memory. */
bool job_open(struct job_params *params, const char *job);
/* Create another job with the hooks of the command. */
airy_status job_create(struct job_params *params, const char *name, airy_job **job);
/* The parameter of this name; NULL: there is none. */
const airy_parameter *job_parameter(const struct job_params *params, const char *name);
/* The first parameter of a role; NULL: there is none. */
const airy_parameter *job_role(const struct job_params *params, airy_parameter_role role);
/* The parameter that an argument of the command goes to: an input, the last one for all further ones, or an output. */
const airy_parameter *job_argument(const struct job_params *params, size_t place);
/* An argument of the command is written (struct command, writes). */
bool job_is_written(const struct common *common, size_t place);
/* What the command line names for a parameter that is written, by its option or as an argument; NULL: nothing. */
const char *job_output(const struct job_params *params, const char *parameter);
/* The same for the first output of the job. */
const char *job_first_output(const struct job_params *params);
void job_close(struct job_params *params);

/* Take the parameters of --config (job_config.c). Exit code. */
int job_configure(struct job_params *params);
/* --explain: print what the run would do. --verbose: say what was chosen (job_plan.c). */
int job_explain(struct job_params *params);
airy_status job_say_plan(const struct job_params *params);
/* Print the failure of a run whose messages name this output, or none. Exit code. */
int job_failed(const struct job_params *params, const char *output, airy_status status);

/* Print why airy_job_check has refused the values. Exit code. */
int job_refused(const struct job_params *params);

/* What a command of a job has as `check` and `run`. */
int job_check(void *params);
int job_run(void *params);
/* The same by the ranks that a launcher has started, where it is wished, or by one process (job_world.c). */
int job_run_ranks(void *params, enum world_wish wish);

/* The results of a run that --json prints, which arrays and tables are not; NULL: out of memory. The caller's. */
json_t *job_results(const struct job_params *params);

/* --compare (job_compare.c): look at its value, and run. The exit code is of printing. */
int job_compare_check(const struct common *common);
airy_status job_compare(struct job_params *params, int *code);

/* The members of a struct command that follow from its being a job. */
#define JOB_COMMAND(name)                                                                          \
    .job = (name), .params_size = sizeof(struct job_params), .check = job_check, .run = job_run

#endif
