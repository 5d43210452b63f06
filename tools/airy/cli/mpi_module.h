/*
 * What airy-mpi.so offers the command. It alone is linked to MPI, and opened only where it is
 * wanted, so that neither `airy` nor a bundle needs MPI. No type of MPI crosses this border.
 *
 * Ranks claim work by a fetch-and-add on counters ("cells") in a window that rank 0 holds. One-sided
 * rather than a coordinator, as rank 0 works like all others, and on one machine or with hardware
 * that does it a claim costs it nothing; where the library needs the target's help, a thread of
 * rank 0 calls it every millisecond. Every rank raises a cell of its own every second: one that does
 * not for a minute has been lost, and ends the job where the launcher has not. Time in which the
 * job was stopped, as by a scheduler, does not count.
 *
 * All calls may come from any thread; they are made one at a time (MPI_THREAD_SERIALIZED).
 */
#ifndef AIRY_TOOLS_CLI_MPI_MODULE_H
#define AIRY_TOOLS_CLI_MPI_MODULE_H

#include <stddef.h>
#include <stdint.h>

enum { MPI_MODULE_VERSION = 1 };
#define MPI_MODULE_SYMBOL "airy_mpi_module"

struct mpi_place {
    int rank, size;
    int local_rank, local_size; /* among the ranks of this machine */
    int node;                   /* rank of the first of those */
    char implementation[128];   /* "Open MPI v4.1.4, ..." */
};

/* Functions return 0, or -1 and error() says why. */
struct mpi_module {
    uint32_t version;
    const char *(*error)(void);
    const char *(*implementation)(void); /* before open, too */
    /* Collective. cells: of counters, all 0; talk: where a lost rank is reported. */
    int (*open)(struct mpi_place *place, size_t cells, int talk);
    /* Collective: `bytes` of each rank to all, in order. idle, or NULL, is called while waiting. */
    int (*gather)(const void *mine, size_t bytes, void *all, void (*idle)(void *), void *user);
    /* Collective: from rank 0 to all. */
    int (*share)(void *data, size_t bytes);
    /* Add to a cell; before: its value before that, or NULL. */
    int (*add)(size_t cell, int64_t amount, int64_t *before);
    /* Collective. */
    void (*close)(void);
    /* End all ranks. */
    void (*abort)(int code);
};

#endif
