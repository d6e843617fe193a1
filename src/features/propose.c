/* A schema from a log: what a person would have written who looked at all of its values.
 *
 *   true and false, or numbers that are 0 and 1     flag
 *   numbers        cyclic where the name says hour, weekday, month or minute and the range fits; hashed where
 *                  it ends in id;
 *                  log where none is negative and their skewness, above 1, is more than halved by it; else
 *                      number
 *   texts          category up to a dozen short words; hashed otherwise, into twice the columns, 8 to 64
 *   lists of texts tags
 *   left out       what never changes, what is hardly ever the same twice, and what is no single value */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <superarm/log.h>

#include "base/memory.h"
#include "features/field_summary.h"
#include "features/schema.h"

enum {
    WORDS = 12,
    LONGEST_WORD = 24,
    LEAST_COLUMNS = 8,
    MOST_COLUMNS = 64,
    ENOUGH = 50,
    FIELDS_MOST = 1024,
    KIND = 2048
};

typedef struct survey {
    sa_json json;
    sa_field_summary *fields;
    size_t count, room;
    uint64_t objects[2]; /* contexts, items */
    uint64_t decisions;
} survey;

/* ---- looking ---- */

static sa_status field_of(survey *s, size_t key, bool of_item, sa_field_summary **out) {
    for (size_t i = 0; i < s->count; i++)
        if (s->fields[i].of_item == of_item && sa_json_equals(&s->json, key, s->fields[i].name)) {
            *out = &s->fields[i];
            return SA_OK;
        }
    if (s->count == FIELDS_MOST)
        return sa_fail(SA_INVALID, "there are more than %d fields: are names of fields values?", FIELDS_MOST);
    SA_TRY(sa_grow_array(&s->fields, &s->room, s->count + 1, sizeof *s->fields));
    sa_field_summary *fresh = &s->fields[s->count];
    *fresh = (sa_field_summary){.of_item = of_item};
    SA_TRY(sa_alloc_array(s->json.nodes[key].size + 1, 1, &fresh->name));
    sa_json_unescape(&s->json, key, fresh->name);
    s->count++;
    *out = fresh;
    return SA_OK;
}

static sa_status survey_object(survey *s, size_t object, bool of_item) {
    s->objects[of_item]++;
    for (size_t key = object + 1; key < s->json.nodes[object].next; key = s->json.nodes[key + 1].next) {
        sa_field_summary *seen = NULL;
        if (of_item && sa_json_equals(&s->json, key, "id")) continue;
        SA_TRY(field_of(s, key, of_item, &seen));
        SA_TRY(sa_field_summary_add(seen, &s->json, key + 1));
    }
    return SA_OK;
}

static sa_status survey_entry(survey *s, const sa_log_entry *entry) {
    s->decisions++;
    if (entry->context) {
        SA_TRY(sa_json_parse(&s->json, entry->context, entry->context_size));
        SA_TRY(survey_object(s, 0, false));
    }
    if (!entry->items) return SA_OK;
    SA_TRY(sa_json_parse(&s->json, entry->items, entry->items_size));
    for (size_t at = 1; at < s->json.nodes[0].next; at = s->json.nodes[at].next)
        SA_TRY(survey_object(s, at, true));
    return SA_OK;
}

/* ---- judging ---- */

static bool ends_in(const char *name, const char *word) {
    size_t size = strlen(name), tail = strlen(word);
    if (size < tail || strcasecmp(name + size - tail, word)) return false;
    return size == tail || name[size - tail - 1] == '_' || name[size - tail - 1] == '-' ||
           name[size - tail - 1] == '.';
}

static int period_of(const sa_field_summary *seen) {
    static const struct {
        const char *word;
        int period;
        double most;
    } known[] = {{"hour", 24, 24}, {"weekday", 7, 7}, {"day_of_week", 7, 7},
                 {"dow", 7, 7},    {"month", 12, 12}, {"minute", 60, 60}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_in(seen->name, known[i].word) && seen->least >= 0 && seen->most <= known[i].most)
            return known[i].period;
    return 0;
}

static size_t columns_for(const sa_field_summary *seen) {
    size_t columns = LEAST_COLUMNS;
    while (columns < MOST_COLUMNS && columns < 2 * seen->different_count) columns *= 2;
    return columns;
}

