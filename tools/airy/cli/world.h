/*
 * The ranks of one job under mpirun or srun, through airy-mpi.so (mpi_module.h).
 *
 * Whatever can fail on one rank alone is followed by world_agree: all ranks go on or none does, and
 * rank 0 says which one it was. A rank that gives up earlier goes to world_leave, which counts as
 * its answer to the others' next world_agree.
 */
#ifndef AIRY_TOOLS_CLI_WORLD_H
#define AIRY_TOOLS_CLI_WORLD_H

#include <pthread.h>

#include "airy/job.h"
#include "cli/mpi_module.h"
#include "cli/tool.h"

enum world_wish { WORLD_AUTO = 0, WORLD_ON, WORLD_OFF };

enum { WORLD_CELLS = 4096 + 16 };

/* Zeroed, but for the lock, is one process by itself. */
struct world {
    const struct mpi_module *mpi; /* NULL: alone */
    struct mpi_place place;
    const struct common *common;
    int64_t cells[WORLD_CELLS]; /* of one process by itself; with the lock */
    pthread_mutex_t lock;
    char host[64];
    bool ended; /* all know that one has failed */
    bool idle;  /* this process has nothing to do: what is asked for takes one */
};

/* An opt_parse_fn for an enum world_wish. */
const char *world_parse(void *field, const char *text);
/* Before the words are parsed: of the ranks that a launcher starts, one tells what is wrong. */
void world_hush(int argc, char **argv);
/*
 * Join the ranks where a launcher has started several, or --mpi says so; else the world is one
 * process. Exit code; leave in any case.
 */
int world_join(struct world *world, const struct common *common, enum world_wish wish);
/* The common exit code of all. */
int world_leave(struct world *world, int code);
/* Alone, or rank 0. */
bool world_first(const struct world *world);
/* NULL, too: nobody has looked for others yet. */
bool world_alone(const struct world *world);

/* All go on (0), or all end with this exit code. idle, or NULL, is called while waiting. */
int world_agree(struct world *world, int code, void (*idle)(void *), void *user);
/* From rank 0 to all; where one has failed instead, its exit code. */
int world_tell(struct world *world, void *data, size_t bytes);
/* The same for a text, malloc'ed; *text of rank 0 stays what it is. */
int world_tell_text(struct world *world, char **text);
/* `bytes` of each to all, in order. */
int world_gather(struct world *world, const void *mine, size_t bytes, void *all);
/* Counters that all share, 0 at the beginning: the value before. A failure ends all ranks. */
int64_t world_add(struct world *world, size_t cell, int64_t amount);

/* The hooks of a job by these ranks; zeroed where there is one process. A failure ends all ranks. */
airy_job_ranks world_ranks(struct world *world);
/* --profile: of these devices, summed over the ranks. Exit code of all. */
int world_profile(struct world *world, const airy_device *const *devices, size_t count);

/* "mpi: Open MPI v4.1.4 (FILE)", or why not; one line without its end. */
void world_describe(char *text, size_t size);

#endif
