/* airy integrate by the ranks of a world: what each takes, and one run by all of them. */
#ifndef AIRY_TOOLS_INTEGRATE_RANKS_H
#define AIRY_TOOLS_INTEGRATE_RANKS_H

#include "integrate/integrate.h"
#include "cli/world.h"

/* What several ranks cannot do, by name. Exit code. */
int ranks_check(const struct integrate_params *params);
/*
 * The device of this rank and its share of the machine, for params: GPU number local rank, cores
 * that the launcher has given it. spec: room for the device's name. Exit code.
 */
int ranks_settle(struct world *world, struct integrate_params *params, char spec[64]);
/* The rest of it, when the device is open: readers, slots. */
int ranks_share(const struct world *world, struct integration *job);
/* All frames into one file, or with --per-rank one a rank under a master. Exit code of all. */
int ranks_run(struct integration *job, airy_run_info *info);
/* --profile: summed over the ranks. Exit code of all. */
int ranks_profile(struct integration *job);

/* A run of the ranks while it lasts. */
struct ranks_run {
    struct integration *job;
    struct world *world;
    struct progress progress;
    size_t cell;                  /* of the counter that rows are claimed from */
    size_t rows, seen;            /* to claim; claimed, as far as known */
    size_t base, posted, resumed; /* frames done in files before; told to the others; of a former
                                     run */
    double time;                  /* of that */
    bool stop;                    /* asked to */
};

enum { RANKS_CELL_STOP, RANKS_CELL_DONE, RANKS_CELL_RESUMED, RANKS_CELL_NEXT };
enum { RANKS_FILES_MAX = WORLD_CELLS - RANKS_CELL_NEXT };

/* Hooks of airy_run_params, and of world_agree while others are at work; user: a ranks_run. */
bool ranks_claim(void *user, size_t least, size_t *first, size_t *count);
bool ranks_step(void *user, size_t done, size_t total);
void ranks_idle(void *user);
/* This rank has failed, or was interrupted: nobody starts anything more. */
void ranks_stop(struct ranks_run *run);
/* Let a run claim its rows from the cell. */
void ranks_take(struct ranks_run *run, airy_run_params *params);
/*
 * After the work: what all have done, in info; the exit code of all, also where they were stopped.
 * What has come to nothing is removed.
 */
int ranks_gather(struct ranks_run *run, airy_run_info *info, int code);
/* Add what a rank has done, for all of them. */
void ranks_add(airy_run_info *sum, const airy_run_info *one);

/* The name of the file of a number, with the tail behind it: OUT.h5 -> OUT_0003.h5.partial. */
enum { RANKS_FILE_NAME = 4300 };
void ranks_file_name(char name[RANKS_FILE_NAME], const char *output, size_t number,
                     const char *tail);

/* --per-rank (ranks_files.c): how many files, into job->files. Exit code. */
int ranks_choose_files(struct integration *job);
/* Work, with the file of each rank its own, and then of those that are behind. */
int ranks_files_run(struct ranks_run *run, airy_run_info *info);
/*
 * With --force an earlier result of --per-rank may have more files than the new one. before: how many
 * it shows; it is an error where one that the new result does not replace is an input. Exit code.
 */
int ranks_files_before(const struct integration *job, size_t *before);
/* Remove those of them that the new result, which is complete, does not have. */
void ranks_files_surplus(const struct integration *job, size_t before);

#endif
