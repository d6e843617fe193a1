/* The journal's rows. They are numbered by the session that holds the agent alone; others leave what is to
 * become a row for it: a decision that is ready, or an entry of the inbox. */
#include <string.h>

#include "store_postgres.h"

static sv_store_status number_row(sv_store *self, int64_t agent, sv_store_row *row) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, row->kind);
    if (row->decision)
        sv_postgres_number(&values, row->decision);
    else
        sv_postgres_text(&values, NULL);
    sv_postgres_bytes(&values, row->data, row->size);
    PGresult *result = sv_postgres_run(self, SQL_ROW_ADD, &values, &status);
    if (!result) return status;
    row->seq = (uint64_t)sv_postgres_get(result, 0, 0);
    row->time = sv_postgres_get(result, 0, 1);
    PQclear(result);
    self->changes++;
    if (row->kind != ROW_LEARN) return STORE_OK;
    sv_postgres_values mark = {0};
    sv_postgres_number(&mark, row->decision);
    sv_postgres_number(&mark, (int64_t)row->seq);
    return sv_postgres_do(self, SQL_DECISION_LEARNT, &mark, NULL);
}

static sv_store_status leave(sv_store *self, int64_t agent, sv_store_row *row) {
    sv_postgres_values values = {0};
    sv_store_status status;
    row->seq = 0;
    if (row->kind == ROW_LEARN) {
        sv_postgres_number(&values, row->decision);
        return sv_postgres_do(self, SQL_DECISION_READY, &values, NULL);
    }
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, row->kind);
    sv_postgres_bytes(&values, row->data, row->size);
    PGresult *result = sv_postgres_run(self, SQL_INBOX_ADD, &values, &status);
    if (!result) return status;
    row->inbox = sv_postgres_get(result, 0, 0);
    PQclear(result);
    self->changes++;
    return sv_shared_tell(self, "agents");
}

sv_store_status sv_postgres_row_add(sv_store *self, int64_t agent, sv_store_row *row) {
    return sv_postgres_holds(self, agent) ? number_row(self, agent, row) : leave(self, agent, row);
}

typedef struct rows {
    bool (*each)(void *user, const sv_store_row *row);
    void *user;
    uint64_t last;
    size_t count;
    bool more;
} rows;

static bool take_row(void *user, const PGresult *list) {
    rows *self = user;
    enum { AT = POSTGRES_DECISION_COLUMNS };
    sv_store_row row = {.seq = (uint64_t)sv_postgres_get(list, 0, AT),
                        .kind = (sv_row_kind)sv_postgres_get(list, 0, AT + 1),
                        .time = sv_postgres_get(list, 0, AT + 2),
                        .data = PQgetvalue(list, 0, AT + 3),
                        .size = (size_t)PQgetlength(list, 0, AT + 3),
                        .decision = sv_postgres_get(list, 0, AT + 4)};
    sv_postgres_read_decision(list, 0, &row.of);
    self->last = row.seq;
    self->count++;
    return self->more = self->each(self->user, &row);
}

/* What `each` does not want is read all the same: not many at a time. */
sv_store_status sv_postgres_rows(sv_store *self, int64_t agent, uint64_t from, size_t most,
                                 bool (*each)(void *user, const sv_store_row *row), void *user) {
    enum { AT_A_TIME = 64 };
    rows walk = {.each = each, .user = user, .last = from - 1, .more = true};
    sv_store_status status = STORE_OK;
    for (size_t wanted = AT_A_TIME; status == STORE_OK && walk.more && most && wanted == AT_A_TIME;) {
        sv_postgres_values values = {0};
        wanted = most < AT_A_TIME ? most : AT_A_TIME;
        walk.count = 0;
        sv_postgres_number(&values, agent);
        sv_postgres_number(&values, (int64_t)walk.last + 1);
        sv_postgres_number(&values, (int64_t)wanted);
        status = sv_postgres_each(self, SQL_ROWS, &values, take_row, &walk);
        most -= wanted;
        if (walk.count < wanted) break;
    }
    return status;
}

/* Nothing is revised here: PUT refuses revise_days. */
sv_store_status sv_postgres_row_revised(sv_store *self, int64_t agent, int64_t decision, uint64_t learnt,
                                        sv_store_row *out) {
    (void)self, (void)agent, (void)decision, (void)learnt, (void)out;
    return STORE_NONE;
}

sv_store_status sv_postgres_row_at(sv_store *self, int64_t agent, uint64_t seq, sv_store_row *out) {
    (void)self, (void)agent, (void)seq, (void)out;
    return STORE_NONE;
}

sv_store_status sv_postgres_row_reset(sv_store *self, int64_t agent, uint64_t from, bool models,
                                      uint64_t *seq) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)from);
    sv_postgres_number(&values, models ? ROW_MODEL : ROW_NEW);
    PGresult *result = sv_postgres_run(self, SQL_ROW_RESET, &values, &status);
    if (!result) return status;
    bool found = PQntuples(result);
    if (found) *seq = (uint64_t)sv_postgres_get(result, 0, 0);
    PQclear(result);
    return found ? STORE_OK : STORE_NONE;
}

typedef struct decisions {
    bool (*each)(void *user, const sv_store_decision *decision);
    void *user;
} decisions;

static bool take_decision(void *user, const PGresult *row) {
    const decisions *self = user;
    sv_store_decision decision;
    sv_postgres_read_decision(row, 0, &decision);
    return self->each(self->user, &decision);
}

sv_store_status sv_postgres_waiting(sv_store *self, int64_t agent, size_t most,
                                    bool (*each)(void *user, const sv_store_decision *decision), void *user) {
    sv_postgres_values values = {0};
    decisions walk = {each, user};
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)most);
    return sv_postgres_each(self, SQL_WAITING, &values, take_decision, &walk);
}
