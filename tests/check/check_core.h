/* The parts of the core family. */
#ifndef AIRY_TESTS_CHECK_CORE_H
#define AIRY_TESTS_CHECK_CORE_H

#include "check.h"

void check_core_base(struct check *c);   /* threads, control groups, random numbers, names: once,
                                            with the CPU */
void check_core_device(struct check *c); /* specs, accounts, queues, events, host memory, profile */
void check_core_array(struct check *c);

#endif
