#include "airy/dtype.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/word.h"

static const struct {
    const char *name, *brief, *numpy;
    size_t size;
    bool is_float, is_signed;
} dtypes[AIRY_DTYPE_COUNT] = {
    [AIRY_DTYPE_F32] = {"float32", "f32", "f4", 4, true, true},
    [AIRY_DTYPE_U8] = {"uint8", "u8", "u1", 1, false, false},
    [AIRY_DTYPE_I8] = {"int8", "i8", "i1", 1, false, true},
    [AIRY_DTYPE_U16] = {"uint16", "u16", "u2", 2, false, false},
    [AIRY_DTYPE_I16] = {"int16", "i16", "i2", 2, false, true},
    [AIRY_DTYPE_U32] = {"uint32", "u32", "u4", 4, false, false},
    [AIRY_DTYPE_I32] = {"int32", "i32", "i4", 4, false, true},
    [AIRY_DTYPE_U64] = {"uint64", "u64", "u8", 8, false, false},
    [AIRY_DTYPE_I64] = {"int64", "i64", "i8", 8, false, true},
    [AIRY_DTYPE_F64] = {"float64", "f64", "f8", 8, true, true},
};

static bool is_dtype(airy_dtype dtype)
{
    return (unsigned)dtype < AIRY_DTYPE_COUNT;
}

size_t airy_dtype_size(airy_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].size : 0;
}

const char *airy_dtype_name(airy_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].name : "?";
}

bool airy_dtype_is_float(airy_dtype dtype)
{
    return is_dtype(dtype) && dtypes[dtype].is_float;
}

bool airy_dtype_is_signed(airy_dtype dtype)
{
    return is_dtype(dtype) && dtypes[dtype].is_signed;
}

double airy_dtype_nearest(airy_dtype dtype, double value)
{
    const bool single = dtype == AIRY_DTYPE_F32 && fabs(value) < 0x1.ffffffp127;
    return single ? (double)(float)value : value;
}

airy_status airy_dtype_parse(airy_dtype *dtype, const char *name)
{
    AIRY_FAIL_IF(!dtype || !name, AIRY_ERR_PARAM, "airy_dtype_parse: argument is NULL");
    const bool numpy = name[0] == '<' || name[0] == '|' || name[0] == '=';
    for (int i = 0; i < AIRY_DTYPE_COUNT; i++) {
        const bool match = numpy ? strcmp(name + 1, dtypes[i].numpy) == 0
                                 : strcmp(name, dtypes[i].name) == 0 ||
                                       strcmp(name, dtypes[i].brief) == 0;
        if (match) {
            *dtype = (airy_dtype)i;
            return AIRY_OK;
        }
    }
    const char *names[AIRY_DTYPE_COUNT];
    for (int i = 0; i < AIRY_DTYPE_COUNT; i++)
        names[i] = dtypes[i].name;
    const char *near = airy_suggest_word(name, names, AIRY_DTYPE_COUNT);
    AIRY_FAIL_IF(near, AIRY_ERR_DTYPE, "dtype '%.40s' is not known, did you mean '%s'?", name,
                 near);
    return airy_fail(AIRY_ERR_DTYPE,
                     "dtype '%.40s' is not known; expected one like uint16, int32, float32", name);
}
