#include "io/hdf5/type.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "io/file/format.h"
#include "io/hdf5/error.h"

hid_t airy_hdf5_native(airy_dtype dtype)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return H5T_NATIVE_UINT8;
    case AIRY_DTYPE_I8:
        return H5T_NATIVE_INT8;
    case AIRY_DTYPE_U16:
        return H5T_NATIVE_UINT16;
    case AIRY_DTYPE_I16:
        return H5T_NATIVE_INT16;
    case AIRY_DTYPE_U32:
        return H5T_NATIVE_UINT32;
    case AIRY_DTYPE_I32:
        return H5T_NATIVE_INT32;
    case AIRY_DTYPE_U64:
        return H5T_NATIVE_UINT64;
    case AIRY_DTYPE_I64:
        return H5T_NATIVE_INT64;
    case AIRY_DTYPE_F64:
        return H5T_NATIVE_DOUBLE;
    default:
        return H5T_NATIVE_FLOAT;
    }
}

hid_t airy_hdf5_element(airy_dtype dtype, bool is_complex)
{
    const hid_t part = airy_hdf5_native(dtype);
    const size_t size = airy_dtype_size(dtype);
    if (!is_complex)
        return H5Tcopy(part);
    const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * size);
    if (type >= 0 && (H5Tinsert(type, "r", 0, part) < 0 || H5Tinsert(type, "i", size, part) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

static bool is_member(hid_t type, unsigned number, const char *name)
{
    char *found = H5Tget_member_name(type, number);
    const bool same = found && strcmp(found, name) == 0;
    H5free_memory(found);
    return same;
}

/*
 * The bits of a number lie inside of its bytes: a damaged type may say otherwise, and libhdf5 1.10
 * converts by what it says.
 */
static bool is_sound(hid_t type)
{
    const size_t bits = 8 * H5Tget_size(type), precision = H5Tget_precision(type);
    const int offset = H5Tget_offset(type);
    size_t sign, exponent, exponent_bits, mantissa, mantissa_bits;
    if (bits > 64 || offset < 0 || precision == 0 || precision > bits ||
        (size_t)offset > bits - precision)
        return false;
    return H5Tget_class(type) != H5T_FLOAT ||
           (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
            sign < bits && exponent_bits <= bits && exponent <= bits - exponent_bits &&
            mantissa_bits <= bits && mantissa <= bits - mantissa_bits);
}

bool airy_hdf5_is_complex(airy_dtype *dtype, hid_t type)
{
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2 ||
        !is_member(type, 0, "r") || !is_member(type, 1, "i"))
        return false;
    const hid_t real = H5Tget_member_type(type, 0), imaginary = H5Tget_member_type(type, 1);
    const size_t size = real < 0 ? 0 : H5Tget_size(real);
    const bool found = real >= 0 && imaginary >= 0 && H5Tget_class(real) == H5T_FLOAT &&
                       (size == 4 || size == 8) && is_sound(real) && H5Tequal(real, imaginary) > 0;
    if (real >= 0)
        H5Tclose(real);
    if (imaginary >= 0)
        H5Tclose(imaginary);
    if (found)
        *dtype = size == 4 ? AIRY_DTYPE_F32 : AIRY_DTYPE_F64;
    return found;
}

static const char *class_name(H5T_class_t class)
{
    switch (class) {
    case H5T_INTEGER:
        return "integer";
    case H5T_FLOAT:
        return "float";
    case H5T_STRING:
        return "string";
    case H5T_BITFIELD:
        return "bit field";
    case H5T_OPAQUE:
        return "opaque";
    case H5T_COMPOUND:
        return "compound";
    case H5T_REFERENCE:
        return "reference";
    case H5T_ENUM:
        return "enumeration";
    case H5T_VLEN:
        return "variable length";
    case H5T_ARRAY:
        return "array";
    default:
        return "unknown";
    }
}

static bool dtype_of_size(airy_dtype *dtype, bool is_float, bool is_signed, size_t size)
{
    if (is_float && size == 2) /* half precision: exact in single */
        size = 4;
    for (int i = 0; i < AIRY_DTYPE_COUNT; i++) {
        const airy_dtype candidate = (airy_dtype)i;
        if (airy_dtype_size(candidate) == size && airy_dtype_is_float(candidate) == is_float &&
            airy_dtype_is_signed(candidate) == is_signed) {
            *dtype = candidate;
            return true;
        }
    }
    return false;
}

airy_status airy_hdf5_dtype(airy_dtype *dtype, bool *native, hid_t type, const char *what)
{
    airy_dtype part;
    AIRY_FAIL_HINT_IF(airy_hdf5_is_complex(&part, type), AIRY_ERR_UNSUPPORTED, AIRY_HINT_COMPLEX,
                      AIRY_SUBJECT_DATASET, "%s: " AIRY_COMPLEX_REFUSED, what);
    H5T_class_t class = H5Tget_class(type);
    const bool is_enum = class == H5T_ENUM;
    const hid_t base = is_enum ? H5Tget_super(type) : H5Tcopy(type);
    if (base < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s: the type cannot be read",
                              what);
    class = H5Tget_class(base);
    const bool is_float = class == H5T_FLOAT;
    const bool is_signed = is_float || H5Tget_sign(base) == H5T_SGN_2;
    const size_t size = H5Tget_size(base);
    airy_dtype found = AIRY_DTYPE_F32;
    const bool known = (class == H5T_INTEGER || is_float) &&
                       dtype_of_size(&found, is_float, is_signed, size);
    const bool sound = !known || is_sound(base);
    const bool equal = known && sound && H5Tequal(base, airy_hdf5_native(found)) > 0;
    H5Tclose(base);
    AIRY_FAIL_ON_IF(
        class != H5T_INTEGER && class != H5T_FLOAT, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
        "%s: elements are of class '%s', expected integers or floats", what, class_name(class));
    AIRY_FAIL_ON_IF(!known, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
                    "%s: %ss of %zu bytes, expected 1, 2, 4 or 8", what, class_name(class), size);
    AIRY_FAIL_ON_IF(!sound, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: the type of its %zu-byte numbers is damaged", what, size);
    *dtype = found;
    *native = equal;
    return AIRY_OK;
}

void airy_hdf5_type_text(char *text, size_t size, hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    const size_t bytes = H5Tget_size(type);
    airy_dtype part;
    if (airy_hdf5_is_complex(&part, type)) {
        snprintf(text, size, "complex%zu", 16 * airy_dtype_size(part));
    } else if (class == H5T_INTEGER || class == H5T_FLOAT) {
        const bool is_signed = class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
        const char *kind = class == H5T_FLOAT ? "float" : is_signed ? "int" : "uint";
        const bool swapped = bytes > 1 && H5Tget_order(type) == H5T_ORDER_BE;
        snprintf(text, size, "%s%zu%s", kind, 8 * bytes, swapped ? " big-endian" : "");
    } else {
        snprintf(text, size, "%s", class_name(class));
    }
}
