/*
 * Frames of one file that is not HDF5: NPY, EDF, CBF, TIFF, raw pixels, and whatever else
 * airy_image_read takes; NPY, EDF and CBF also packed by gzip.
 */
#ifndef AIRY_IO_STACK_PLAIN_FRAMES_H
#define AIRY_IO_STACK_PLAIN_FRAMES_H

#include "airy/stack.h"
#include "base/md5.h"
#include "io/stack/header_geometry.h"
#include "io/image/formats.h"

enum airy_plain_kind {
    AIRY_PLAIN_PIXELS = 0,  /* as in memory, or in the other byte order */
    AIRY_PLAIN_BYTE_OFFSET, /* one frame of CBF */
    AIRY_PLAIN_PAGES,       /* of TIFF */
    AIRY_PLAIN_IMAGE,       /* frames of FITS, one of others, through their readers */
    AIRY_PLAIN_HELD         /* in memory, as the file has to be read as a whole */
};

/* A frame whose own header states another geometry than the first that states one in its file. */
struct airy_frame_header {
    struct airy_frame_header *next;
    size_t frame;
    struct airy_header header;
};

/* How files are opened: members of airy_stack_params. */
struct airy_plain_options {
    bool has_raw, raw_if_headerless, raw_rest, verify;
    airy_raw_frames raw;
    size_t npy_height;
};

/* What a file's headers say; all of it was checked against the file's size. */
struct airy_plain_frames {
    enum airy_plain_kind kind;
    airy_dtype dtype;
    size_t frames, height, width, frame_bytes;
    uint64_t size;    /* of the file, or unpacked */
    uint64_t start;   /* of the first frame's pixels, or of what is stored of it */
    uint64_t *starts; /* [frames] of pixels, of TIFF directories; NULL: `stored` apart */
    size_t stored;    /* bytes of a frame in the file, where it has pixels: PIXELS, BYTE_OFFSET */
    enum airy_image_format format; /* IMAGE */
    bool swapped, is_packed, headerless;
    uint64_t rest; /* bytes behind the last whole frame of a headerless file */
    bool has_md5;  /* of what is stored of a frame of CBF, to be verified */
    uint8_t md5[AIRY_MD5_BYTES];
    bool half;         /* f16 in the file, f32 in memory */
    bool flipped;      /* of FITS, as in struct airy_image_header */
    uint8_t *held;     /* HELD: pixels of all frames; else NULL or what gzip unpacked */
    char *text;        /* TIFF: its description; header of EDF and CBF, cut to 64 KiB; or NULL */
    const char *codec; /* "none", "byte-offset", "gzip", ... */
    struct airy_header stated;        /* EDF, TIFF: by the first frame that states a geometry */
    struct airy_frame_header *others; /* the first of each part of it that differs; or NULL */
};

/*
 * fd: the file, size bytes. options->verify: the checksums that the file carries, here or when a
 * frame is read. The path is for the format and for images alone.
 * Errors: AIRY_ERR_FORMAT, AIRY_ERR_UNSUPPORTED, AIRY_ERR_CORRUPT, AIRY_ERR_SHAPE, AIRY_ERR_IO.
 */
airy_status airy_plain_index(struct airy_plain_frames *frames, const char *path, int fd,
                             uint64_t size, const struct airy_plain_options *options);
void airy_plain_release(struct airy_plain_frames *frames);
/* Where the pixels of a frame lie in the file as they are in memory; UINT64_MAX: they do
 * not. */
uint64_t airy_plain_offset(const struct airy_plain_frames *frames, size_t frame);
/* One frame's native pixels. kept: as for airy_fits_read_frame. */
airy_status airy_plain_read(const struct airy_plain_frames *frames, size_t frame, const char *path,
                            int fd, airy_fits **kept, void *pixels);

#endif
