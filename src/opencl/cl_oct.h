/* What the files of OCT on a device share: cl_oct.c, cl_oct_table.c, cl_oct_samples.c,
 * cl_oct_frames.c. */
#ifndef AIRY_OPENCL_CL_OCT_H
#define AIRY_OPENCL_CL_OCT_H

#include "oct/oct_fns.h"
#include "shared/oct_lines_geom.h"

/* How lines of a plan are transformed (kernels/oct.cl), and its tables on the device. */
struct airy_cl_oct {
    unsigned bits; /* of a sample; 32: float */
    bool is_signed, rolling;
    unsigned elements, each; /* of a transform, of an item */
    unsigned radix[3];
    bool chirp; /* the length is no power of two from 32 on */
    bool pairs; /* two lines are real and imaginary part of a transform */
    bool split, global_room;
    bool phasor;
    unsigned form, offset; /* AIRY_OCT_FORM_..., OFFSET of the kernel */
    unsigned room_step;    /* elements between the rooms of two transforms */
    uint32_t at[AIRY_OCT_PIECES];
    char options[512];     /* of all launches */
    airy_array *table;     /* u32 */
    airy_array *mean;      /* u32: bases, weights; NULL: the mean of frames is not subtracted */
    airy_array *positions; /* u32 [out_lines][2]: of the sinusoidal scan; NULL: none */
};

/* Fill form, at and the arrays; what stands above them is there. Complete on return. */
airy_status airy_cl_oct_tables(airy_queue *queue, struct airy_cl_oct *impl,
                               const struct airy_oct *oct);
/* BITS, BIG, SIGNED, SHIFT, AT_ONCE for lines that begin at multiples of `alignment` bytes. */
void airy_cl_oct_sample_options(char *text, size_t size, const struct airy_cl_oct *impl,
                                const struct airy_oct *oct, unsigned at_once);
/* Samples that an item loads at once, most at most. */
unsigned airy_cl_oct_at_once(const struct airy_cl_oct *impl, const struct airy_oct *oct,
                             const airy_array *src, unsigned most);

/* Entries of airy_oct_opencl. */
airy_status airy_cl_oct_mean(airy_queue *queue, const struct airy_oct *oct, const airy_array *mean,
                             const airy_array *src, size_t frames);
airy_status airy_cl_oct_combine(airy_queue *queue, const struct airy_oct_combine_plan *plan);

#endif
