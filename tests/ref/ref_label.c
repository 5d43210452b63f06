#include "ref_label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t ref_label(uint32_t *labels, const uint8_t *foreground, const size_t shape[3], int axes)
{
    const size_t n = shape[0] * shape[1] * shape[2];
    size_t *todo = malloc(n * sizeof(*todo)), count = 0;
    memset(labels, 0, n * sizeof(*labels));
    for (size_t i = 0; todo && i < n; i++) {
        if (!foreground[i] || labels[i])
            continue;
        size_t left = 0;
        labels[i] = (uint32_t)++count;
        todo[left++] = i;
        while (left) {
            const size_t at = todo[--left];
            const long z = (long)(at / (shape[1] * shape[2])), y = (long)(at / shape[2] % shape[1]),
                       x = (long)(at % shape[2]);
            for (long dz = -1; dz <= 1; dz++)
                for (long dy = -1; dy <= 1; dy++)
                    for (long dx = -1; dx <= 1; dx++) {
                        if (labs(dz) + labs(dy) + labs(dx) > axes || z + dz < 0 || y + dy < 0 ||
                            x + dx < 0 || z + dz >= (long)shape[0] || y + dy >= (long)shape[1] ||
                            x + dx >= (long)shape[2])
                            continue;
                        const size_t next = ((size_t)(z + dz) * shape[1] + (size_t)(y + dy)) *
                                                shape[2] +
                                            (size_t)(x + dx);
                        if (foreground[next] && !labels[next]) {
                            labels[next] = (uint32_t)count;
                            todo[left++] = next;
                        }
                    }
        }
    }
    free(todo);
    return count;
}

void ref_measure(struct ref_region *r, uint32_t label, const uint32_t *labels, const double *values,
                 const size_t shape[3])
{
    const size_t n = shape[0] * shape[1] * shape[2];
    long double sum = 0, moment[3] = {0}, place[3] = {0}, xx = 0, yy = 0, xy = 0, magnitude = 0;
    memset(r, 0, sizeof(*r));
    for (size_t i = 0; i < n; i++) {
        if (labels[i] != label)
            continue;
        const uint64_t at[3] = {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
        const double v = values[i];
        if (r->count == 0 || v < r->min) {
            r->min = v;
            memcpy(r->min_at, at, sizeof(at));
        }
        if (r->count == 0 || v > r->max) {
            r->max = v;
            memcpy(r->max_at, at, sizeof(at));
        }
        for (int k = 0; k < 3; k++) {
            r->first[k] = r->count == 0 || at[k] < r->first[k] ? at[k] : r->first[k];
            r->last[k] = r->count == 0 || at[k] > r->last[k] ? at[k] : r->last[k];
            moment[k] += (long double)v * (long double)at[k];
            place[k] += (long double)at[k];
        }
        sum += v;
        magnitude += fabs(v);
        r->count++;
    }
    r->sum = (double)sum;
    r->magnitude = (double)magnitude;
    for (int k = 0; k < 3; k++) {
        r->center[k] = (double)(moment[k] / sum);
        r->centroid[k] = (double)(place[k] / (long double)r->count);
    }
    for (size_t i = 0; i < n; i++) {
        if (labels[i] != label)
            continue;
        const long double dy = (long double)(i / shape[2] % shape[1]) - moment[1] / sum,
                          dx = (long double)(i % shape[2]) - moment[2] / sum, v = values[i];
        xx += v * dx * dx;
        yy += v * dy * dy;
        xy += v * dx * dy;
    }
    r->mxx = (double)(xx / sum);
    r->myy = (double)(yy / sum);
    r->mxy = (double)(xy / sum);
}
