/* HDF5 files that end before their superblock says. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "airy/file.h"

/*
 * Bytes that the superblock says the file has (HDF5 File Format Specification 3.0, II.A; addresses
 * of 8 bytes); 0 when unknown.
 */
static uint64_t declared_size(FILE *file)
{
    uint8_t head[64];
    if (fread(head, 1, sizeof(head), file) != sizeof(head) ||
        memcmp(head, "\x89HDF\r\n\x1a\n", 8) != 0)
        return 0;
    const size_t at = head[8] == 0 ? 40 : head[8] == 1 ? 44 : 28; /* of the end-of-file address */
    if ((head[8] < 2 ? head[13] : head[9]) != 8)
        return 0;
    uint64_t size = 0;
    for (size_t i = 8; i-- > 0;)
        size = size << 8 | head[at + i];
    return size;
}

bool airy_hdf5_is_cut(const char *path, uint64_t *there, uint64_t *declared)
{
    struct stat is;
    FILE *file = stat(path, &is) == 0 && S_ISREG(is.st_mode) ? fopen(path, "rb") : NULL;
    if (!file)
        return false;
    *there = (uint64_t)is.st_size;
    *declared = declared_size(file);
    fclose(file);
    return *declared != UINT64_MAX && *declared > *there;
}
