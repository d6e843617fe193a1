/* Items of catalogues: what they are now, and what they were when decisions named them. A catalogue's row is
 * the lock of who changes it, and so the order of versions.
 *
 * A server may choose from a version that another one has replaced. So what ended is not removed before
 * ITEMS_GRACE has passed since, and since the oldest transaction began; a decision that names a version which
 * was replaced longer ago is not kept (SQL_DECISION_ADD). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_postgres.h"

/* ---- changes ---- */

static sv_store_status ask_row(sv_store *self, int which, int64_t agent, sv_store_catalogue *out) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    PGresult *result = sv_postgres_run(self, which, &values, &status);
    if (!result) return status;
    bool found = PQntuples(result);
    if (found && out)
        *out = (sv_store_catalogue){.version = (uint64_t)sv_postgres_get(result, 0, 0),
                                    .number = (uint64_t)sv_postgres_get(result, 0, 1),
                                    .past = (uint64_t)sv_postgres_get(result, 0, 2)};
    PQclear(result);
    return found ? STORE_OK : STORE_NONE;
}

/* Many items take their time to be read, in which the session says nothing. */
sv_store_status sv_postgres_items_lock(sv_store *self, int64_t agent, sv_store_catalogue *out) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, agent);
    sv_store_status status = sv_postgres_run_sql(
        self, "SET LOCAL idle_in_transaction_session_timeout = '" ITEMS_GRACE_SECONDS "s'");
    if (status == STORE_OK) status = ask_row(self, SQL_ITEMS_AGENT, agent, NULL);
    if (status == STORE_OK) status = sv_postgres_do(self, SQL_ITEMS_BEGIN, &values, NULL);
    return status == STORE_OK ? ask_row(self, SQL_ITEMS_LOCK, agent, out) : status;
}

static sv_store_status take_version(sv_store *self, int64_t agent, const sv_store_change *change,
                                    uint64_t *version) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)change->number);
    sv_postgres_number(&values, (int64_t)change->gone_count);
    PGresult *result = sv_postgres_run(self, SQL_ITEMS_VERSION, &values, &status);
    if (!result) return status;
    *version = PQntuples(result) ? (uint64_t)sv_postgres_get(result, 0, 0) : 0;
    PQclear(result);
    return *version ? STORE_OK : STORE_LATER;
}

/* Each of them is as it was when the change was made, or nothing is changed. */
static sv_store_status end_items(sv_store *self, int64_t agent, const sv_store_change *change,
                                 uint64_t version) {
    sv_postgres_values values = {0};
    sa_buffer numbers = {0}, since = {0};
    uint64_t ended = 0;
    for (size_t i = 0; i < change->gone_count; i++) {
        sa_buffer_format(&numbers, "%c%llu", i ? ',' : '{', (unsigned long long)change->gone[i].number);
        sa_buffer_format(&since, "%c%llu", i ? ',' : '{', (unsigned long long)change->gone[i].since);
    }
    sa_buffer_text(&numbers, "}");
    sa_buffer_text(&since, "}");
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)version);
    sv_postgres_text(&values, numbers.text);
    sv_postgres_text(&values, since.text);
    sv_store_status status =
        numbers.status || since.status ? STORE_LATER : sv_postgres_do(self, SQL_ITEMS_END, &values, &ended);
    sa_buffer_clear(&numbers);
    sa_buffer_clear(&since);
    if (status != STORE_OK || ended == change->gone_count) return status;
    snprintf(self->sentence, sizeof self->sentence, "the items were changed by somebody else meanwhile");
    return STORE_LATER;
}

/* A line of COPY: fields apart by tabs, backslashes doubled. */
static void put_text(sa_buffer *out, const char *text, size_t size) {
    for (size_t at = 0; at < size;) {
        size_t plain = at;
        while (plain < size && !strchr("\\\t\n\r", text[plain])) plain++;
        sa_buffer_bytes(out, text + at, plain - at);
        if (plain < size) {
            char escaped[2] = {'\\', text[plain] == '\\'   ? '\\'
                                     : text[plain] == '\t' ? 't'
                                     : text[plain] == '\n' ? 'n'
                                                           : 'r'};
            sa_buffer_bytes(out, escaped, 2);
        }
        at = plain + 1;
    }
}

static void put_line(sa_buffer *out, int64_t agent, uint64_t version, const sv_store_item *item) {
    sa_buffer_format(out, "%lld\t%llu\t%llu\t", (long long)agent, (unsigned long long)item->number,
                     (unsigned long long)version);
    put_text(out, item->id, strlen(item->id));
    if (item->expires)
        sa_buffer_format(out, "\t%lld\t", (long long)item->expires);
    else
        sa_buffer_text(out, "\t\\N\t");
    put_text(out, item->fields, item->size);
    sa_buffer_bytes(out, "\n", 1);
}

static sv_store_status put_items(sv_store *self, int64_t agent, const sv_store_change *change,
                                 uint64_t version) {
    enum { BLOCK = 1 << 16 };
    sa_buffer lines = {0};
    sv_store_status status =
        sv_postgres_copy_begin(self, "COPY items (agent, number, since, id, expires, fields) FROM STDIN");
    if (status != STORE_OK) return status;
    for (size_t i = 0; i < change->fresh_count; i++) {
        put_line(&lines, agent, version, &change->fresh[i]);
        if (lines.size < BLOCK && i + 1 < change->fresh_count) continue;
        if (lines.status || PQputCopyData(self->connection, lines.text, (int)lines.size) != 1) break;
        lines.size = 0;
    }
    bool whole = !lines.status && !lines.size;
    sa_buffer_clear(&lines);
    return sv_postgres_copy_end(self, whole);
}