/* The words of a category, those that came most often first. */
static void category(const sa_field_summary *seen, sa_buffer *kind) {
    char *values[SA_SEEN_TEXTS];
    bool taken[SA_SEEN_TEXTS] = {false};
    sa_field field = {.kind = SA_FIELD_CATEGORY, .values = values};
    for (size_t n = 0; n < seen->different_count && n < SA_SEEN_TEXTS; n++) {
        size_t best = SA_SEEN_TEXTS;
        for (size_t i = 0; i < SA_SEEN_TEXTS; i++)
            if (seen->text[i] && !taken[i] &&
                (best == SA_SEEN_TEXTS || seen->text_count[i] > seen->text_count[best]))
                best = i;
        if (best == SA_SEEN_TEXTS) break;
        taken[best] = true;
        values[field.value_count++] = seen->text[best];
    }
    sa_field_write(&field, kind);
}

/* Why the field is left out, or NULL. */
static const char *reason_against(const sa_field_summary *seen, const survey *s) {
    uint64_t count = sa_field_summary_count(seen),
             named = seen->texts + seen->numbers * (seen->whole && ends_in(seen->name, "id"));
    if (seen->others > 0) return "is an object, or no finite number";
    if (seen->lists > 0 && (seen->lists < count || !seen->list_of_texts))
        return "is a list of other things than texts";
    if (count == 0) return "is always missing";
    if (seen->different_count <= 1 && !seen->lists && count == s->objects[seen->of_item])
        return "is always the same";
    if (named > 0 && seen->values_told >= ENOUGH &&
        (double)seen->different_count > 0.9 * (double)seen->values_told)
        return "is hardly ever the same twice";
    return NULL;
}

static void choose_kind(const sa_field_summary *seen, sa_buffer *kind) {
    uint64_t count = sa_field_summary_count(seen);
    bool short_words = seen->different_count <= WORDS && seen->longest <= LONGEST_WORD;
    if (seen->lists == count)
        sa_buffer_format(kind, "tags %zu", columns_for(seen));
    else if (seen->flags == count ||
             (seen->numbers == count && seen->whole && seen->least >= 0 && seen->most <= 1))
        sa_buffer_text(kind, "flag");
    else if (seen->texts == count && short_words && seen->text[0] && *seen->text[0])
        category(seen, kind);
    else if (seen->numbers < count || (seen->whole && ends_in(seen->name, "id")))
        sa_buffer_format(kind, "hashed %zu", columns_for(seen));
    else if (period_of(seen))
        sa_buffer_format(kind, "cyclic %d", period_of(seen));
    else {
        double skewness = sa_moments3_skewness(&seen->plain), after = sa_moments3_skewness(&seen->logarithms);
        bool helps = seen->least >= 0 && skewness > 1 && after < skewness / 2;
        sa_buffer_text(kind, helps ? "log" : "number");
    }
}

/* ---- telling ---- */

static void describe(const sa_field_summary *seen, const survey *s, sa_buffer *out) {
    static const char *const plural[] = {"", "s"};
    uint64_t missing = s->objects[seen->of_item] - sa_field_summary_count(seen);
    const char *more = seen->different_count == SA_SEEN_DIFFERENT ? "more than " : "";
    const char *between = "";
    if (seen->texts || (seen->lists && seen->list_of_texts)) {
        sa_buffer_format(out, "%s%zu different text%s", more, seen->different_count,
                         plural[seen->different_count != 1]);
        between = ", ";
    }
    if (seen->numbers) {
        sa_buffer_format(out, "%s%" PRIu64 " %snumber%s from %.4g to %.4g", between, seen->numbers,
                         seen->whole ? "whole " : "", plural[seen->numbers != 1], seen->least, seen->most);
        between = ", ";
    }
    if (seen->flags) {
        sa_buffer_format(out, "%s%" PRIu64 " true or false", between, seen->flags);
        between = ", ";
    }
    if (seen->lists) {
        sa_buffer_format(out, "%sin %" PRIu64 " list%s", between, seen->lists, plural[seen->lists != 1]);
        between = ", ";
    }
    if (missing) sa_buffer_format(out, "%s%" PRIu64 " missing", between, missing);
}

