/* What the cases about files share. */
#ifndef AIRY_TESTS_CHECK_STACK_H
#define AIRY_TESTS_CHECK_STACK_H

#include "airy/stack.h"
#include "check.h"

uint32_t stack_crc32(const void *data, size_t size);
/* A whole file in memory of the case, and a file of such bytes in a folder of the case. */
void *stack_slurp(struct check *c, const char *path, size_t *size);
const char *stack_spill(struct check *c, const char *name, const void *bytes, size_t size);
airy_status stack_open(airy_stack **stack, const char *path);

/* Parts of check_stack. */
void check_stack_write(struct check *c);
void check_stack_fill(struct check *c);
void check_stack_layout(struct check *c);
void check_stack_chunks(struct check *c);
void check_stack_master(struct check *c);
void check_stack_hostile(struct check *c);
void check_stack_bounds(struct check *c);
void check_image_bounds(struct check *c);
void check_stack_damage(struct check *c);
void check_stack_files(struct check *c);
void check_stack_table(struct check *c);
void check_stack_frames(struct check *c);
void check_stack_sources(struct check *c);
void check_hdf5_text(struct check *c);

#endif
