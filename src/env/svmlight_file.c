#include "env/svmlight_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/span.h"

/* A query's name and where it begins, to find out whether it begins twice. */
typedef struct beginning {
    int64_t qid;
    size_t line;
} beginning;

typedef struct parse {
    const char *path;
    const char *next, *end; /* what is left of the line */
    size_t line;
    beginning *begins; /* (queries) */
    sa_svmlight file;
} parse;

/* ---- words ---- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The line's next word; false at its end. */
static bool next_word(parse *self, sa_span *word) {
    const char *at = self->next, *end = self->end;
    while (at < end && is_space(*at)) at++;
    const char *from = at;
    while (at < end && !is_space(*at)) at++;
    self->next = at;
    *word = (sa_span){from, (size_t)(at - from)};
    return at > from;
}

/* `part` is what is wrong, and `rule` what would be right. */
static sa_status wrong(const parse *self, const char *what, sa_span part, const char *rule) {
    char shown[SA_PRINTABLE];
    return sa_fail(SA_FORMAT, "%s:%zu: %s%s %s", self->path, self->line, what, sa_span_printable(part, shown),
                   rule);
}

static bool to_integer(sa_span span, int64_t *out) {
    char text[24];
    bool clipped;
    if (span.size >= sizeof text || memchr(span.start, 0, span.size)) return false;
    memcpy(text, span.start, span.size);
    text[span.size] = 0;
    return sa_text_to_integer(text, out, &clipped) && !clipped;
}

/* ---- one line ---- */

static sa_status take_grade(parse *self, sa_span word) {
    double grade;
    if (!sa_span_to_number(word, &grade) || !(grade >= 0 && grade <= SA_LARGEST_GRADE) ||
        grade != floor(grade))
        return wrong(self, "grade ", word, "is not a whole number from 0 to 4");
    self->file.grade[self->file.documents] = (uint8_t)grade;
    if ((int)grade > self->file.largest_grade) self->file.largest_grade = (int)grade;
    return SA_OK;
}

static sa_status take_query(parse *self) {
    sa_svmlight *file = &self->file;
    sa_span word;
    int64_t qid;
    if (!next_word(self, &word) || word.size < 4 || memcmp(word.start, "qid:", 4))
        return sa_fail(SA_FORMAT,
                       "%s:%zu: there is no qid behind the grade; a round is a query with its documents, so "
                       "each line needs "
                       "one, as in 2 qid:7 1:0.5",
                       self->path, self->line);
    if (!to_integer((sa_span){word.start + 4, word.size - 4}, &qid))
        return wrong(self, "", word, "is not a whole number");
    if (file->queries && self->begins[file->queries - 1].qid == qid) return SA_OK;
    self->begins[file->queries] = (beginning){qid, self->line};
    file->query[file->queries++] = file->documents;
    return SA_OK;
}

static sa_status take_feature(parse *self, sa_span word) {
    sa_svmlight *file = &self->file;
    const char *colon = memchr(word.start, ':', word.size);
    size_t begin = file->document[file->documents];
    int64_t index;
    double value;
    if (!colon) return wrong(self, "", word, "is not a feature, such as 3:0.5");
    sa_span left = {word.start, (size_t)(colon - word.start)}, right = {colon + 1, word.size - left.size - 1};
    if (!to_integer(left, &index)) return wrong(self, "feature ", word, "does not begin with a whole number");
    if (index < 1) return wrong(self, "feature ", word, "has an index below 1, where they begin");
    if (index > SA_LARGEST_FEATURE)
        return wrong(self, "feature ", word, "has an index above 10000000, the largest");
    if (file->features > begin && (int64_t)file->index[file->features - 1] + 1 >= index)
        return wrong(self, "feature ", word, "does not have a larger index than the one before it");
    if (sa_span_not_finite(right) || (sa_span_to_number(right, &value) && !isfinite(value)))
        return wrong(self, "feature ", word, "is not finite");
    if (!sa_span_to_number(right, &value)) return wrong(self, "feature ", word, "does not end in a number");
    file->index[file->features] = (uint32_t)index - 1;
    file->value[file->features++] = value;
    if ((size_t)index > file->dim) file->dim = (size_t)index;
    return SA_OK;
}