/* A version is a time: that of a transaction which takes longer than the grace would be too old. */
static sv_store_status check_time(sv_store *self, uint64_t version) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, (int64_t)version);
    PGresult *result = sv_postgres_run(self, SQL_ITEMS_LATE, &values, &status);
    if (!result) return status;
    bool late = sv_postgres_get(result, 0, 0);
    PQclear(result);
    if (!late) return STORE_OK;
    snprintf(self->sentence, sizeof self->sentence, "the items took too long to be written");
    return STORE_LATER;
}

sv_store_status sv_postgres_items_change(sv_store *self, int64_t agent, const sv_store_change *change,
                                         uint64_t *version) {
    sv_store_status status = take_version(self, agent, change, version);
    if (status == STORE_OK && change->gone_count) status = end_items(self, agent, change, *version);
    if (status == STORE_OK && change->fresh_count) status = put_items(self, agent, change, *version);
    if (status == STORE_OK) status = check_time(self, *version);
    return status == STORE_OK ? sv_shared_tell(self, "items") : status;
}

/* ---- reading ---- */

static void read_item(const PGresult *result, int row, int at, sv_store_item *out) {
    *out = (sv_store_item){.number = (uint64_t)sv_postgres_get(result, row, at),
                           .since = (uint64_t)sv_postgres_get(result, row, at + 1),
                           .until = (uint64_t)sv_postgres_get(result, row, at + 2),
                           .id = PQgetvalue(result, row, at + 3),
                           .expires = sv_postgres_get(result, row, at + 4),
                           .fields = PQgetvalue(result, row, at + 5),
                           .size = (size_t)PQgetlength(result, row, at + 5)};
}

typedef struct walk {
    sv_store_catalogue *out;
    uint64_t after;
    bool (*each)(void *user, const sv_store_item *item);
    void *user;
    bool lost; /* what ended after it */
} walk;

/* The first columns are the catalogue's; the others are NULL where it has no items. */
static bool take_item(void *user, const PGresult *row) {
    walk *self = user;
    sv_store_item item;
    *self->out = (sv_store_catalogue){.version = (uint64_t)sv_postgres_get(row, 0, 0),
                                      .number = (uint64_t)sv_postgres_get(row, 0, 1),
                                      .past = (uint64_t)sv_postgres_get(row, 0, 2)};
    self->lost = (uint64_t)sv_postgres_get(row, 0, 3) > self->after && self->after;
    if (self->lost || PQgetisnull(row, 0, 4)) return false;
    read_item(row, 0, 4, &item);
    return self->each(self->user, &item);
}

/* One statement, and so one moment. */
sv_store_status sv_postgres_items(sv_store *self, int64_t agent, uint64_t after, sv_store_catalogue *out,
                                  bool (*each)(void *user, const sv_store_item *item), void *user) {
    sv_postgres_values values = {0};
    walk found = {out, after, each, user, false};
    *out = (sv_store_catalogue){0};
    sv_postgres_number(&values, agent);
    if (after) sv_postgres_number(&values, (int64_t)after);
    sv_store_status status =
        sv_postgres_each(self, after ? SQL_ITEMS_SINCE : SQL_ITEMS, &values, take_item, &found);
    return status == STORE_OK && found.lost ? STORE_NONE : status;
}

sv_store_status sv_postgres_items_at(sv_store *self, int64_t agent, uint64_t version, const uint32_t *numbers,
                                     size_t count, void (*each)(void *user, const sv_store_item *item),
                                     void *user) {
    sv_postgres_values values = {0};
    sa_buffer list = {0};
    sv_store_status status = STORE_LATER;
    sa_buffer_text(&list, "{");
    for (size_t i = 0; i < count; i++) sa_buffer_format(&list, "%s%u", i ? "," : "", (unsigned)numbers[i]);
    sa_buffer_text(&list, "}");
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)version);
    sv_postgres_text(&values, list.text);
    PGresult *result = list.status ? NULL : sv_postgres_run(self, SQL_ITEMS_AT, &values, &status);
    sa_buffer_clear(&list);
    if (!result) return status;
    bool all = (size_t)PQntuples(result) == count;
    for (int i = 0; all && i < PQntuples(result); i++) {
        sv_store_item item;
        read_item(result, i, 0, &item);
        each(user, &item);
    }
    PQclear(result);
    return all ? STORE_OK : STORE_NONE;
}

sv_store_status sv_postgres_expand(sv_store *self, sv_store_decision *of, bool body) {
    sv_store_status status = sv_expand(self, of, body ? &self->body : NULL, &self->answer);
    if (status != STORE_NONE) return status;
    if ((status = sv_postgres_decision_there(self, of->id)) != STORE_OK) return status;
    snprintf(self->sentence, sizeof self->sentence, "event %.64s names an item that is not in the journal",
             of->event);
    return STORE_FAILED;
}

/* ---- what goes ---- */

/* Which decisions there are says what they name: how long they wait does not matter. Who changes the
 * catalogue now is not waited for. */
sv_store_status sv_postgres_items_purge(sv_store *self, int64_t agent, int64_t wait, uint64_t before,
                                        size_t most, uint64_t *count) {
    sv_postgres_values values = {0};
    (void)wait;
    *count = 0;
    sv_store_status status = ask_row(self, SQL_ITEMS_FREE, agent, NULL);
    if (status != STORE_OK) return status == STORE_NONE ? STORE_OK : status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, before < INT64_MAX ? (int64_t)before : INT64_MAX);
    sv_postgres_number(&values, (int64_t)most);
    PGresult *result = sv_postgres_run(self, SQL_ITEMS_PURGE, &values, &status);
    if (!result) return status;
    *count = PQntuples(result) ? (uint64_t)sv_postgres_get(result, 0, 0) : 0;
    PQclear(result);
    self->changes += *count;
    return STORE_OK;
}
