#include "cli/distance.h"

#include <math.h>
#include <string.h>

void distance_add(struct distance *d, double a, double b, double ulp)
{
    if (ulp > 0) {
        const double size = fmax(fabs(a), fabs(b)), off = fabs(a / size - b / size);
        d->different++;
        d->relative = isfinite(off) ? fmax(d->relative, off) : (double)INFINITY;
        if (!(ulp <= d->ulp)) {
            d->ulp = ulp;
            d->worst_at = d->values;
            d->a = a;
            d->b = b;
        }
    }
    d->values++;
}

/* How a device goes about the work, which is no part of the result. */
static bool is_of_plan(const char *key)
{
    static const char *const keys[] = {"tiles", "tile", "device_bytes", "copied_bytes"};
    size_t i = 0;
    while (i < sizeof(keys) / sizeof(keys[0]) && strcmp(keys[i], key) != 0)
        i++;
    return i < sizeof(keys) / sizeof(keys[0]);
}

void distance_add_json(struct distance *d, json_t *a, json_t *b)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object(a) && json_is_object(b)) {
        json_object_foreach(a, key, value)
        {
            if (!is_of_plan(key))
                distance_add_json(d, value, json_object_get(b, key));
        }
    } else if (json_is_array(a) && json_is_array(b)) {
        json_array_foreach(a, i, value)
        {
            distance_add_json(d, value, json_array_get(b, i));
        }
    } else if (json_is_number(a) && json_is_number(b)) {
        const double x = json_number_value(a), y = json_number_value(b);
        const bool whole = json_is_integer(a) && json_is_integer(b);
        distance_add(d, x, y, ulp_distance(whole ? AIRY_DTYPE_I64 : AIRY_DTYPE_F64, x, y));
    } else if (json_is_number(a) || json_is_number(b)) {
        distance_add(d, (double)NAN, (double)NAN, (double)INFINITY);
    }
}

json_t *distance_json(const char *name, const struct distance *d)
{
    json_t *json = json_pack("{s:o, s:I, s:I, s:o, s:o}", "name", tool_json_string(name), "values",
                             (json_int_t)d->values, "different", (json_int_t)d->different, "ulp",
                             tool_json_number(d->ulp), "relative", tool_json_number(d->relative));
    if (json && d->rows[0] != d->rows[1])
        json_object_set_new(json, "rows",
                            json_pack("[I, I]", (json_int_t)d->rows[0], (json_int_t)d->rows[1]));
    if (json && d->different) {
        json_object_set_new(json, "at", json_integer((json_int_t)d->worst_at));
        json_object_set_new(json, "a", tool_json_number(d->a));
        json_object_set_new(json, "b", tool_json_number(d->b));
    }
    return json;
}
