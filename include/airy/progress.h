/**
 * Progress of a run, and how to stop it.
 */
#ifndef AIRY_PROGRESS_H
#define AIRY_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Receive the progress of a run; called from a thread of the run, never from two at once. Return
 * false to stop: frames in flight are finished and written, unless reading them takes long. It must
 * not call libhdf5 unless that is built thread-safe.
 */
typedef bool (*airy_progress_fn)(void *user, size_t done, size_t total);

#ifdef __cplusplus
}
#endif
#endif
