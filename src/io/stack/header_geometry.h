/* What the header of one input states of the geometry, and how two headers compare. */
#ifndef AIRY_IO_STACK_HEADER_GEOMETRY_H
#define AIRY_IO_STACK_HEADER_GEOMETRY_H

#include "airy/stack.h"

struct airy_header {
    unsigned parts;        /* airy_geometry_part: those that are stated and can be used */
    double pixel[2];       /* m: height and width */
    double dist;           /* m */
    double center[2];      /* pixels: row and column of the beam */
    double wavelength;     /* m */
    double tilt[3];        /* angles of the detector, rad; 0 where there are none */
    unsigned contradicted; /* airy_geometry_part: those of which two places state two values */
};

/* What is stated but cannot be used, in words for a message. */
struct airy_unusable {
    char text[256];
};
void airy_unusable_add(struct airy_unusable *unusable, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A number that a header may state in several places, which must agree. */
struct airy_stated {
    const char *unit;
    double within; /* difference up to which two values are one; 0: a thousandth of the value */
    double value;
    bool found, contradicted;
    char name[128]; /* of the place of the value */
};
/* The first value counts; another one is noted as a contradiction. */
void airy_stated_add(struct airy_stated *stated, struct airy_unusable *unusable, const char *name,
                     double value);
/* True, and the value, where it can be used; a contradiction is one of that part. */
bool airy_stated_get(double *value, struct airy_header *header, unsigned part,
                     const struct airy_stated *stated);

/* The centre of a file that was never told any is 0, 0: it is not taken. */
void airy_header_set_center(struct airy_header *header, struct airy_unusable *unusable,
                            const char *name, double row, double column);
/* The first of these parts that both state, with values that are not the same; 0: none. */
unsigned airy_header_differ(const struct airy_header *a, const struct airy_header *b,
                            unsigned parts);
/* "the distance is 0.2 m in a.cbf, but 0.3 m in b.cbf" */
airy_status airy_header_refuse(unsigned part, const struct airy_header *a, const char *path_a,
                               const struct airy_header *b, const char *path_b);

/* Into what a stack's user gets; the geometry has the detector's name and shape already. */
void airy_header_describe(airy_stack_meta *meta, const struct airy_header *header,
                          const struct airy_unusable *unusable);

#endif
