#include "base/csv.h"

#include <string.h>

#include "base/memory.h"

sa_status sa_csv_begin(sa_csv *csv, const char *text, size_t size, const char *path, char separator) {
    *csv = (sa_csv){
        .path = path, .next = text, .end = text + size, .line = 1, .column = 1, .separator = separator};
    if (size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) csv->next += 3; /* a byte order mark */
    if (memchr(text, 0, size))
        return sa_fail(SA_FORMAT, "%s is not a text file: it has bytes that are 0", path);
    return SA_OK;
}

void sa_csv_clear(sa_csv *csv) {
    sa_free(csv->unquoted);
    *csv = (sa_csv){0};
}

/* The separator may be a tab, and is then no space. */
static bool is_space(const sa_csv *csv, char c) {
    return (c == ' ' || c == '\t' || c == '\r') && c != csv->separator;
}

static const char *skip_spaces(const sa_csv *csv, const char *at) {
    while (at < csv->end && is_space(csv, *at)) at++;
    return at;
}

bool sa_csv_row(sa_csv *csv) {
    for (;;) {
        const char *at = skip_spaces(csv, csv->next);
        if (at < csv->end && *at != '\n' && *at != '#') break;
        const char *stop = at < csv->end ? memchr(at, '\n', (size_t)(csv->end - at)) : NULL;
        csv->next = stop ? stop + 1 : csv->end;
        if (!stop) return false;
        csv->line++;
    }
    csv->column = 1;
    return true;
}

/* Goes past what ends a field. */
static void step(sa_csv *csv, const char *at, bool *ends) {
    *ends = at == csv->end || *at == '\n';
    csv->line += at < csv->end && *at == '\n';
    csv->next = at < csv->end ? at + 1 : at;
    csv->column++;
}

/* The bytes from `from` to `to`, where quotes stand doubled. */
static sa_status undouble(sa_csv *csv, const char *from, const char *to, sa_span *field) {
    SA_TRY(sa_grow_array(&csv->unquoted, &csv->unquoted_room, (size_t)(to - from) + 1, 1));
    size_t size = 0;
    for (; from < to; from++) {
        csv->unquoted[size++] = *from;
        from += *from == '"';
    }
    *field = (sa_span){csv->unquoted, size};
    return SA_OK;
}

/* `at` is behind the opening quote. */
static sa_status quoted(sa_csv *csv, const char *at, sa_span *field, bool *ends) {
    const char *from = at;
    size_t lines = 0;
    bool doubled = false;
    for (;; at++) {
        if (at == csv->end)
            return sa_fail(SA_FORMAT, "%s:%zu: column %zu opens a quote that nothing closes", csv->path,
                           csv->line, csv->column);
        lines += *at == '\n';
        if (*at != '"') continue;
        if (at + 1 == csv->end || at[1] != '"') break;
        doubled = true;
        at++;
    }
    const char *after = skip_spaces(csv, at + 1);
    if (after < csv->end && *after != csv->separator && *after != '\n') {
        char shown[SA_PRINTABLE];
        return sa_fail(SA_FORMAT, "%s:%zu: column %zu has %s after its closing quote", csv->path,
                       csv->line + lines, csv->column, sa_span_printable((sa_span){after, 1}, shown));
    }
    *field = (sa_span){from, (size_t)(at - from)};
    if (doubled) SA_TRY(undouble(csv, from, at, field));
    csv->line += lines;
    step(csv, after, ends);
    return SA_OK;
}

sa_status sa_csv_field(sa_csv *csv, sa_span *field, bool *ends) {
    const char *from = skip_spaces(csv, csv->next), *at = from;
    if (at < csv->end && *at == '"') return quoted(csv, at + 1, field, ends);
    while (at < csv->end && *at != csv->separator && *at != '\n') at++;
    const char *stop = at;
    while (stop > from && is_space(csv, stop[-1])) stop--;
    *field = (sa_span){from, (size_t)(stop - from)};
    step(csv, at, ends);
    return SA_OK;
}
