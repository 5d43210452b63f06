/* The formats behind airy_frame_writer: a file under its partial name that grows by frames. */
#ifndef AIRY_IO_STACK_FRAME_SINK_H
#define AIRY_IO_STACK_FRAME_SINK_H

#include "airy/frames.h"

struct airy_frame_sink;

/* Elements of the file are complex numbers, not pairs. */
static inline bool airy_frame_sink_is_complex(const airy_frame_writer_params *p)
{
    return p->is_complex && !p->complex_as_pairs;
}

struct airy_frame_sink_fns {
    /* fd: the file, new; it is open until after destroy. */
    airy_status (*create)(struct airy_frame_sink **sink, int fd, const char *partial,
                          const airy_frame_writer_params *params);
    airy_status (*add)(struct airy_frame_sink *sink, const void *frames, size_t count);
    /* Complete and on the disk. */
    airy_status (*finish)(struct airy_frame_sink *sink, uint64_t frames);
    void (*destroy)(struct airy_frame_sink *sink);
};

extern const struct airy_frame_sink_fns airy_frame_sink_hdf5; /* frame_sink_hdf5.c */

#endif
