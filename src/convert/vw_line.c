#include "convert/vw_line.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

void sa_vw_line_clear(sa_vw_line *line) {
    sa_json_clear(&line->json);
    sa_json_clear(&line->made);
    sa_ids_clear(&line->ids);
    sa_buffer_clear(&line->context);
    sa_buffer_clear(&line->items);
    sa_buffer_clear(&line->extra);
    sa_free(line->event);
    sa_free(line->time);
    sa_free(line->contexts);
    sa_free(line->feedback);
    sa_free(line->prefix);
    sa_free(line->arms);
    *line = (sa_vw_line){0};
}

static sa_json_kind kind_of(const sa_json *json, size_t at) { return (sa_json_kind)json->nodes[at].kind; }

static void add_raw(sa_buffer *buffer, const sa_json *json, size_t at) {
    bool quotes = kind_of(json, at) == SA_JSON_STRING;
    sa_buffer_bytes(buffer, json->text + json->nodes[at].start - quotes,
                    json->nodes[at].size + 2 * (size_t)quotes);
}

/* ---- features ---- */

/* A pair, with the names of the namespaces around it in front. */
static void add_pair(sa_buffer *buffer, const sa_json *json, const char *prefix, size_t key, bool *first) {
    sa_span name = sa_json_span(json, key);
    sa_buffer_text(buffer, *first ? "\"" : ",\"");
    sa_buffer_text(buffer, prefix);
    sa_buffer_bytes(buffer, name.start, name.size);
    sa_buffer_text(buffer, "\":");
    add_raw(buffer, json, key + 1);
    *first = false;
}

/* Nesting is limited by the JSON reader's depth. */
static sa_status flatten(sa_buffer *buffer, const sa_json *json, const char *prefix, size_t object,
                         bool *first) {
    for (size_t key = object + 1; key < json->nodes[object].next; key = json->nodes[key + 1].next) {
        if (!*prefix && (sa_json_equals(json, key, "_multi") || sa_json_equals(json, key, "_slots")))
            continue;
        if (kind_of(json, key + 1) != SA_JSON_OBJECT) {
            add_pair(buffer, json, prefix, key, first);
            continue;
        }
        sa_buffer longer = {0};
        sa_span name = sa_json_span(json, key);
        sa_buffer_text(&longer, prefix);
        sa_buffer_bytes(&longer, name.start, name.size);
        sa_buffer_text(&longer, ".");
        sa_status status = longer.status;
        if (status == SA_OK) status = flatten(buffer, json, longer.text, key + 1, first);
        sa_buffer_clear(&longer);
        SA_TRY(status);
    }
    return buffer->status;
}

static sa_status add_object(sa_buffer *buffer, const sa_json *json, size_t object) {
    bool first = true;
    sa_buffer_text(buffer, "{");
    SA_TRY(flatten(buffer, json, "", object, &first));
    sa_buffer_text(buffer, "}");
    return buffer->status;
}

/* Are all items {"x": [d numbers]}? Then they are contexts. */
static bool are_contexts(const sa_json *json, size_t *dim) {
    const sa_json_node *nodes = json->nodes;
    *dim = 0;
    for (size_t item = 1; item < nodes[0].next; item = nodes[item].next) {
        if (nodes[item].next <= item + 2 || !sa_json_equals(json, item + 1, "x")) return false;
        size_t list = item + 2, count = sa_json_count(json, list);
        if (nodes[list].kind != SA_JSON_ARRAY || nodes[list].next != nodes[item].next || count == 0)
            return false;
        for (size_t at = list + 1; at < nodes[list].next; at = nodes[at].next)
            if (nodes[at].kind != SA_JSON_NUMBER || !isfinite(sa_json_number(json, at))) return false;
        if (*dim && *dim != count) return false;
        *dim = count;
    }
    return *dim > 0;
}

static sa_status take_contexts(sa_vw_line *line, size_t dim) {
    sa_log_entry *entry = &line->entry;
    const sa_json *json = &line->made;
    size_t total = 0;
    SA_TRY(sa_grow_array(&line->contexts, &line->contexts_room, json->count, sizeof *line->contexts));
    for (size_t at = 1; at < json->count; at++)
        if (kind_of(json, at) == SA_JSON_NUMBER) line->contexts[total++] = sa_json_number(json, at);
    entry->dim = dim;
    entry->contexts = line->contexts;
    entry->items = NULL;
    return SA_OK;
}

