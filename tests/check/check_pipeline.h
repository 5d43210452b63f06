/* Small stacks and integrators for the cases of the pipeline. */
#ifndef AIRY_TESTS_CHECK_PIPELINE_H
#define AIRY_TESTS_CHECK_PIPELINE_H

#include "airy/integrate.h"
#include "check.h"

enum { RUN_HEIGHT = 37, RUN_WIDTH = 44, RUN_PIXELS = RUN_HEIGHT * RUN_WIDTH, RUN_BINS = 50 };

/* Pixels of the value 1e9 are dummies. */
airy_integrator *check_run_integrator(struct check *c, airy_device *device,
                                      airy_error_model error_model);
/* A path in a new folder. */
const char *check_run_path(struct check *c, const char *name);
/* All results of two files are the same bytes. */
void check_run_same(struct check *c, const char *got, const char *want);
/* These datasets of /entry/integrate, bit by bit. */
void check_datasets_same(struct check *c, const char *got, const char *want,
                         const char *const *datasets, size_t number);
/* Random counts below 50. */
uint32_t *check_run_frames(struct check *c, size_t frames);
/* How one frame of a stack is spoiled. */
enum spoil { SOUND, OTHER_BLOCKS, TRUNCATED, FLIPPED };
/* In blocks of 1024 bytes; special: the frame that is spoiled, or `frames` for none. */
void check_run_stack_as(struct check *c, const char *path, airy_codec kind, const uint32_t *pixels,
                        size_t frames, size_t special, enum spoil spoil);
/* The same in bslz4. */
void check_run_stack(struct check *c, const char *path, const uint32_t *pixels, size_t frames,
                     size_t special, enum spoil spoil);

#endif
