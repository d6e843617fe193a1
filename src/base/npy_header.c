/* The header of an npy file: "\x93NUMPY", two bytes of version, the length, and a Python dictionary such as
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * padded with spaces and ended by a newline. The parser takes the three keys in any order and nothing
 * else. */
#include <stdio.h>
#include <string.h>

#include "base/npy_format.h"

static const struct {
    const char *descr, *name;
    size_t size;
} types[SA_DTYPE_COUNT] = {
    [SA_FLOAT32] = {"<f4", "float32", 4}, [SA_FLOAT64] = {"<f8", "float64", 8},
    [SA_INT32] = {"<i4", "int32", 4},     [SA_INT64] = {"<i8", "int64", 8},
    [SA_UINT8] = {"|u1", "uint8", 1},
};

size_t sa_dtype_size(sa_dtype type) { return (unsigned)type < SA_DTYPE_COUNT ? types[type].size : 0; }

const char *sa_dtype_name(sa_dtype type) {
    return (unsigned)type < SA_DTYPE_COUNT ? types[type].name : "unknown";
}

bool sa_npy_bytes(sa_dtype type, size_t axes, const size_t *shape, size_t *bytes) {
    size_t product = sa_dtype_size(type);
    bool empty = false;
    for (size_t i = 0; i < axes; i++) {
        empty |= !shape[i];
        if (__builtin_mul_overflow(product, shape[i] ? shape[i] : 1, &product)) return false;
    }
    *bytes = empty ? 0 : product;
    return product <= PTRDIFF_MAX;
}

char *sa_npy_shape_text(size_t axes, const size_t *shape, char text[SA_NPY_HEADER_ROOM]) {
    size_t length = (size_t)sprintf(text, "(");
    for (size_t i = 0; i < axes && i < SA_NPY_MAX_AXES; i++)
        length += (size_t)sprintf(text + length, i ? ", %zu" : "%zu", shape[i]);
    strcpy(text + length, axes == 1 ? ",)" : ")");
    return text;
}

sa_status sa_npy_header_write(sa_dtype type, size_t axes, const size_t *shape,
                              char header[SA_NPY_HEADER_ROOM], size_t *size) {
    enum { PREFIX = 10, STEP = 64 };
    size_t bytes;
    if ((unsigned)type >= SA_DTYPE_COUNT) return sa_fail(SA_INVALID, "%d is not an array's type", (int)type);
    if (axes > SA_NPY_MAX_AXES)
        return sa_fail(SA_INVALID, "an array of %zu axes has more than %d", axes, SA_NPY_MAX_AXES);
    if (!sa_npy_bytes(type, axes, shape, &bytes))
        return sa_fail(SA_INVALID, "an array's shape is too large for memory");
    char text[SA_NPY_HEADER_ROOM];
    int length = snprintf(header + PREFIX, SA_NPY_HEADER_ROOM - PREFIX,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", types[type].descr,
                          sa_npy_shape_text(axes, shape, text));
    size_t used = PREFIX + (size_t)length, total = (used + 1 + STEP - 1) / STEP * STEP;
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((total - PREFIX) & 255);
    header[9] = (char)((total - PREFIX) >> 8);
    memset(header + used, ' ', total - used - 1);
    header[total - 1] = '\n';
    *size = total;
    return SA_OK;
}

/* ---- parsing ---- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_spaces(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) c->at++;
}

static bool take(cursor *c, const char *token) {
    size_t length = strlen(token);
    skip_spaces(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, token, length)) return false;
    c->at += length;
    return true;
}

/* A short string in quotes of either kind, without escapes. */
static bool take_string(cursor *c, char text[32]) {
    skip_spaces(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
    const char *start = c->at + 1;
    const char *close = memchr(start, *c->at, (size_t)(c->end - start));
    if (!close || close - start >= 32) return false;
    for (const char *s = start; s < close; s++)
        if (*s < 32 || *s > 126 || *s == '\\') return false;
    memcpy(text, start, (size_t)(close - start));
    text[close - start] = 0;
    c->at = close + 1;
    return true;
}

static bool take_size(cursor *c, size_t *size) {
    skip_spaces(c);
    const char *start = c->at;
    for (*size = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, (size_t)(*c->at - '0'), size))
            return false;
    return c->at > start;
}

static sa_status parse_type(cursor *c, const char *name, sa_array *out) {
    char descr[32];
    if (take(c, "[")) return sa_fail(SA_FORMAT, "%s: arrays of records are not supported", name);
    if (!take_string(c, descr)) return sa_fail(SA_FORMAT, "%s: the header's 'descr' is damaged", name);
    for (int type = 0; type < SA_DTYPE_COUNT; type++) {
        if (strcmp(descr, types[type].descr)) continue;
        out->type = (sa_dtype)type;
        return SA_OK;
    }
    if (descr[0] == '>')
        return sa_fail(SA_FORMAT, "%s: type '%s' is big-endian; only little-endian is supported", name,
                       descr);
    if (strchr(descr, 'O'))
        return sa_fail(SA_FORMAT, "%s: type '%s' holds Python objects, not numbers", name, descr);
    return sa_fail(SA_FORMAT, "%s: type '%s' is not one of '<f4', '<f8', '<i4', '<i8', '|u1'", name, descr);
}

static sa_status parse_order(cursor *c, const char *name) {
    if (take(c, "False")) return SA_OK;
    if (take(c, "True"))
        return sa_fail(SA_FORMAT,
                       "%s: the array is in Fortran order; save numpy.ascontiguousarray(it) instead", name);
    return sa_fail(SA_FORMAT, "%s: the header's 'fortran_order' is damaged", name);
}

static sa_status parse_shape(cursor *c, const char *name, sa_array *out) {
    bool comma = true;
    if (!take(c, "(")) goto damaged;
    for (out->axes = 0; !take(c, ")"); out->axes++) {
        size_t size;
        if (!comma || !take_size(c, &size)) goto damaged;
        if (out->axes == SA_NPY_MAX_AXES)
            return sa_fail(SA_FORMAT, "%s: the array has more than %d axes", name, SA_NPY_MAX_AXES);
        out->shape[out->axes] = size;
        comma = take(c, ",");
    }
    if (out->axes == 1 && !comma) goto damaged; /* in Python (3) is no tuple */
    return SA_OK;
damaged:
    return sa_fail(SA_FORMAT, "%s: the header's 'shape' is damaged", name);
}

sa_status sa_npy_header_parse(const char *text, size_t size, const char *name, sa_array *out) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    cursor c = {text, text + size};
    bool seen[3] = {false, false, false}, comma = true;
    *out = (sa_array){0};
    if (!take(&c, "{")) goto damaged;
    while (!take(&c, "}")) {
        char key[32];
        int index = 0;
        if (!comma || !take_string(&c, key) || !take(&c, ":")) goto damaged;
        while (index < 3 && strcmp(key, keys[index])) index++;
        if (index == 3 || seen[index]) goto damaged;
        seen[index] = true;
        if (index == 0) SA_TRY(parse_type(&c, name, out));
        if (index == 1) SA_TRY(parse_order(&c, name));
        if (index == 2) SA_TRY(parse_shape(&c, name, out));
        comma = take(&c, ",");
    }
    skip_spaces(&c);
    if (c.at == c.end && seen[0] && seen[1] && seen[2]) return SA_OK;
damaged:
    return sa_fail(SA_FORMAT, "%s: the header is damaged", name);
}