static sa_status take_features(sa_vw_line *line, size_t c) {
    sa_log_entry *entry = &line->entry;
    const sa_json *json = &line->json;
    if (!c || kind_of(json, c) != SA_JSON_OBJECT)
        return sa_fail(SA_FORMAT, "there is no object c with the features");
    size_t multi = sa_json_find(json, c, "_multi"), dim;
    if (!multi || kind_of(json, multi) != SA_JSON_ARRAY)
        return sa_fail(SA_FORMAT, "c has no list _multi with the actions");
    SA_TRY(add_object(&line->context, json, c));
    sa_buffer_text(&line->items, "[");
    for (size_t at = multi + 1; at < json->nodes[multi].next; at = json->nodes[at].next) {
        if (kind_of(json, at) != SA_JSON_OBJECT)
            return sa_fail(SA_FORMAT, "an action of c._multi is no object");
        if (at > multi + 1) sa_buffer_text(&line->items, ",");
        SA_TRY(add_object(&line->items, json, at));
    }
    sa_buffer_text(&line->items, "]");
    SA_TRY(line->items.status);
    SA_TRY(sa_json_parse(&line->made, line->items.text, line->items.size));
    SA_TRY(sa_ids_take(&line->ids, &line->made, 0));
    entry->candidates = line->ids.count;
    if (entry->candidates == 0) return sa_fail(SA_FORMAT, "c._multi is empty");
    if (line->ids.named) entry->ids = line->ids.names;
    entry->items = line->items.text;
    entry->items_size = line->items.size;
    if (line->context.size > 2) {
        entry->context = line->context.text;
        entry->context_size = line->context.size;
    }
    return are_contexts(&line->made, &dim) ? take_contexts(line, dim) : SA_OK;
}

/* ---- what was chosen ---- */

/* A whole number from `least`, as an index from 0. */
static sa_status take_arm(const sa_vw_line *line, size_t at, const char *name, double least, size_t *arm) {
    char shown[SA_PRINTABLE];
    double number = at && kind_of(&line->json, at) == SA_JSON_NUMBER ? sa_json_number(&line->json, at) : NAN;
    if (!(number >= least && number - least < (double)line->entry.candidates && number == floor(number)))
        return sa_fail(SA_FORMAT, "%s is %s, and there are %zu actions, counted from %.0f", name,
                       at ? sa_json_printable(&line->json, at, shown) : "not there", line->entry.candidates,
                       least);
    *arm = (size_t)(number - least);
    return SA_OK;
}

static sa_status take_probability(const sa_vw_line *line, size_t at, const char *name, double *out) {
    char shown[SA_PRINTABLE];
    double number = at && kind_of(&line->json, at) == SA_JSON_NUMBER ? sa_json_number(&line->json, at) : NAN;
    if (!(number > 0 && number <= 1.001)) /* they are in single precision */
        return sa_fail(SA_FORMAT, "%s is %s, and a probability above 0 is wanted", name,
                       at ? sa_json_printable(&line->json, at, shown) : "not there");
    *out = number < 1 ? number : 1;
    return SA_OK;
}

static sa_status take_cost(const sa_vw_line *line, size_t at, double *feedback) {
    char shown[SA_PRINTABLE];
    *feedback = NAN;
    if (!at || kind_of(&line->json, at) == SA_JSON_NULL) return SA_OK;
    double cost = kind_of(&line->json, at) == SA_JSON_NUMBER ? sa_json_number(&line->json, at) : NAN;
    if (!isfinite(cost))
        return sa_fail(SA_FORMAT, "_label_cost is %s, and a finite number is wanted",
                       sa_json_printable(&line->json, at, shown));
    *feedback = 0 - cost;
    return SA_OK;
}

/* The first element of a list, or 0. */
static size_t first_of(const sa_json *json, size_t list) {
    return list && kind_of(json, list) == SA_JSON_ARRAY && json->nodes[list].next > list + 1 ? list + 1 : 0;
}

static sa_status make_room(sa_vw_line *line, size_t slate) {
    SA_TRY(sa_grow_array(&line->arms, &line->arms_room, slate + 1, sizeof *line->arms));
    SA_TRY(sa_grow_array(&line->feedback, &line->feedback_room, slate + 1, sizeof *line->feedback));
    SA_TRY(sa_grow_array(&line->prefix, &line->prefix_room, slate + 1, sizeof *line->prefix));
    line->entry.slate = slate;
    line->entry.arms = line->arms;
    line->entry.prefix_propensities = line->prefix;
    return SA_OK;
}

static sa_status take_cb(sa_vw_line *line) {
    sa_log_entry *entry = &line->entry;
    const sa_json *json = &line->json;
    size_t label = sa_json_find(json, 0, "_label_Action"),
           probability = sa_json_find(json, 0, "_label_probability");
    SA_TRY(make_room(line, 1));
    if (label)
        SA_TRY(take_arm(line, label, "_label_Action", 1, &line->arms[0]));
    else
        SA_TRY(take_arm(line, first_of(json, sa_json_find(json, 0, "a")), "a[0]", 1, &line->arms[0]));
    if (!probability) probability = first_of(json, sa_json_find(json, 0, "p"));
    SA_TRY(take_probability(line, probability, "_label_probability", &line->prefix[0]));
    SA_TRY(take_cost(line, sa_json_find(json, 0, "_label_cost"), &line->feedback[0]));
    entry->propensity = line->prefix[0];
    entry->position_propensities = line->prefix;
    if (!isnan(line->feedback[0])) entry->feedback = line->feedback;
    return SA_OK;
}

