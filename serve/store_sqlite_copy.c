/* --copy: the rows of a journal, and those of a new one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "store_copy.h"
#include "store_sqlite.h"

static const struct {
    const char *name, *columns, *types, *order;
} TABLES[] = {
#define TABLE(name, sqlite, postgres, columns, types, order) {sqlite, columns, types, order},
    COPIED_TABLES(TABLE)
#undef TABLE
};

/* Of the columns by their names. */
static const char *const SUMS[] = {[COPIED_AGENTS] = SUM_AGENT(""),
                                   [COPIED_DECISIONS] =
                                       "moved_sum(" SUM_DECISION("") ", 0, " NO_SEQ ", state, seq)",
                                   [COPIED_FEEDBACK] = SUM_FEEDBACK(""),
                                   [COPIED_ROWS] = SUM_ROW(""),
                                   [COPIED_ITEMS] = SUM_ITEM(""),
                                   [COPIED_HOURS] = SUM_HOUR(""),
                                   [COPIED_EVALUATIONS] = SUM_EVALUATION("")};

/* What is added to a number where it is stored (NO_SEQ). */
static int64_t added(sv_copied_table table, size_t column) {
    return table == COPIED_DECISIONS && column == COPIED_SEQ ? (int64_t)1 << SEQ_SHIFT : 0;
}

static sqlite3_stmt *prepare(sv_store *self, const sa_buffer *sql) {
    sqlite3_stmt *statement = NULL;
    int result =
        sql->status ? SQLITE_NOMEM : sqlite3_prepare_v2(self->database, sql->text, -1, &statement, NULL);
    if (result != SQLITE_OK) sv_sqlite_result(self, result);
    return statement;
}

/* ---- out ---- */

static sv_cell read_cell(sqlite3_stmt *from, sv_copied_table table, size_t column) {
    char type = TABLES[table].types[column];
    int at = (int)column;
    sv_cell cell = {.null = sqlite3_column_type(from, at) == SQLITE_NULL};
    if (cell.null) return cell;
    if (type == 't' || type == 'b') {
        cell.bytes =
            type == 't' ? (const char *)sqlite3_column_text(from, at) : sqlite3_column_blob(from, at);
        cell.size = (size_t)sqlite3_column_bytes(from, at);
    } else
        cell.number = sqlite3_column_int64(from, at) - added(table, column);
    return cell;
}

static sv_store_status copy_rows(sv_store *self, sv_copied_table table, sv_take_row *each, void *user) {
    sa_buffer sql = {0};
    size_t count = strlen(TABLES[table].types);
    sa_buffer_format(&sql, "SELECT %s FROM %s ORDER BY %s", TABLES[table].columns, TABLES[table].name,
                     TABLES[table].order);
    sqlite3_stmt *list = prepare(self, &sql);
    sv_store_status status = list ? STORE_OK : STORE_FAILED;
    while (status == STORE_OK && (status = sv_sqlite_step(self, list)) == STORE_OK) {
        sv_cell cells[COPIED_COLUMNS];
        for (size_t i = 0; i < count; i++) cells[i] = read_cell(list, table, i);
        status = each(user, cells);
    }
    sqlite3_finalize(list);
    sa_buffer_clear(&sql);
    return status == STORE_NONE ? STORE_OK : status;
}

static sv_store_status copy_policies(sv_store *self, sv_take_policy *each, void *user) {
    sa_buffer sql = {0};
    sa_buffer_text(&sql, "SELECT a.id, c.seq, c.time, c.settings, c.file, c.agent > 0 FROM checkpoints c "
                         "JOIN agents a ON a.id = abs(c.agent) WHERE a.deleted IS NULL ORDER BY a.id, "
                         "c.agent DESC");
    sqlite3_stmt *list = prepare(self, &sql);
    sv_store_status status = list ? STORE_OK : STORE_FAILED;
    while (status == STORE_OK && (status = sv_sqlite_step(self, list)) == STORE_OK) {
        sv_copied_policy policy = {.agent = sqlite3_column_int64(list, 0),
                                   .version = sqlite3_column_int64(list, 1),
                                   .time = sqlite3_column_int64(list, 2),
                                   .settings = (const char *)sqlite3_column_text(list, 3),
                                   .file = (const char *)sqlite3_column_text(list, 4),
                                   .newest = sqlite3_column_int(list, 5)};
        status = each(user, &policy);
    }
    sqlite3_finalize(list);
    sa_buffer_clear(&sql);
    return status == STORE_NONE ? STORE_OK : status;
}

static sv_store_status copy_catalogues(sv_store *self, sv_take_catalogue *each, void *user) {
    sa_buffer sql = {0};
    sa_buffer_text(&sql, "SELECT id FROM agents ORDER BY id");
    sqlite3_stmt *list = prepare(self, &sql);
    sv_store_status status = list ? STORE_OK : STORE_FAILED;
    while (status == STORE_OK && (status = sv_sqlite_step(self, list)) == STORE_OK) {
        sv_copied_catalogue catalogue = {.agent = sqlite3_column_int64(list, 0)};
        status = sv_sqlite_items_lock(self, catalogue.agent, &catalogue.last);
        if (status == STORE_OK && catalogue.last.version) status = each(user, &catalogue);
    }
    sqlite3_finalize(list);
    sa_buffer_clear(&sql);
    return status == STORE_NONE ? STORE_OK : status;
}

/* 0 where it was never given. */
static sv_store_status last_number(sv_store *self, const char *name, int64_t *out) {
    *out = 0;
    sv_store_status status = sv_sqlite_get_number(self, name, out);
    return status == STORE_NONE ? STORE_OK : status;
}

