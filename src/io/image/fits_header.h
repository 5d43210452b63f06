/* The cards of a FITS header as they lie in the file, kept with an image that came from one. */
#ifndef AIRY_IO_IMAGE_FITS_HEADER_H
#define AIRY_IO_IMAGE_FITS_HEADER_H

#include "airy/image.h"

enum { FITS_CARD = 80, FITS_BLOCK = 2880 };

struct airy_header {
    airy_dtype dtype; /* of the image that it describes */
    int ndim;
    size_t shape[AIRY_MAX_DIMS];
    size_t cards;
    char text[]; /* FITS_CARD bytes a card, END left out, then a 0 */
};

/* From cards up to END, byte for byte: files in use have tabs, line feeds and UTF-8 in them. */
airy_status airy_header_create(airy_header **header, const airy_image *image, const char *text,
                               size_t cards);
/*
 * Cards of the table that a tile-compressed image lies in, to those of the image, in place. The
 * number that are left.
 */
size_t airy_header_untile(char *text, size_t cards);
/* Control characters of a card become blanks, so that the value beside them can be used. */
void airy_header_clean(char *card);
/* The value field of a keyword's first card, without quotes and comment; false: not there. */
bool airy_header_get(const airy_header *header, const char *keyword, char value[FITS_CARD]);
/* The same as a number. */
bool airy_header_number(const airy_header *header, const char *keyword, double *number);
/* Pixels of an axis that are kept. */
struct airy_cut {
    size_t first, count, step;
};
/*
 * Of FITS's axis 1, 2, ...: the reference pixels move, increments grow by the step. NULL: nothing
 * to do.
 */
void airy_header_cut(airy_header *header, int axis, const struct airy_cut *cut);
/* False: the coordinates after it would not be those from before, by what the header leaves out or
 * by axes that are mixed. */
bool airy_header_follows(const airy_header *header, int axis, const struct airy_cut *cut);
/* Keywords that say how the pixels lie in the file, not what they mean. */
bool airy_header_structural(const char *card);

#endif
