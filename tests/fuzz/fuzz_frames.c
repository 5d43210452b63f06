/*
 * Frames of a file that a fuzzer wrote: as NPY, TIFF or raw pixels, from a file and through a pipe,
 * and as a stack of plain files, packed by gzip or not. Every frame goes to a buffer of exactly its
 * size, and a pipe gives the same frames as the file.
 *
 * Input: how (1 byte), type of raw pixels (1), rows (1), columns (1), header bytes (1), where gzip's
 * bytes are damaged (1), then the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "airy/airy.h"
#include "fuzz.h"

enum { MOST_FRAMES = 8, MOST_BYTES = 1 << 20, PIPE_BYTES = 60000 };

static const char *const suffixes[] = {"raw", "npy",    "tif",    "edf",
                                       "cbf", "raw.gz", "npy.gz", "cbf.gz"};
enum { RAW = 0, PACKED = 5, KINDS = 8 };

static void write_file(char path[64], const uint8_t *bytes, size_t size, const char *suffix)
{
    snprintf(path, 64, "%s/airy-frames-%d.%s", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (int)getpid(), suffix);
    FILE *file = fopen(path, "wb");
    require(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static bool never_stop(void *user)
{
    (void)user;
    return false;
}

struct read {
    airy_frame_format format;
    size_t count;
    uint32_t sum; /* of the frames' bytes */
};

/* The first frames, one after the other. */
static struct read read_frames(const char *path, const airy_frame_reader_params *params)
{
    airy_frame_reader *reader = NULL;
    airy_frame_reader_info info;
    struct read read = {.format = AIRY_FRAMES_FORMAT_COUNT};
    if (airy_frame_reader_create(&reader, path, params) != AIRY_OK)
        return read;
    require(airy_frame_reader_get_info(reader, &info) == AIRY_OK);
    require(info.height > 0 && info.width > 0);
    read.format = info.format;
    if (info.frame_bytes <= MOST_BYTES) {
        uint8_t *frame = malloc(info.frame_bytes);
        require(frame != NULL);
        size_t got = 1;
        while (read.count < MOST_FRAMES &&
               airy_frame_reader_read(reader, frame, 1, &got) == AIRY_OK && got == 1) {
            read.count++;
            read.sum = (uint32_t)crc32(read.sum, frame, (unsigned)info.frame_bytes);
        }
        require(info.frames == UINT64_MAX || read.count <= info.frames);
        (void)airy_frame_reader_skip(reader, 3);
        free(frame);
    }
    airy_frame_reader_destroy(&reader);
    return read;
}

/* The same bytes, no more of them than a pipe takes at once. */
static void read_pipe(const uint8_t *bytes, size_t size, const airy_frame_reader_params *params,
                      const struct read *want)
{
    int ends[2];
    char path[32];
    require(pipe(ends) == 0 && write(ends[1], bytes, size) == (ssize_t)size);
    close(ends[1]);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
    const struct read got = read_frames(path, params);
    require(want->format != AIRY_FRAMES_RAW || (got.count == want->count && got.sum == want->sum));
    close(ends[0]);
}

static void read_stack(const char *path)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (airy_stack_create(&stack, &path, 1) != AIRY_OK)
        return;
    require(airy_stack_get_info(stack, &info) == AIRY_OK && info.frames > 0);
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    uint8_t *frame = size <= MOST_BYTES ? malloc(size) : NULL;
    for (size_t i = 0; frame && i < info.frames && i < MOST_FRAMES; i++)
        (void)airy_stack_read(stack, i, frame, size);
    free(frame);
    airy_stack_destroy(&stack);
}

/* Mostly a sound file of gzip, with one byte changed where the input says so. */
static uint8_t *pack(const uint8_t *data, size_t size, unsigned damage, size_t *packed)
{
    z_stream z = {0};
    require(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    const size_t room = deflateBound(&z, size) + 64;
    uint8_t *out = malloc(room);
    require(out != NULL);
    z.next_in = (uint8_t *)(uintptr_t)data;
    z.avail_in = (unsigned)size;
    z.next_out = out;
    z.avail_out = (unsigned)room;
    require(deflate(&z, Z_FINISH) == Z_STREAM_END);
    *packed = z.total_out;
    deflateEnd(&z);
    if (damage & 1)
        out[damage * 31u % *packed] ^= (uint8_t)damage;
    if (damage & 2)
        *packed -= damage % *packed;
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 6)
        return 0;
    const unsigned kind = data[0] % KINDS;
    const airy_frame_reader_params params = {.dtype = (airy_dtype)(data[1] % AIRY_DTYPE_COUNT),
                                             .height = data[2],
                                             .width = data[3],
                                             .header_bytes = data[4],
                                             .stop = never_stop};
    const uint8_t *file = data + 6;
    size_t file_size = size - 6;
    uint8_t *packed = kind >= PACKED ? pack(file, file_size, data[5], &file_size) : NULL;
    char path[64];
    write_file(path, packed ? packed : file, file_size, suffixes[kind]);
    const struct read read = read_frames(path, &params);
    if (kind == RAW && file_size <= PIPE_BYTES)
        read_pipe(file, file_size, &params, &read);
    read_stack(path);
    unlink(path);
    free(packed);
    return 0;
}