static sv_store_status copy_numbers(sv_store *self, sv_copied_numbers *out) {
    out->now = self->clock.waits;
    sv_store_status status = last_number(self, "last_agent", &out->last_agent);
    return status == STORE_OK ? last_number(self, "last_evaluation", &out->last_evaluation) : status;
}

/* ---- in ---- */

/* WITH new (id, name) AS (VALUES (?1, ?2)) INSERT INTO agents (id, name, sum) SELECT *, row_sum(id, name) */
static sv_store_status copy_begin(sv_store *self, sv_copied_table table) {
    sa_buffer sql = {0};
    const char *columns = TABLES[table].columns;
    self->copied = (int)table;
    sa_buffer_format(&sql, "WITH new (%s) AS (VALUES (?1", columns);
    for (size_t i = 1; TABLES[table].types[i]; i++) sa_buffer_format(&sql, ", ?%zu", i + 1);
    sa_buffer_format(&sql, ")) INSERT INTO %s (%s, sum) SELECT *, %s FROM new", TABLES[table].name, columns,
                     SUMS[table]);
    sqlite3_finalize(self->copying);
    self->copying = prepare(self, &sql);
    sa_buffer_clear(&sql);
    return self->copying ? STORE_OK : STORE_FAILED;
}

static sv_store_status copy_row(sv_store *self, const sv_cell *cells) {
    sv_copied_table table = (sv_copied_table)self->copied;
    const char *types = TABLES[table].types;
    for (size_t i = 0; types[i]; i++) {
        const sv_cell *cell = &cells[i];
        const char *bytes = cell->bytes ? cell->bytes : ""; /* of none: it is not NULL */
        int at = (int)i + 1, result;
        if (cell->null)
            result = sqlite3_bind_null(self->copying, at);
        else if (types[i] == 't')
            result = sqlite3_bind_text64(self->copying, at, bytes, cell->size, SQLITE_STATIC, SQLITE_UTF8);
        else if (types[i] == 'b')
            result = sqlite3_bind_blob64(self->copying, at, bytes, cell->size, SQLITE_STATIC);
        else
            result = sqlite3_bind_int64(self->copying, at, cell->number + added(table, i));
        if (result != SQLITE_OK) return sv_sqlite_result(self, result);
    }
    return sv_sqlite_run(self, self->copying);
}

static sv_store_status copy_end(sv_store *self) {
    sqlite3_finalize(self->copying);
    self->copying = NULL;
    return STORE_OK;
}

static sv_store_status copy_policy(sv_store *self, const sv_copied_policy *policy) {
    sqlite3_stmt *add = sv_sqlite_use(self, SQL_CHECKPOINT);
    if (!add) return STORE_FAILED;
    sqlite3_bind_int64(add, 1, policy->newest ? policy->agent : -policy->agent);
    sqlite3_bind_int64(add, 2, policy->version);
    sqlite3_bind_text(add, 3, policy->file, -1, SQLITE_STATIC);
    sqlite3_bind_text(add, 4, policy->settings, -1, SQLITE_STATIC);
    sqlite3_bind_int64(add, 5, policy->time);
    return sv_sqlite_run(self, add);
}

static sv_store_status copy_catalogue(sv_store *self, const sv_copied_catalogue *catalogue) {
    return sv_sqlite_items_keep(self, catalogue->agent, catalogue->last.version, catalogue->last.number);
}

/* The journal's time goes on from the database's. */
static sv_store_status copy_put_numbers(sv_store *self, const sv_copied_numbers *numbers) {
    const struct {
        const char *name;
        int64_t value;
    } facts[] = {{"waits", numbers->now},
                 {"kept", numbers->now},
                 {"day", sv_clock_milliseconds()},
                 {"last_agent", numbers->last_agent},
                 {"last_evaluation", numbers->last_evaluation}};
    sv_store_status status = STORE_OK;
    for (size_t i = 0; i < sizeof facts / sizeof *facts && status == STORE_OK; i++)
        status = sv_sqlite_put_number(self, facts[i].name, facts[i].value);
    return status == STORE_OK ? sv_sqlite_run(self, sv_sqlite_use(self, SQL_COMMIT)) : status;
}

sv_store *sv_sqlite_make(const char *folder, sa_buffer *sentence) {
    sa_buffer path = {0};
    sv_store *self = calloc(1, sizeof *self);
    sa_buffer_format(&path, "%s/journal.db", folder);
    bool good = false;
    if (self && !path.status) {
        self->head.calls = &sv_sqlite_calls;
        self->writes = true;
        self->mark = -1;
        int result = sqlite3_open_v2(path.text, &self->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                     sv_sqlite_vfs());
        if (result == SQLITE_OK) result = sv_sqlite_add_sums(self->database);
        /* what is cut off is thrown away: it needs no log */
        good = sv_sqlite_result(self, result) == STORE_OK && sv_sqlite_prepare_tables(self) &&
               sv_sqlite_run_sql(self, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA "
                                       "cache_size = -65536; BEGIN");
    }
    if (!good)
        sa_buffer_format(sentence, "%s: %s", path.status ? folder : path.text, self ? self->sentence : "");
    if (!good) sv_sqlite_abandon(self);
    sa_buffer_clear(&path);
    return good ? self : NULL;
}

const sv_copy_calls sv_sqlite_copying = {
#define COPY_OWN(name, parameters) .name = name,
    COPY_CALLS(COPY_OWN)
#undef COPY_OWN
};
