/* What was chosen, with what probability, and what came of it. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "logs/fields.h"

/* ---- the slate ---- */

static sa_status take_slate(sa_log_line *line, size_t slate) {
    sa_log_entry *entry = &line->entry;
    const sa_json *json = &line->json;
    if (!slate) return sa_fail(SA_FORMAT, "there is no slate");
    if (sa_log_kind(line, slate) != SA_JSON_ARRAY)
        return sa_log_wrong(line, slate, "slate", "a list is wanted");
    size_t count = sa_json_count(json, slate), index = 0;
    if (count > entry->candidates)
        return sa_fail(SA_FORMAT, "slate has %zu arms, and there are %zu candidates", count,
                       entry->candidates);
    SA_TRY(sa_grow_array(&line->arms, &line->arms_room, count + 1, sizeof *line->arms));
    SA_TRY(sa_grow_array(&line->lists, &line->lists_room, 5 * count + 1, sizeof *line->lists));
    SA_TRY(sa_grow_array(&line->taken, &line->taken_room, entry->candidates, sizeof *line->taken));
    memset(line->taken, 0, entry->candidates * sizeof *line->taken);
    for (size_t at = slate + 1; at < json->nodes[slate].next; at = json->nodes[at].next, index++) {
        SA_TRY(sa_ids_arm(entry->ids ? &line->ids : NULL, entry->candidates, json, at, "slate", index,
                          &line->arms[index]));
        if (line->taken[line->arms[index]])
            return sa_log_wrong_element(line, at, "slate", index, "it is in the slate twice");
        line->taken[line->arms[index]] = true;
    }
    entry->slate = count;
    entry->arms = line->arms;
    return SA_OK;
}

/* ---- feedback and probabilities ---- */

typedef struct bounds {
    double low, high;
    bool above; /* low itself is too small */
    const char *wanted;
} bounds;

/* Sums of probabilities may be 1 but for rounding. */
#define ONE (1 + 1e-9)
static const bounds ANY = {-HUGE_VAL, HUGE_VAL, true, "a finite number or null is wanted"};
static const bounds LOGGED = {0, ONE, true, "a probability above 0 and at most 1, or null, is wanted"};
static const bounds IN_QUESTION = {0, ONE, false, "a probability from 0 to 1, or null, is wanted"};

/* NaN for null; false when it is out of bounds. */
static bool take_number(const sa_log_line *line, size_t at, const bounds *within, double *out) {
    *out = NAN;
    if (!sa_log_has(line, at)) return true;
    if (sa_log_kind(line, at) != SA_JSON_NUMBER) return false;
    *out = sa_json_number(&line->json, at);
    return isfinite(*out) && *out <= within->high &&
           (within->above ? *out > within->low : *out >= within->low);
}

static sa_status take_one(sa_log_line *line, const size_t *field, int name, const bounds *within,
                          double *out) {
    if (take_number(line, field[name], within, out)) return SA_OK;
    return sa_log_wrong(line, field[name], sa_log_field_names[name], within->wanted);
}

/* K numbers, the row `which` of the lists. */
static sa_status take_list(sa_log_line *line, const size_t *field, int name, size_t which,
                           const bounds *within, const double **out) {
    const sa_json *json = &line->json;
    const char *path = sa_log_field_names[name];
    size_t list = field[name], slate = line->entry.slate, index = 0;
    if (!sa_log_has(line, list)) return SA_OK;
    if (sa_log_kind(line, list) != SA_JSON_ARRAY)
        return sa_log_wrong(line, list, path, "a list of numbers is wanted");
    size_t count = sa_json_count(json, list);
    if (count != slate)
        return sa_fail(SA_FORMAT, "%s has %zu numbers, and the slate has %zu arms", path, count, slate);
    double *to = line->lists + which * slate;
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next, index++)
        if (!take_number(line, at, within, &to[index]))
            return sa_log_wrong_element(line, at, path, index, within->wanted);
    *out = to;
    return SA_OK;
}

sa_status sa_log_take_slate(sa_log_line *line, const size_t *field) {
    sa_log_entry *entry = &line->entry;
    SA_TRY(take_slate(line, field[SA_LOG_SLATE]));
    SA_TRY(take_list(line, field, SA_LOG_FEEDBACK, 0, &ANY, &entry->feedback));
    SA_TRY(take_one(line, field, SA_LOG_TOTAL, &ANY, &entry->total));
    SA_TRY(take_one(line, field, SA_LOG_PROPENSITY, &LOGGED, &entry->propensity));
    SA_TRY(take_list(line, field, SA_LOG_PREFIX, 1, &LOGGED, &entry->prefix_propensities));
    SA_TRY(take_list(line, field, SA_LOG_POSITION, 2, &LOGGED, &entry->position_propensities));
    SA_TRY(take_one(line, field, SA_LOG_TARGET, &IN_QUESTION, &entry->target_propensity));
    SA_TRY(take_list(line, field, SA_LOG_TARGET_PREFIX, 3, &IN_QUESTION, &entry->target_prefix_propensities));
    return take_list(line, field, SA_LOG_TARGET_POSITION, 4, &IN_QUESTION,
                     &entry->target_position_propensities);
}
