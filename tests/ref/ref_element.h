/*
 * Arithmetic element by element from its definition. Values of every dtype are held as long double,
 * whose 64 bits or more hold each of them exactly.
 */
#ifndef AIRY_TESTS_REF_ELEMENT_H
#define AIRY_TESTS_REF_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

struct ref_type {
    bool is_float, is_signed;
    int size; /* bytes */
};

enum ref_domain { REF_F32, REF_F64, REF_EXACT };

/* Operators and functions in the order of the header. */
long double ref_operator(int op, long double a, long double b, enum ref_domain domain);
long double ref_function(int function, long double a, enum ref_domain domain);
/* v as the domain has it. */
long double ref_enter(long double v, enum ref_domain domain);
/* v as the type holds it: halves to even or towards 0, limits, NaN 0. */
long double ref_store(long double v, struct ref_type type, bool truncate);

/* Which element of a line of n an index means; -1: the border's value. Names as in ref_filter.h. */
long ref_border_element(long i, long n, int border);

/*
 * One box of a C-ordered array of four axes: the elements [first, first + box) along each. how: as
 * airy_projection. scale: sum |x| of what went in.
 */
double ref_project(const double *src, const size_t shape[4], const size_t first[4],
                   const size_t box[4], int how, bool skip_nan, double *scale);

#endif