static sa_status take_ccb(sa_vw_line *line, size_t outcomes) {
    const sa_json *json = &line->json;
    size_t k = 0;
    double product = 1;
    bool answered = false;
    if (kind_of(json, outcomes) != SA_JSON_ARRAY) return sa_fail(SA_FORMAT, "_outcomes is no list");
    SA_TRY(make_room(line, sa_json_count(json, outcomes)));
    for (size_t at = outcomes + 1; at < json->nodes[outcomes].next; at = json->nodes[at].next, k++) {
        double probability = 1;
        if (kind_of(json, at) != SA_JSON_OBJECT)
            return sa_fail(SA_FORMAT, "an outcome of _outcomes is no object");
        SA_TRY(take_arm(line, first_of(json, sa_json_find(json, at, "_a")), "_a[0]", 0, &line->arms[k]));
        SA_TRY(take_probability(line, first_of(json, sa_json_find(json, at, "_p")), "_p[0]", &probability));
        SA_TRY(take_cost(line, sa_json_find(json, at, "_label_cost"), &line->feedback[k]));
        answered = answered || !isnan(line->feedback[k]);
        line->prefix[k] = product *= probability;
        for (size_t j = 0; j < k; j++)
            if (line->arms[j] == line->arms[k])
                return sa_fail(SA_FORMAT, "two slots have the action %zu", line->arms[k]);
    }
    if (k == 0) return sa_fail(SA_FORMAT, "_outcomes is empty");
    line->entry.propensity = product;
    if (answered) line->entry.feedback = line->feedback;
    return SA_OK;
}

/* ---- the whole ---- */

static sa_status take_text(sa_vw_line *line, size_t at, char **text, size_t *room, const char **out) {
    if (!at || kind_of(&line->json, at) != SA_JSON_STRING || line->json.nodes[at].size == 0) return SA_OK;
    SA_TRY(sa_grow_array(text, room, line->json.nodes[at].size + 1, 1));
    (*text)[sa_json_unescape(&line->json, at, *text)] = 0;
    *out = *text;
    return SA_OK;
}

/* What was made use of, and what a line of ours calls its own. */
static bool is_used(const sa_json *json, size_t key) {
    static const char *const names[] = {"EventId",
                                        "Timestamp",
                                        "_label_cost",
                                        "_label_probability",
                                        "_label_Action",
                                        "_labelIndex",
                                        "event",
                                        "time",
                                        "agent",
                                        "model",
                                        "final",
                                        "context",
                                        "items",
                                        "contexts",
                                        "slate",
                                        "feedback",
                                        "propensity",
                                        "prefix_propensities",
                                        "position_propensities",
                                        "target_propensity",
                                        "target_prefix_propensities",
                                        "target_position_propensities"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sa_json_equals(json, key, names[i])) return true;
    return false;
}

static sa_status keep_extra(sa_vw_line *line, size_t c) {
    const sa_json *json = &line->json;
    bool first = true;
    size_t slots = sa_json_find(json, c, "_slots");
    sa_buffer_text(&line->extra, "{");
    for (size_t key = 1; key < json->nodes[0].next; key = json->nodes[key + 1].next)
        if (key + 1 != c && !is_used(json, key)) add_pair(&line->extra, json, "", key, &first);
    if (slots) add_pair(&line->extra, json, "", slots - 1, &first);
    sa_buffer_text(&line->extra, "}");
    line->entry.extra = line->extra.text;
    line->entry.extra_size = line->extra.size;
    return line->extra.status;
}

static void begin(sa_vw_line *line) {
    sa_buffer *const buffers[] = {&line->context, &line->items, &line->extra};
    for (size_t i = 0; i < 3; i++) buffers[i]->size = 0, buffers[i]->status = SA_OK;
    sa_log_entry_clear(&line->entry);
}

sa_status sa_vw_line_parse(sa_vw_line *line, const char *text, size_t size) {
    sa_json *json = &line->json;
    begin(line);
    SA_TRY(sa_json_parse(json, text, size));
    if (kind_of(json, 0) != SA_JSON_OBJECT) return sa_fail(SA_FORMAT, "the line is no object");
    size_t c = sa_json_find(json, 0, "c"), outcomes = sa_json_find(json, 0, "_outcomes");
    SA_TRY(take_features(line, c));
    SA_TRY(outcomes ? take_ccb(line, outcomes) : take_cb(line));
    SA_TRY(take_text(line, sa_json_find(json, 0, "EventId"), &line->event, &line->event_room,
                     &line->entry.event));
    SA_TRY(take_text(line, sa_json_find(json, 0, "Timestamp"), &line->time, &line->time_room,
                     &line->entry.time));
    return keep_extra(line, c);
}
