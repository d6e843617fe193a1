/* JSON in a form of its own: objects with their keys in order, each once, and a hash of that. */
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"

enum { GATHERED = 4096, REMEMBERED = 64 };

typedef struct key {
    const char *text; /* without escapes */
    uint32_t size, node;
} key;

typedef struct walker {
    const sa_json *json;
    key *keys; /* of the objects that are open, one behind the other, each by increasing key */
    size_t keys_used, keys_room;
    char *plain; /* keys and strings without their escapes; as long as the text */
    size_t plain_used;
    /* The last object that was sorted: mostly the next one has the same keys in the same places. */
    uint32_t last_keys[REMEMBERED], last_order[REMEMBERED];
    size_t last_count;
    bool hashes;
    sa_sha256 hash;
    size_t gathered;
    uint8_t bytes[GATHERED]; /* that go to the hash together */
} walker;

/* ---- hashing ---- */

static void flush(walker *w) {
    sa_sha256_add(&w->hash, w->bytes, w->gathered);
    w->gathered = 0;
}

static void put_bytes(walker *w, const void *bytes, size_t size) {
    if (w->gathered + size > GATHERED) flush(w);
    if (size > GATHERED) {
        sa_sha256_add(&w->hash, bytes, size);
        return;
    }
    memcpy(w->bytes + w->gathered, bytes, size);
    w->gathered += size;
}

/* A letter and 8 bytes, the lowest first. */
static void put_tagged(walker *w, char tag, uint64_t number) {
    if (w->gathered + 9 > GATHERED) flush(w);
    uint8_t *at = w->bytes + w->gathered;
    at[0] = (uint8_t)tag;
    for (int i = 0; i < 8; i++) at[1 + i] = (uint8_t)(number >> 8 * i);
    w->gathered += 9;
}

static void put_text(walker *w, char tag, const char *text, size_t size) {
    put_tagged(w, tag, size);
    put_bytes(w, text, size);
}

/* ---- keys ---- */

static int compare(const key *one, const key *other) {
    size_t size = one->size < other->size ? one->size : other->size;
    int order = memcmp(one->text, other->text, size);
    return order ? order : (one->size > other->size) - (one->size < other->size);
}

/* A merge sort: n log n whatever a client sends. `other` has room for as many. */
static void sort(key *keys, key *other, size_t count) {
    if (count <= 12) {
        for (size_t i = 1; i < count; i++) {
            key moved = keys[i];
            size_t at = i;
            for (; at > 0 && compare(&keys[at - 1], &moved) > 0; at--) keys[at] = keys[at - 1];
            keys[at] = moved;
        }
        return;
    }
    size_t half = count / 2, i = 0, j = half;
    sort(keys, other, half);
    sort(keys + half, other, count - half);
    memcpy(other, keys, count * sizeof *keys);
    for (size_t at = 0; at < count; at++)
        keys[at] = j == count || (i < half && compare(&other[i], &other[j]) <= 0) ? other[i++] : other[j++];
}

static sa_span plain_text(walker *w, size_t node) {
    sa_span span = sa_json_span(w->json, node);
    if (!w->json->nodes[node].escaped) return span;
    char *to = w->plain + w->plain_used;
    span.size = sa_json_unescape(w->json, node, to);
    span.start = to;
    w->plain_used += span.size;
    return span;
}

static sa_status gather(walker *w, size_t object, size_t *count) {
    const sa_json *json = w->json;
    *count = 0;
    for (size_t i = object + 1; i < json->nodes[object].next; i = json->nodes[i + 1].next, ++*count) {
        if (w->keys_used + *count == w->keys_room)
            SA_TRY(sa_grow_array(&w->keys, &w->keys_room, 2 * w->keys_room + 64, sizeof *w->keys));
        sa_span text = plain_text(w, i);
        w->keys[w->keys_used + *count] = (key){text.start, (uint32_t)text.size, (uint32_t)i};
    }
    return SA_OK;
}

/* Are these, as they stand in the text, the keys of the object that was sorted last? */
static bool is_as_before(const walker *w, const key *keys, size_t count) {
    if (count != w->last_count) return false;
    for (size_t i = 0; i < count; i++) {
        const sa_json_node *before = &w->json->nodes[w->last_keys[i]];
        if (before->size != keys[i].size || w->json->nodes[keys[i].node].escaped ||
            memcmp(w->json->text + before->start, keys[i].text, keys[i].size))
            return false;
    }
    return true;
}

static sa_status find_double(const walker *w, const key *keys, size_t count) {
    for (size_t i = 1; i < count; i++) {
        char shown[SA_PRINTABLE];
        if (compare(&keys[i - 1], &keys[i])) continue;
        uint32_t node = keys[i].node > keys[i - 1].node ? keys[i].node : keys[i - 1].node;
        return sa_fail(SA_FORMAT, "column %zu: the key %s is there twice", (size_t)w->json->nodes[node].start,
                       sa_json_printable(w->json, node, shown));
    }
    return SA_OK;
}

