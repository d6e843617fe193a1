#include "logs/fields.h"

#include <math.h>

#include "base/memory.h"

const char *const sa_log_field_names[SA_LOG_FIELD_COUNT] = {
#define SA_LOG_NAME(name, text) text,
    SA_LOG_FIELDS(SA_LOG_NAME)
#undef SA_LOG_NAME
};

void sa_log_entry_clear(sa_log_entry *entry) {
    *entry =
        (sa_log_entry){.model = -1, .final = true, .total = NAN, .propensity = NAN, .target_propensity = NAN};
}

void sa_log_line_clear(sa_log_line *line) {
    sa_json_clear(&line->json);
    sa_free(line->texts);
    sa_contexts_clear(&line->contexts);
    sa_ids_clear(&line->ids);
    sa_free(line->lists);
    sa_free(line->arms);
    sa_free(line->taken);
    sa_buffer_clear(&line->extra);
    *line = (sa_log_line){0};
}

sa_status sa_log_wrong(const sa_log_line *line, size_t at, const char *path, const char *wanted) {
    return sa_json_wrong(&line->json, at, path, SIZE_MAX, SIZE_MAX, wanted);
}

sa_status sa_log_wrong_element(const sa_log_line *line, size_t at, const char *list, size_t index,
                               const char *wanted) {
    return sa_json_wrong(&line->json, at, list, index, SIZE_MAX, wanted);
}

/* There is room: the texts of a line are together shorter than the line. */
const char *sa_log_keep_text(sa_log_line *line, size_t at) {
    char *text = line->texts + line->texts_size;
    size_t size = sa_json_unescape(&line->json, at, text);
    text[size] = 0;
    line->texts_size += size + 1;
    return text;
}
