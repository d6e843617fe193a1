#include "logs/line.h"

#include <math.h>

#include "base/memory.h"

static sa_status take_text(sa_log_line *line, size_t at, const char *name, const char **out) {
    if (!sa_log_has(line, at)) return SA_OK;
    if (sa_log_kind(line, at) != SA_JSON_STRING) return sa_log_wrong(line, at, name, "a text is wanted");
    *out = sa_log_keep_text(line, at);
    return **out ? SA_OK : sa_fail(SA_FORMAT, "%s is an empty text", name);
}

static sa_status take_about(sa_log_line *line, const size_t *field) {
    const double most = 9007199254740992.0; /* 2^53, beyond which doubles are not all whole numbers */
    sa_log_entry *entry = &line->entry;
    size_t model = field[SA_LOG_MODEL], final = field[SA_LOG_FINAL];
    SA_TRY(take_text(line, field[SA_LOG_EVENT], "event", &entry->event));
    SA_TRY(take_text(line, field[SA_LOG_TIME], "time", &entry->time));
    SA_TRY(take_text(line, field[SA_LOG_AGENT], "agent", &entry->agent));
    SA_TRY(take_text(line, field[SA_LOG_SIDE], "side", &entry->side));
    if (sa_log_has(line, model)) {
        double number = sa_log_kind(line, model) == SA_JSON_NUMBER ? sa_json_number(&line->json, model) : -1;
        if (!(number >= 0 && number <= most && number == floor(number)))
            return sa_log_wrong(line, model, "model", "a whole number from 0 is wanted");
        entry->model = (int64_t)number;
    }
    if (sa_log_has(line, final)) {
        sa_json_kind kind = sa_log_kind(line, final);
        if (kind != SA_JSON_TRUE && kind != SA_JSON_FALSE)
            return sa_log_wrong(line, final, "final", "true or false is wanted");
        entry->final = kind == SA_JSON_TRUE;
    }
    return SA_OK;
}

static void keep_extra(sa_log_line *line, size_t key) {
    const sa_json_node *name = &line->json.nodes[key], *value = name + 1;
    size_t end = value->start + value->size + (value->kind == SA_JSON_STRING);
    sa_buffer_text(&line->extra, line->extra.size ? "," : "{");
    sa_buffer_bytes(&line->extra, line->json.text + name->start - 1, end - name->start + 1);
}

/* Finds the known fields, and keeps the others. */
static sa_status sort_fields(sa_log_line *line, size_t *field) {
    const sa_json *json = &line->json;
    line->extra.size = 0;
    line->extra.status = SA_OK;
    for (size_t key = 1; key < json->nodes[0].next; key = json->nodes[key + 1].next) {
        size_t i = 0;
        while (i < SA_LOG_FIELD_COUNT && !sa_json_equals(json, key, sa_log_field_names[i])) i++;
        if (i == SA_LOG_FIELD_COUNT || i == SA_LOG_SIDE) keep_extra(line, key);
        if (i == SA_LOG_FIELD_COUNT) continue;
        if (field[i]) return sa_fail(SA_FORMAT, "%s is there twice", sa_log_field_names[i]);
        field[i] = key + 1;
    }
    if (!line->extra.size) return line->extra.status;
    sa_buffer_text(&line->extra, "}");
    line->entry.extra = line->extra.text;
    line->entry.extra_size = line->extra.size;
    return line->extra.status;
}

sa_status sa_log_line_parse(sa_log_line *line, const char *text, size_t size) {
    size_t field[SA_LOG_FIELD_COUNT] = {0};
    SA_TRY(sa_json_parse(&line->json, text, size));
    if (sa_log_kind(line, 0) != SA_JSON_OBJECT)
        return sa_fail(SA_FORMAT, "the line is %s, and an object is wanted",
                       sa_json_kind_name(&line->json, 0));
    sa_log_entry_clear(&line->entry);
    line->entry.json = text;
    line->entry.json_size = size;
    line->texts_size = 0;
    SA_TRY(sa_grow_array(&line->texts, &line->texts_room, size + 1, 1));
    SA_TRY(sort_fields(line, field));
    SA_TRY(take_about(line, field));
    SA_TRY(sa_log_take_candidates(line, field));
    return sa_log_take_slate(line, field);
}
