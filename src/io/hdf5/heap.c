#include "io/hdf5/heap.h"

#include <string.h>

#include "base/error.h"
#include "io/file/plain_file.h"

enum {
    HEADER = 16,               /* of a collection and of each object in it */
    MAX_OBJECTS = 1 << 16,     /* their numbers have 16 bits */
    MAX_COLLECTION = 64 << 20, /* bytes: longer is no text that anybody reads */
    MAX_BLOCKS = 32            /* places where a superblock can begin: 0, 512, 1024, 2048, ... */
};

bool airy_heap_begins(const void *bytes, size_t size)
{
    return size == AIRY_HEAP_FIRST && memcmp(bytes, "GCOL\1\0\0\0", 8) == 0;
}

/* Bytes of a length in this file, which its superblock states; 0 when it cannot be told. */
static unsigned length_bytes(int fd, uint64_t file_bytes, bool *unread)
{
    uint8_t head[16];
    uint64_t at = 0;
    for (int i = 0; i < MAX_BLOCKS && file_bytes >= sizeof(head) && at <= file_bytes - sizeof(head);
         i++, at = at ? 2 * at : 512) {
        *unread = airy_file_pread(fd, head, sizeof(head), at) != AIRY_OK;
        if (*unread)
            return 0;
        if (memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0)
            return head[8] < 2 ? head[14] : head[10];
    }
    return 0;
}

static uint64_t little(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = count; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

const char *airy_heap_fault(const void *bytes, int fd, uint64_t address, uint64_t file_bytes,
                            bool *unread)
{
    const uint8_t *first = bytes;
    *unread = false;
    const unsigned width = length_bytes(fd, file_bytes, unread);
    if (width != 2 && width != 4 && width != 8)
        return "the size of its lengths in bytes cannot be determined";
    const uint64_t size = little(first + 8, width);
    if (size < AIRY_HEAP_FIRST || size > MAX_COLLECTION)
        return "its size is not from 4096 bytes to 64 MiB";
    if (address > file_bytes || size > file_bytes - address)
        return "it ends behind the end of the file";
    uint64_t at = HEADER;
    for (int objects = 0; size - at >= HEADER; objects++) {
        uint8_t other[HEADER];
        const uint8_t *head = first + at;
        if (objects >= MAX_OBJECTS)
            return "it has more than 65536 objects";
        if (at + HEADER > AIRY_HEAP_FIRST) {
            *unread = airy_file_pread(fd, other, HEADER, address + at) != AIRY_OK;
            if (*unread)
                return "it cannot be read";
            head = other;
        }
        const uint64_t index = little(head, 2), length = little(head + 8, width), left = size - at;
        /* The bytes of free space, object 0, count its header, those of others do not. */
        if (index == 0 ? length < HEADER || length > left : length > left - HEADER)
            return "an object in it has an impossible size";
        at += index == 0 ? length : HEADER + (length + 7) / 8 * 8;
        if (at > size)
            return "an object in it has an impossible size";
    }
    return NULL;
}
