/* How far two results of the same job lie apart. */
#ifndef AIRY_TOOLS_CLI_DISTANCE_H
#define AIRY_TOOLS_CLI_DISTANCE_H

#include "cli/tool.h"
#include "cli/ulp.h"

/* The results of one output, or of the answer. */
struct distance {
    size_t values, different;
    double ulp;      /* the largest; infinite where only one is a number */
    double relative; /* the largest |a - b| / max(|a|, |b|); likewise */
    size_t worst_at; /* among the values: of the ulp */
    double a, b;     /* there */
    size_t rows[2];  /* of a table */
};

/* Add a value of both, and how many units in the last place lie between (ulp_distance). */
void distance_add(struct distance *d, double a, double b, double ulp);
/* Add the numbers of two answers at the same keys. */
void distance_add_json(struct distance *d, json_t *a, json_t *b);
/* {name, values, different, ulp, relative, ...} */
json_t *distance_json(const char *name, const struct distance *d);

#endif