static void add_name(sa_buffer *out, const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (*name && *name != '-' && !name[strspn(name, plain)])
        sa_buffer_text(out, name);
    else
        sa_buffer_quote(out, name);
}

static void write_field(const sa_field_summary *seen, const survey *s, sa_buffer *out) {
    size_t before = out->size;
    sa_buffer_text(out, "  ");
    add_name(out, seen->name);
    sa_buffer_text(out, ": ");
    choose_kind(seen, out);
    sa_buffer_format(out, "%*s  # ", out->size - before < 32 ? (int)(32 - (out->size - before)) : 0, "");
    describe(seen, s, out);
    sa_buffer_text(out, "\n");
}

static sa_status write_part(const survey *s, bool of_item, sa_buffer *out) {
    size_t told = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->fields[i].of_item != of_item || reason_against(&s->fields[i], s)) continue;
        if (told++ == 0) sa_buffer_text(out, of_item ? "item:\n" : "context:\n");
        write_field(&s->fields[i], s, out);
    }
    if (told == 0 && of_item)
        return sa_fail(SA_INVALID, "no field of items tells them apart%s",
                       s->objects[1] ? "" : ": the log has contexts, which need no schema");
    return SA_OK;
}

static void write_left_out(const survey *s, sa_buffer *out) {
    for (size_t i = 0; i < s->count; i++) {
        const char *reason = reason_against(&s->fields[i], s);
        if (!reason) continue;
        sa_buffer_format(out, "# left out: %s.", s->fields[i].of_item ? "item" : "context");
        add_name(out, s->fields[i].name);
        sa_buffer_format(out, " %s (", reason);
        describe(&s->fields[i], s, out);
        sa_buffer_text(out, ")\n");
    }
}

/* The first field of a part that names something, for a cross worth trying. */
static const sa_field_summary *first_name(const survey *s, bool of_item) {
    for (size_t i = 0; i < s->count; i++)
        if (s->fields[i].of_item == of_item && s->fields[i].texts && !reason_against(&s->fields[i], s))
            return &s->fields[i];
    return NULL;
}

static sa_status tell(const survey *s, const char *path, sa_buffer *out) {
    char shown[SA_PRINTABLE];
    sa_buffer_format(out, "# from %s: %" PRIu64 " decisions, %" PRIu64 " items\n", sa_printable(path, shown),
                     s->decisions, s->objects[1]);
    SA_TRY(write_part(s, false, out));
    SA_TRY(write_part(s, true, out));
    write_left_out(s, out);
    const sa_field_summary *left = first_name(s, false), *right = first_name(s, true);
    if (left && right) {
        sa_buffer_text(out, "# worth trying: products of what a context and an item are, as in\n# cross: [[");
        add_name(out, left->name);
        sa_buffer_text(out, ", ");
        add_name(out, right->name);
        sa_buffer_text(out, "]]\n");
    }
    return out->status;
}

static sa_status survey_log(survey *s, const char *log, bool skip_bad) {
    sa_log_reader *reader;
    const sa_log_entry *entry;
    SA_TRY(sa_log_reader_open(log, skip_bad, &reader));
    sa_status status = sa_log_reader_next(reader, &entry);
    while (status == SA_OK && entry) {
        status = survey_entry(s, entry);
        if (status == SA_OK) status = sa_log_reader_next(reader, &entry);
    }
    sa_log_reader_close(reader);
    return status;
}

sa_status sa_schema_propose(const char *log, bool skip_bad, char **text) {
    survey s = {0};
    sa_buffer out = {0};
    sa_status status = survey_log(&s, log, skip_bad);
    if (status == SA_OK) {
        status = tell(&s, log, &out);
        if (status == SA_INVALID) sa_fail_prefix(status, "%s: ", log);
    }
    for (size_t i = 0; i < s.count; i++) sa_field_summary_clear(&s.fields[i]);
    sa_free(s.fields);
    sa_json_clear(&s.json);
    if (status == SA_OK)
        *text = out.text;
    else
        sa_buffer_clear(&out);
    return status;
}

void sa_schema_text_free(char *text) { sa_free(text); }
