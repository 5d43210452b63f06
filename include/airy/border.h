/** What lies outside an image, for every operation that looks at neighbours. */
#ifndef AIRY_BORDER_H
#define AIRY_BORDER_H

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Element i of a line a b c d of length n, for i < 0 or i >= n. Any distance from the line is
 * allowed, also beyond a whole length.
 */
typedef enum airy_border {
    AIRY_BORDER_ZERO = 0, /**< 0 0 | a b c d | 0 0 */
    AIRY_BORDER_VALUE,    /**< v v | a b c d | v v, v: the operation's border_value */
    AIRY_BORDER_NEAREST,  /**< a a | a b c d | d d */
    AIRY_BORDER_REFLECT,  /**< b a | a b c d | d c: the edge is repeated (scipy 'reflect', NumPy
                               'symmetric') */
    AIRY_BORDER_MIRROR,   /**< c b | a b c d | c b: the edge is not repeated (NumPy 'reflect') */
    AIRY_BORDER_WRAP,     /**< c d | a b c d | a b */
    AIRY_BORDER_COUNT
} airy_border;

AIRY_API const char *airy_border_name(airy_border border); /**< "zero" ... ; "?" for no border */
AIRY_API airy_status airy_border_parse(airy_border *border, const char *name);

#ifdef __cplusplus
}
#endif
#endif
