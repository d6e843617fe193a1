/* What could be chosen: "items" with their ids, "context", "contexts". */
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

static sa_status take_contexts(sa_log_line *line, size_t contexts) {
    sa_log_entry *entry = &line->entry;
    SA_TRY(sa_contexts_take(&line->contexts, &line->json, contexts));
    if (entry->items && entry->candidates != line->contexts.arms)
        return sa_fail(SA_FORMAT, "there are %zu items and %zu contexts", entry->candidates,
                       line->contexts.arms);
    entry->contexts = line->contexts.numbers;
    entry->candidates = line->contexts.arms;
    entry->dim = line->contexts.dim;
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
