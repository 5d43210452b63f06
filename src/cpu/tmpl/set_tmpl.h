/*
 * For templates that are compiled once for each instruction set: SET, its name, is defined first.
 */
#ifndef AIRY_CPU_TMPL_SET_TMPL_H
#define AIRY_CPU_TMPL_SET_TMPL_H

#define NAME_(f, set)  f##_##set
#define NAME__(f, set) NAME_(f, set)
#define NAME(f)        NAME__(f, SET)

/* Bytes that the set has in a register: compilers take wider comparisons apart, element by element. */
#if defined(__AVX512F__)
#define VECTOR 64
#elif defined(__AVX2__)
#define VECTOR 32
#else
#define VECTOR 16
#endif

#endif
