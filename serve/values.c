#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"

/* Brackets inside brackets, looked at before the parser recurses. */
static bool is_too_deep(const char *bytes, size_t size) {
    size_t depth = 0;
    for (size_t i = 0; i < size; i++) {
        switch (bytes[i]) {
        case '"':
            for (i++; i < size && bytes[i] != '"'; i++)
                if (bytes[i] == '\\') i++;
            break;
        case '[':
        case '{':
            if (++depth > LIMIT_NESTING) return true;
            break;
        case ']':
        case '}':
            if (depth) depth--;
            break;
        default: break;
        }
    }
    return false;
}

json_t *sv_value_parse(const char *bytes, size_t size, sv_refusal *why) {
    json_error_t error;
    if (size == 0) {
        sv_refuse(why, 400, "the body is empty, where a JSON object is expected");
        return NULL;
    }
    if (is_too_deep(bytes, size)) {
        sv_refuse(why, 400, "the JSON is nested more than %d deep", LIMIT_NESTING);
        return NULL;
    }
    json_t *value = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!value)
        sv_refuse(why, 400, "the body is no JSON: line %d, column %d: %s", error.line, error.column,
                  error.text);
    else if (!json_is_object(value)) {
        sv_refuse(why, 400, "the body is no JSON object");
        json_decref(value);
        value = NULL;
    }
    return value;
}

bool sv_value_fields(const json_t *object, const char *what, const char *const *names, sv_refusal *why) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (names[i] && strcmp(names[i], key)) i++;
        if (names[i]) continue;
        sv_text list = {0};
        for (i = 0; names[i]; i++) text_put(&list, "%s%s", i ? ", " : "", names[i]);
        sv_refuse(why, 400, "%.64s is not a field of %s, which has %s", key, what,
                  list.failed ? "others" : list.data);
        text_free(&list);
        return false;
    }
    return true;
}

static int by_name(const void *one, const void *other) {
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Bytes are gathered, so that numbers do not go to the hash one by one. */
typedef struct gathering {
    sa_sha256 hash;
    uint8_t bytes[1024];
    size_t count;
} gathering;

static void flush(gathering *self) {
    sa_sha256_add(&self->hash, self->bytes, self->count);
    self->count = 0;
}

static void hash_bytes(gathering *self, const void *bytes, size_t size) {
    if (self->count + size > sizeof self->bytes) flush(self);
    if (size > sizeof self->bytes) {
        sa_sha256_add(&self->hash, bytes, size);
        return;
    }
    memcpy(self->bytes + self->count, bytes, size);
    self->count += size;
}

static void hash_size(gathering *hash, char tag, uint64_t size) {
    hash_bytes(hash, &tag, 1);
    hash_bytes(hash, &size, sizeof size);
}

static void hash_any(gathering *hash, const json_t *value);

static void hash_object(gathering *hash, const json_t *object) {
    size_t count = json_object_size(object), i = 0;
    hash_size(hash, 'o', count);
    const char **keys = calloc(count + 1, sizeof *keys), *key;
    json_t *value;
    if (!keys) return; /* two bodies may then look the same, and the answer to the first is given again */
    json_object_foreach((json_t *)object, key, value) keys[i++] = key;
    qsort(keys, count, sizeof *keys, by_name);
    for (i = 0; i < count; i++) {
        hash_size(hash, 'k', strlen(keys[i]));
        hash_bytes(hash, keys[i], strlen(keys[i]));
        hash_any(hash, json_object_get(object, keys[i]));
    }
    free(keys);
}

static void hash_any(gathering *hash, const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: hash_object(hash, value); break;
    case JSON_ARRAY:
        hash_size(hash, 'a', json_array_size(value));
        for (size_t i = 0; i < json_array_size(value); i++) hash_any(hash, json_array_get(value, i));
        break;
    case JSON_STRING:
        hash_size(hash, 's', json_string_length(value));
        hash_bytes(hash, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
    case JSON_REAL: { /* 1, 1.0 and 1e0 are one number */
        double number = json_number_value(value) + 0.0;
        hash_bytes(hash, "n", 1);
        hash_bytes(hash, &number, sizeof number);
        break;
    }
    case JSON_TRUE: hash_bytes(hash, "t", 1); break;
    case JSON_FALSE: hash_bytes(hash, "f", 1); break;
    case JSON_NULL: hash_bytes(hash, "z", 1); break;
    }
}

void sv_value_hash(const json_t *value, uint8_t digest[SA_SHA256_BYTES]) {
    gathering all;
    all.count = 0;
    sa_sha256_begin(&all.hash);
    hash_any(&all, value);
    flush(&all);
    sa_sha256_end(&all.hash, digest);
}

bool sv_value_number(const json_t *value, const char *name, double *out, sv_refusal *why) {
    if (!json_is_number(value)) return sv_refuse(why, 400, "%s is no number", name);
    *out = json_number_value(value);
    return isfinite(*out) || sv_refuse(why, 400, "%s is not finite", name);
}

bool sv_value_whole(const json_t *value, const char *name, double least, double most, size_t *out,
                    sv_refusal *why) {
    double number = 0;
    if (!sv_value_number(value, name, &number, why)) return false;
    if (number != floor(number)) return sv_refuse(why, 400, "%s %g is no whole number", name, number);
    if (number < least || number > most)
        return sv_refuse(why, 400, "%s %.15g is not between %g and %.15g", name, number, least, most);
    *out = (size_t)number;
    return true;
}

bool sv_value_id(const json_t *value, const char *name, const char **out, sv_refusal *why) {
    if (!json_is_string(value)) return sv_refuse(why, 400, "%s is no string", name);
    size_t size = json_string_length(value);
    if (size == 0 || size > LIMIT_ID)
        return sv_refuse(why, 400, "%s has %zu bytes, and not 1 to %d", name, size, LIMIT_ID);
    *out = json_string_value(value);
    if (strlen(*out) != size) return sv_refuse(why, 400, "%s has a zero byte in it", name);
    return true;
}
