/*
 * Integration by several processes (world.h): one run, whose rows they claim, into one file, or into
 * a file a rank (per-rank) under a master that shows them as one.
 */
#ifndef AIRY_JOBS_INTEGRATE_RANKS_H
#define AIRY_JOBS_INTEGRATE_RANKS_H

#include "jobs/integrate/integrate.h"

/* ---- for integrate.c ---- */

/* The values together, as far as several processes or several files refuse them. */
airy_status airy_integration_check_ranks(const airy_job *job);
/*
 * it->compute: the device of this rank and its share of the machine. Of the GPUs the one with the number
 * of the local rank, of the cores those that the launcher has given it.
 */
airy_status airy_integration_settle_ranks(struct airy_integration *it);
/* The rest of the share, when the devices are open: readers and slots. */
airy_status airy_integration_share_ranks(struct airy_integration *it);
/* Before the run, when rank 0 has looked at what is there: the files, and what is resumed. */
airy_status airy_integration_begin_ranks(struct airy_integration *it);
/* There are several ranks, or several files. */
bool airy_integration_has_ranks(const struct airy_integration *it);
/* The run then. info: of all ranks, also where it was stopped. */
airy_status airy_integration_run_ranks(struct airy_integration *it, airy_run_info *info);

/* After a run of one process, too: remove files of an earlier result that the new one does not have. */
void airy_integration_end_ranks(const struct airy_integration *it);

/* ---- between its files ---- */

/* A run while it lasts. */
struct airy_ranks_run {
    struct airy_integration *it;
    struct airy_world *world;
    size_t counter;               /* that rows are claimed from */
    size_t rows, seen;            /* to claim; claimed, as far as known */
    size_t first_row;             /* of the result, of those of this file */
    size_t base, posted, resumed; /* frames done in files before; told to the others; of a former
                                     run */
    size_t shown;                 /* frames done by all, as far as known */
    uint64_t time;                /* of that, in ns */
    bool stop;                    /* nobody is to go on */
    bool went_back;               /* a counter of rows, which only grows */
};

enum { AIRY_RANKS_STOP, AIRY_RANKS_DONE, AIRY_RANKS_RESUMED, AIRY_RANKS_NEXT };
_Static_assert((int)AIRY_RANKS_NEXT < (int)AIRY_JOB_RANKS_COUNTERS, "a counter of rows at least");

/* An idle hook of airy_world_agree while others are at work; user: an airy_ranks_run. */
void airy_ranks_wait(void *user);
/* Let a run claim its rows from the counter. */
void airy_ranks_take(struct airy_ranks_run *run, airy_run_params *params);
/*
 * After the work: what all have done, in info, and their common status. What has come to nothing is
 * removed.
 */
airy_status airy_ranks_gather(struct airy_ranks_run *run, airy_run_info *info, airy_status status);
/* Add what a rank has done, for all of them. */
void airy_ranks_add(airy_run_info *sum, const airy_run_info *one);

/* The name of the file of a number, with the tail behind it: OUT.h5 -> OUT_0003.h5.partial. */
enum { AIRY_RANKS_NAME = 4300 };
void airy_ranks_name(char name[AIRY_RANKS_NAME], const char *output, size_t number,
                     const char *tail);

/* Choose it->files, and look at those of an earlier result (ranks_files.c); of rank 0. */
airy_status airy_ranks_choose_files(struct airy_integration *it);
/* Work, each rank on a file of its own first, and then on those that are behind. */
airy_status airy_ranks_run_files(struct airy_ranks_run *run, airy_run_info *info);
/* Remove files that only the earlier result shows, now that the new one is complete. */
void airy_ranks_remove_surplus(const struct airy_integration *it);

#endif
