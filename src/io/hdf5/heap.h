/*
 * Global heap collections of HDF5 files: the texts of variable length, the mappings of virtual
 * datasets and the names of external files lie in them. libhdf5 1.10 walks the objects of a
 * collection by the sizes that the file states and neither ends nor stays within it where these
 * are damaged. So the file driver (hdf5/probe.c), which every collection passes, walks it first.
 */
#ifndef AIRY_IO_HDF5_HEAP_H
#define AIRY_IO_HDF5_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the first read of a collection by libhdf5, and of the smallest collection. */
enum { AIRY_HEAP_FIRST = 4096 };

/* The bytes are the first ones of a collection. */
bool airy_heap_begins(const void *bytes, size_t size);
/*
 * Return what is wrong with a collection that begins with these AIRY_HEAP_FIRST bytes at an
 * address of a file, or NULL where libhdf5 can read it. At most 65,536 objects are looked at.
 * unread: bytes within the file could not be read, which is no damage of the file.
 */
const char *airy_heap_fault(const void *bytes, int fd, uint64_t address, uint64_t file_bytes,
                            bool *unread);

#endif