static sa_status take_line(parse *self) {
    sa_svmlight *file = &self->file;
    sa_span word;
    if (!next_word(self, &word)) return SA_OK;
    SA_TRY(take_grade(self, word));
    SA_TRY(take_query(self));
    file->document[file->documents] = file->features;
    while (next_word(self, &word)) SA_TRY(take_feature(self, word));
    file->document[++file->documents] = file->features;
    return SA_OK;
}

/* ---- all lines ---- */

static size_t count(const char *text, size_t size, char c) {
    size_t found = 0;
    for (size_t i = 0; i < size; i++) found += text[i] == c;
    return found;
}

/* As many documents as lines, and as many features as colons, would be the most. */
static sa_status make_room(parse *self, const char *text, size_t size) {
    size_t documents = count(text, size, '\n') + 1, features = count(text, size, ':');
    sa_svmlight *file = &self->file;
    SA_TRY(sa_memory_check(features, sizeof *file->index + sizeof *file->value));
    SA_TRY(sa_alloc_array(documents, sizeof *self->begins, &self->begins));
    SA_TRY(sa_alloc_array(documents + 1, sizeof *file->query, &file->query));
    SA_TRY(sa_alloc_array(documents, sizeof *file->grade, &file->grade));
    SA_TRY(sa_alloc_array(documents + 1, sizeof *file->document, &file->document));
    SA_TRY(sa_alloc_array(features, sizeof *file->index, &file->index));
    return sa_alloc_array(features, sizeof *file->value, &file->value);
}

static sa_status take_lines(parse *self, const char *text, size_t size) {
    const char *end = text + size;
    for (self->line = 1; text < end; self->line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop) stop = end;
        const char *comment = memchr(text, '#', (size_t)(stop - text));
        self->next = text;
        self->end = comment ? comment : stop;
        SA_TRY(take_line(self));
        text = stop < end ? stop + 1 : end;
    }
    return SA_OK;
}

static int by_qid(const void *one, const void *other) {
    const beginning *a = one, *b = other;
    if (a->qid != b->qid) return a->qid < b->qid ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static sa_status finish(parse *self) {
    sa_svmlight *file = &self->file;
    if (file->documents == 0) return sa_fail(SA_FORMAT, "%s has no documents", self->path);
    if (file->dim == 0) return sa_fail(SA_FORMAT, "%s has no features", self->path);
    file->query[file->queries] = file->documents;
    file->least = file->documents;
    for (size_t i = 0; i < file->queries; i++) {
        size_t size = file->query[i + 1] - file->query[i];
        if (size > file->most) file->most = size;
        if (size < file->least) file->least = size;
    }
    qsort(self->begins, file->queries, sizeof *self->begins, by_qid);
    for (size_t i = 1; i < file->queries; i++)
        if (self->begins[i - 1].qid == self->begins[i].qid)
            return sa_fail(SA_FORMAT,
                           "%s:%zu: qid:%" PRId64
                           " was there before, from line %zu on; documents of a query stand together",
                           self->path, self->begins[i].line, self->begins[i].qid, self->begins[i - 1].line);
    return SA_OK;
}

static sa_status parse_all(parse *self, const char *text, size_t size) {
    if (memchr(text, 0, size))
        return sa_fail(SA_FORMAT, "%s is not a text file: it has bytes that are 0", self->path);
    if (size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) text += 3, size -= 3; /* a byte order mark */
    SA_TRY(make_room(self, text, size));
    SA_TRY(take_lines(self, text, size));
    return finish(self);
}

sa_status sa_svmlight_parse(const char *text, size_t size, const char *path, sa_svmlight *out) {
    parse self = {.path = path};
    sa_status status = parse_all(&self, text, size);
    if (status == SA_OUT_OF_MEMORY) sa_fail_prefix(status, "%s: ", path);
    sa_free(self.begins);
    if (status != SA_OK) sa_svmlight_clear(&self.file);
    *out = self.file;
    return status;
}

void sa_svmlight_clear(sa_svmlight *file) {
    sa_free(file->value);
    sa_free(file->index);
    sa_free(file->document);
    sa_free(file->grade);
    sa_free(file->query);
    *file = (sa_svmlight){0};
}

void sa_svmlight_row(const sa_svmlight *file, size_t document, double *out) {
    memset(out, 0, file->dim * sizeof *out);
    for (size_t i = file->document[document]; i < file->document[document + 1]; i++)
        out[file->index[i]] = file->value[i];
}
