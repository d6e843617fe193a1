#include <math.h>
#include <string.h>

#include "base/npy.h"

static sa_status get_one(sa_npz *archive, const char *name, sa_dtype type, sa_array *array) {
    SA_TRY(sa_npz_get_exactly(archive, name, type, 0, NULL, array));
    if (sa_array_count(array) == 1) return SA_OK;
    sa_array_clear(array);
    return sa_fail(SA_FORMAT, "'%s' must be one number", name);
}

sa_status sa_npz_get_integer(sa_npz *archive, const char *name, int64_t least, int64_t most, int64_t *out) {
    sa_array array = {0};
    SA_TRY(get_one(archive, name, SA_INT64, &array));
    int64_t value = *(const int64_t *)array.data;
    sa_array_clear(&array);
    if (value < least || value > most)
        return sa_fail(SA_FORMAT, "'%s' is out of bounds: %lld", name, (long long)value);
    *out = value;
    return SA_OK;
}

sa_status sa_npz_format(sa_npz *archive, int64_t *format) {
    return sa_npz_get_integer(archive, "format", 1, INT64_MAX, format);
}

sa_status sa_npz_get_number(sa_npz *archive, const char *name, double *out) {
    sa_array array = {0};
    SA_TRY(get_one(archive, name, SA_FLOAT64, &array));
    double value = *(const double *)array.data;
    sa_array_clear(&array);
    if (!isfinite(value)) return sa_fail(SA_FORMAT, "'%s' is not a finite number", name);
    *out = value;
    return SA_OK;
}

sa_status sa_npz_read_into(sa_npz *archive, const char *name, sa_dtype type, size_t axes, const size_t *shape,
                           void *to) {
    sa_array array = {0};
    SA_TRY(axes ? sa_npz_get_exactly(archive, name, type, axes, shape, &array)
                : get_one(archive, name, type, &array));
    size_t bytes = sa_array_count(&array) * sa_dtype_size(type);
    if (bytes) memcpy(to, array.data, bytes); /* `to` may be NULL where nothing goes */
    sa_array_clear(&array);
    return SA_OK;
}
