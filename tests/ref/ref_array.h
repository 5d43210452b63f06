/* Boxes of C-ordered arrays, element by element. */
#ifndef AIRY_TESTS_REF_ARRAY_H
#define AIRY_TESTS_REF_ARRAY_H

#include <stddef.h>

/*
 * The box [start, start + box) of an array of `shape` to or from tightly packed elements of `size`
 * bytes.
 */
void ref_box_get(void *packed, const void *array, int ndim, const size_t *shape,
                 const size_t *start, const size_t *box, size_t size);
void ref_box_set(void *array, const void *packed, int ndim, const size_t *shape,
                 const size_t *start, const size_t *box, size_t size);

#endif