/* The keys of an object in order, behind those of the objects around it. */
static sa_status order_keys(walker *w, size_t object, size_t *count) {
    SA_TRY(gather(w, object, count));
    if (*count < 2) return SA_OK;
    key *keys = w->keys + w->keys_used;
    if (is_as_before(w, keys, *count)) {
        uint32_t nodes[REMEMBERED];
        for (size_t i = 0; i < *count; i++) nodes[i] = keys[w->last_order[i]].node;
        for (size_t i = 0; i < *count; i++) {
            sa_span text = sa_json_span(w->json, nodes[i]);
            keys[i] = (key){text.start, (uint32_t)text.size, nodes[i]};
        }
        return SA_OK;
    }
    bool remembers = *count <= REMEMBERED;
    w->last_count = 0;
    for (size_t i = 0; i < *count && remembers; i++) {
        w->last_keys[i] = keys[i].node;
        remembers = !w->json->nodes[keys[i].node].escaped;
    }
    if (*count > 12) {
        SA_TRY(sa_grow_array(&w->keys, &w->keys_room, w->keys_used + 2 * *count, sizeof *w->keys));
        keys = w->keys + w->keys_used;
    }
    sort(keys, keys + *count, *count);
    for (size_t i = 0; i < *count && remembers; i++) {
        uint32_t place = 0;
        while (w->last_keys[place] != keys[i].node) place++;
        w->last_order[i] = place;
    }
    SA_TRY(find_double(w, keys, *count));
    w->last_count = remembers ? *count : 0;
    return SA_OK;
}

/* ---- the walk ---- */

static sa_status walk(walker *w, size_t at);

static sa_status walk_object(walker *w, size_t object) {
    size_t count, first = w->keys_used, plain = w->plain_used;
    SA_TRY(order_keys(w, object, &count));
    w->keys_used += count;
    if (w->hashes) put_tagged(w, 'o', count);
    for (size_t i = 0; i < count; i++) {
        key each = w->keys[first + i]; /* the list may move */
        if (w->hashes) put_text(w, 'k', each.text, each.size);
        SA_TRY(walk(w, each.node + 1));
    }
    w->keys_used = first;
    w->plain_used = plain;
    return SA_OK;
}

/* Goes as deep as the reader lets texts nest, and no deeper. */
static sa_status walk(walker *w, size_t at) {
    static const char words[] = {[SA_JSON_NULL] = 'z', [SA_JSON_FALSE] = 'f', [SA_JSON_TRUE] = 't'};
    const sa_json_node *node = &w->json->nodes[at];
    if (node->kind == SA_JSON_OBJECT) return walk_object(w, at);
    if (node->kind == SA_JSON_ARRAY) {
        if (w->hashes) put_tagged(w, 'a', sa_json_count(w->json, at));
        for (size_t i = at + 1; i < node->next; i = w->json->nodes[i].next) SA_TRY(walk(w, i));
    } else if (!w->hashes) {
        return SA_OK;
    } else if (node->kind == SA_JSON_STRING) {
        size_t plain = w->plain_used;
        sa_span text = plain_text(w, at);
        put_text(w, 's', text.start, text.size);
        w->plain_used = plain;
    } else if (node->kind == SA_JSON_NUMBER) { /* 1, 1.0 and 1e0 are one number */
        double number = sa_json_number(w->json, at) + 0.0;
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        put_tagged(w, 'n', bits);
    } else {
        put_bytes(w, &words[node->kind], 1);
    }
    return SA_OK;
}

static sa_status walk_all(const sa_json *json, uint8_t *digest) {
    walker w;
    w.json = json;
    w.keys = NULL;
    w.plain = NULL;
    w.keys_used = w.keys_room = w.plain_used = w.last_count = w.gathered = 0;
    w.hashes = digest != NULL;
    sa_sha256_begin(&w.hash);
    bool escaped = false;
    for (size_t i = 0; i < json->count && !escaped; i++) escaped = json->nodes[i].escaped;
    size_t longest = json->nodes[0].start + (size_t)json->nodes[0].size;
    sa_status status = escaped ? sa_alloc_array(longest, 1, &w.plain) : SA_OK;
    if (status == SA_OK) status = walk(&w, 0);
    if (status == SA_OK && digest) {
        flush(&w);
        sa_sha256_end(&w.hash, digest);
    }
    sa_free(w.keys);
    sa_free(w.plain);
    return status;
}

sa_status sa_json_check_keys(const sa_json *json) { return walk_all(json, NULL); }

sa_status sa_json_digest(const sa_json *json, uint8_t digest[SA_SHA256_BYTES]) {
    return walk_all(json, digest);
}
