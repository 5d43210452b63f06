/*
 * A file's bytes go to the disk while more of them are made, so that the sync at the end has less
 * to wait for. A thread of its own waits for the disk; whether and when it does is its affair: errors
 * come out of the sync. Thread-safety: airy_writeback_add from any thread, the rest one thread.
 */
#ifndef AIRY_IO_FILE_WRITEBACK_H
#define AIRY_IO_FILE_WRITEBACK_H

#include <stdint.h>

typedef struct airy_writeback airy_writeback;

/*
 * fd stays open until airy_writeback_stop. The thread begins with the first piece; NULL, or no
 * thread to be had: all waiting is left to the sync.
 */
airy_writeback *airy_writeback_start(int fd);
/* Bytes from `from` to `to` were written: the pieces of 8 MiB that they complete may go. */
void airy_writeback_add(airy_writeback *writeback, uint64_t from, uint64_t to);
/* What was not begun is left to the sync. */
void airy_writeback_stop(airy_writeback **writeback);

#endif
