#include "features/field_summary.h"

#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/hash.h"
#include "base/memory.h"

void sa_field_summary_clear(sa_field_summary *seen) {
    for (size_t i = 0; i < SA_SEEN_TEXTS; i++) sa_free(seen->text[i]);
    sa_free(seen->different);
    sa_free(seen->name);
    *seen = (sa_field_summary){0};
}

uint64_t sa_field_summary_count(const sa_field_summary *seen) {
    return seen->texts + seen->numbers + seen->flags + seen->lists + seen->others;
}

/* With x the new value, n the new count and d = x - mean before (Pebay 2008): the mean moves by d / n, and
 * the sums follow. */
static void add_moment(sa_moments3 *m, double x) {
    double before = m->n++, step = (x - m->mean) / m->n, term = (x - m->mean) * step * before;
    m->cubes += term * step * (m->n - 2) - 3 * step * m->squares;
    m->squares += term;
    m->mean += step;
}

double sa_moments3_skewness(const sa_moments3 *m) {
    return m->squares > 0 ? sqrt(m->n) * m->cubes / (m->squares * sqrt(m->squares)) : 0;
}

/* Is it new? False, too, when no more are told apart. */
static bool is_new(sa_field_summary *seen, uint64_t hash) {
    const size_t mask = 2 * SA_SEEN_DIFFERENT - 1;
    if (seen->different_count == SA_SEEN_DIFFERENT) return false;
    seen->values_told++;
    hash += hash == 0;
    size_t i = hash & mask;
    while (seen->different[i] && seen->different[i] != hash) i = (i + 1) & mask;
    if (seen->different[i]) return false;
    seen->different[i] = hash;
    seen->different_count++;
    return true;
}

/* A text, the first of which are kept, with how often they came. */
static sa_status add_text(sa_field_summary *seen, const sa_json *json, size_t at) {
    sa_span raw = sa_json_span(json, at);
    uint64_t hash = sa_hash_end(sa_hash_bytes(SA_HASH_BEGIN, raw.start, raw.size));
    bool fresh = is_new(seen, hash);
    if (raw.size > seen->longest) seen->longest = raw.size;
    for (size_t i = 0; i < SA_SEEN_TEXTS; i++) {
        if (seen->text[i] && seen->text_hash[i] == hash) {
            seen->text_count[i]++;
            break;
        }
        if (seen->text[i] || !fresh) continue;
        SA_TRY(sa_alloc_array(raw.size + 1, 1, &seen->text[i]));
        sa_json_unescape(json, at, seen->text[i]);
        seen->text_hash[i] = hash;
        seen->text_count[i] = 1;
        break;
    }
    return SA_OK;
}

static void add_number(sa_field_summary *seen, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    is_new(seen, sa_hash_end(bits));
    if (seen->numbers == 0) seen->least = seen->most = x, seen->whole = true;
    seen->least = x < seen->least ? x : seen->least;
    seen->most = x > seen->most ? x : seen->most;
    seen->whole = seen->whole && x == floor(x);
    seen->numbers++;
    add_moment(&seen->plain, x);
    if (x >= 0) add_moment(&seen->logarithms, sa_log1p(x));
}

static sa_status add_list(sa_field_summary *seen, const sa_json *json, size_t list) {
    if (seen->lists++ == 0) seen->list_of_texts = true;
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next) {
        seen->list_entries++;
        if (json->nodes[at].kind == SA_JSON_STRING)
            SA_TRY(add_text(seen, json, at));
        else
            seen->list_of_texts = false;
    }
    return SA_OK;
}

sa_status sa_field_summary_add(sa_field_summary *seen, const sa_json *json, size_t at) {
    if (!seen->different)
        SA_TRY(sa_alloc_array(2 * (size_t)SA_SEEN_DIFFERENT, sizeof *seen->different, &seen->different));
    switch ((sa_json_kind)json->nodes[at].kind) {
    case SA_JSON_NULL: break;
    case SA_JSON_FALSE:
    case SA_JSON_TRUE:
        seen->flags++;
        is_new(seen, json->nodes[at].kind);
        break;
    case SA_JSON_NUMBER: {
        double number = sa_json_number(json, at);
        if (isfinite(number))
            add_number(seen, number);
        else
            seen->others++;
        break;
    }
    case SA_JSON_STRING: seen->texts++; return add_text(seen, json, at);
    case SA_JSON_ARRAY: return add_list(seen, json, at);
    case SA_JSON_OBJECT: seen->others++; break;
    }
    return SA_OK;
}
