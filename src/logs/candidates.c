/* What could be chosen: "items" with their ids, "context", "contexts". */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "logs/fields.h"

static sa_status take_items(sa_log_line *line, size_t items) {
    sa_log_entry *entry = &line->entry;
    SA_TRY(sa_ids_take(&line->ids, &line->json, items));
    sa_span text = sa_json_span(&line->json, items);
    entry->items = text.start;
    entry->items_size = text.size;
    entry->candidates = line->ids.count;
    if (line->ids.named) entry->ids = line->ids.names;
    return SA_OK;
}

/* ---- contexts ---- */

static sa_status wrong_number(sa_log_line *line, size_t at, size_t row, size_t column) {
    char path[64];
    snprintf(path, sizeof path, "contexts[%zu][%zu]", row, column);
    return sa_log_wrong(line, at, path, "a finite number is wanted");
}

static sa_status take_row(sa_log_line *line, size_t row, size_t index) {
    const sa_json *json = &line->json;
    double *to = line->contexts + index * line->entry.dim;
    size_t column = 0;
    for (size_t at = row + 1; at < json->nodes[row].next; at = json->nodes[at].next, column++) {
        if (json->nodes[at].kind != SA_JSON_NUMBER) return wrong_number(line, at, index, column);
        to[column] = sa_json_number(json, at);
        if (!isfinite(to[column])) return wrong_number(line, at, index, column);
    }
    return SA_OK;
}

/* All rows are lists of the same length. */
static sa_status check_rows(sa_log_line *line, size_t contexts) {
    const sa_json *json = &line->json;
    size_t index = 0, dim = 0;
    for (size_t at = contexts + 1; at < json->nodes[contexts].next; at = json->nodes[at].next, index++) {
        if (sa_log_kind(line, at) != SA_JSON_ARRAY)
            return sa_log_wrong_element(line, at, "contexts", index, "a list of numbers is wanted");
        size_t count = sa_json_count(json, at);
        if (count == 0) return sa_fail(SA_FORMAT, "contexts[%zu] is empty", index);
        if (index > 0 && count != dim)
            return sa_fail(SA_FORMAT, "contexts[%zu] has %zu numbers, and those before it have %zu", index,
                           count, dim);
        dim = count;
    }
    line->entry.dim = dim;
    return SA_OK;
}

static sa_status take_contexts(sa_log_line *line, size_t contexts) {
    sa_log_entry *entry = &line->entry;
    const sa_json *json = &line->json;
    if (sa_log_kind(line, contexts) != SA_JSON_ARRAY)
        return sa_log_wrong(line, contexts, "contexts", "a list of lists of numbers is wanted");
    size_t count = sa_json_count(json, contexts), index = 0;
    if (entry->items && entry->candidates != count)
        return sa_fail(SA_FORMAT, "there are %zu items and %zu contexts", entry->candidates, count);
    SA_TRY(check_rows(line, contexts));
    /* there are fewer numbers than nodes, so the product is small */
    SA_TRY(
        sa_grow_array(&line->contexts, &line->contexts_room, count * entry->dim + 1, sizeof *line->contexts));
    for (size_t at = contexts + 1; at < json->nodes[contexts].next; at = json->nodes[at].next, index++)
        SA_TRY(take_row(line, at, index));
    entry->contexts = line->contexts;
    entry->candidates = count;
    return SA_OK;
}

sa_status sa_log_take_candidates(sa_log_line *line, const size_t *field) {
    sa_log_entry *entry = &line->entry;
    size_t context = field[SA_LOG_CONTEXT];
    if (sa_log_has(line, context)) {
        if (sa_log_kind(line, context) != SA_JSON_OBJECT)
            return sa_log_wrong(line, context, "context", "an object is wanted");
        sa_span text = sa_json_span(&line->json, context);
        entry->context = text.start;
        entry->context_size = text.size;
    }
    if (sa_log_has(line, field[SA_LOG_ITEMS])) SA_TRY(take_items(line, field[SA_LOG_ITEMS]));
    if (sa_log_has(line, field[SA_LOG_CONTEXTS])) SA_TRY(take_contexts(line, field[SA_LOG_CONTEXTS]));
    if (!entry->items && !entry->contexts) return sa_fail(SA_FORMAT, "there are neither contexts nor items");
    if (entry->candidates == 0) return sa_fail(SA_FORMAT, "%s is empty", entry->items ? "items" : "contexts");
    return SA_OK;
}
