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
    if (row->decision)
        sv_postgres_number(&values, row->decision);
    else
        sv_postgres_text(&values, NULL);
    sv_postgres_number(&values, row->restarts);
    PGresult *result = sv_postgres_run(self, SQL_INBOX_ADD, &values, &status);
    if (!result) return status;
    bool there = PQntuples(result); /* the agent */
    if (there) row->inbox = sv_postgres_get(result, 0, 0);
    PQclear(result);
    if (!there) return STORE_NONE;
    self->changes++;
    return sv_shared_tell(self, "agents");
}

sv_store_status sv_postgres_row_add(sv_store *self, int64_t agent, sv_store_row *row) {
    return sv_postgres_holds(self, agent) ? number_row(self, agent, row) : leave(self, agent, row);
}

/* Rows are fetched first and given away then: who gets one may ask for more. */
enum { AT_A_TIME = 64, BYTES_AT_A_TIME = 4 << 20 };

static sv_store_status give_row(sv_store *self, const PGresult *from,
                                bool (*each)(void *user, const sv_store_row *row), void *user, uint64_t *last,
                                bool *more) {
    enum { AT = POSTGRES_DECISION_COLUMNS };
    sv_store_row row = {.seq = (uint64_t)sv_postgres_get(from, 0, AT),
                        .kind = (sv_row_kind)sv_postgres_get(from, 0, AT + 1),
                        .time = sv_postgres_get(from, 0, AT + 2),
                        .data = PQgetvalue(from, 0, AT + 3),
                        .size = (size_t)PQgetlength(from, 0, AT + 3),
                        .decision = sv_postgres_get(from, 0, AT + 4)};
    sv_postgres_read_decision(from, 0, &row.of);
    bool whole = row.kind == ROW_LEARN && row.of.id; /* nobody needs it of the others */
    sv_store_status status = whole ? sv_postgres_expand(self, &row.of, true) : STORE_OK;
    if (status == STORE_NONE) { /* removed since: as if it had been before */
        row.of = (sv_store_decision){0};
        status = STORE_OK;
    }
    *last = row.seq;
    if (status == STORE_OK) *more = each(user, &row);
    return status;
}

sv_store_status sv_postgres_rows(sv_store *self, int64_t agent, uint64_t from, size_t most,
                                 bool (*each)(void *user, const sv_store_row *row), void *user) {
    PGresult *rows[AT_A_TIME];
    sv_store_status status = STORE_OK;
    size_t wanted = AT_A_TIME, count = AT_A_TIME;
    uint64_t last = from - 1;
    for (bool more = true; status == STORE_OK && more && most && count; most -= count) {
        sv_postgres_values values = {0};
        if (wanted > most) wanted = most;
        sv_postgres_number(&values, agent);
        sv_postgres_number(&values, (int64_t)last + 1);
        sv_postgres_number(&values, (int64_t)wanted);
        status = sv_postgres_gather(self, SQL_ROWS, &values, wanted, BYTES_AT_A_TIME, rows, &count);
        for (size_t i = 0; i < count; i++) {
            if (status == STORE_OK && more) status = give_row(self, rows[i], each, user, &last, &more);
            PQclear(rows[i]);
        }
        wanted = count < wanted && count ? count : AT_A_TIME; /* of large ones fewer are asked for */
    }
    return status;
}

static sv_store_status find_row(sv_store *self, int which, const sv_postgres_values *values,
                                sv_store_row *out) {
    sv_store_status status;
    PGresult *result = sv_postgres_run(self, which, values, &status);
    PQclear(self->taught);
    self->taught = result;
    if (!result) return status;
    if (!PQntuples(result)) return STORE_NONE;
    out->seq = (uint64_t)sv_postgres_get(result, 0, 0);
    out->data = PQgetvalue(result, 0, 1);
    out->size = (size_t)PQgetlength(result, 0, 1);
    return STORE_OK;
}

sv_store_status sv_postgres_row_revised(sv_store *self, int64_t agent, int64_t decision, uint64_t learnt,
                                        sv_store_row *out) {
    sv_postgres_values values = {0};
    *out = (sv_store_row){.kind = ROW_REVISE, .decision = decision};
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, decision);
    sv_postgres_number(&values, (int64_t)learnt);
    return find_row(self, SQL_ROW_REVISED, &values, out);
}

sv_store_status sv_postgres_row_at(sv_store *self, int64_t agent, uint64_t seq, sv_store_row *out) {
    sv_postgres_values values = {0};
    *out = (sv_store_row){.kind = ROW_LEARN};
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)seq);
    return find_row(self, SQL_ROW_AT, &values, out);
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

sv_store_status sv_postgres_waiting(sv_store *self, int64_t agent, size_t most,
                                    bool (*each)(void *user, const sv_store_decision *decision), void *user) {
    PGresult *rows[AT_A_TIME];
    sv_store_status status = STORE_OK;
    int64_t last = 0;
    size_t count = AT_A_TIME;
    for (bool more = true; status == STORE_OK && more && most && count; most -= count) {
        sv_postgres_values values = {0};
        size_t wanted = most < AT_A_TIME ? most : AT_A_TIME;
        sv_postgres_number(&values, agent);
        sv_postgres_number(&values, last);
        sv_postgres_number(&values, (int64_t)wanted);
        status = sv_postgres_gather(self, SQL_WAITING, &values, wanted, BYTES_AT_A_TIME, rows, &count);
        for (size_t i = 0; i < count; i++) {
            sv_store_decision decision;
            sv_postgres_read_decision(rows[i], 0, &decision);
            last = decision.id;
            if (status == STORE_OK && more) status = sv_postgres_expand(self, &decision, true);
            if (status == STORE_OK && more) more = each(user, &decision);
            if (status == STORE_NONE) status = STORE_OK; /* removed since */
            PQclear(rows[i]);
        }
    }
    return status;
}
