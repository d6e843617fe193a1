/* Sums by hour. One row of an agent that all servers changed would make them wait for each other: only the
 * one that holds the agent has it, and the others leave what they add. */
#include "clock.h"
#include "store_postgres.h"

sv_store_status sv_postgres_hour_newest(sv_store *self, int64_t agent, sv_store_hour *out) {
    sv_postgres_values values = {0};
    sv_store_status status;
    bool left = self->transaction && self->writes && !sv_postgres_holds(self, agent);
    *out = (sv_store_hour){.now = sv_clock_milliseconds(), .left = left};
    if (left) return STORE_NONE;
    sv_postgres_number(&values, agent);
    PGresult *result = sv_postgres_run(self, SQL_HOUR_NEWEST, &values, &status);
    PQclear(self->hour);
    self->hour = result;
    if (!result) return status;
    if (!PQntuples(result)) return STORE_NONE;
    out->hour = sv_postgres_get(result, 0, 0);
    out->data = PQgetvalue(result, 0, 1);
    return STORE_OK;
}

sv_store_status sv_postgres_hour_put(sv_store *self, int64_t agent, int64_t hour, const char *data,
                                     bool left) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, agent);
    if (!left) sv_postgres_number(&values, hour);
    sv_postgres_text(&values, data);
    return sv_postgres_do(self, left ? SQL_HOUR_LEAVE : SQL_HOUR_PUT, &values, NULL);
}

sv_store_status sv_postgres_hours(sv_store *self, int64_t agent, int64_t from, int64_t to,
                                  bool (*each)(void *user, const sv_store_hour *hour), void *user) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, from);
    sv_postgres_number(&values, to);
    PGresult *list = sv_postgres_run(self, SQL_HOURS, &values, &status);
    for (int i = 0; list && i < PQntuples(list); i++) {
        sv_store_hour row = {.hour = sv_postgres_get(list, i, 0), .data = PQgetvalue(list, i, 1)};
        if (!each(user, &row)) break;
    }
    PQclear(list);
    return status;
}

sv_store_status sv_postgres_hours_left(sv_store *self,
                                       bool (*each)(void *user, int64_t agent, const char *data),
                                       void *user) {
    sv_postgres_values values = {0};
    sa_buffer held = {0};
    sv_store_status status = STORE_LATER;
    if (!self->held_count) return STORE_OK;
    sv_postgres_held(self, &held);
    sv_postgres_text(&values, held.text);
    sv_postgres_number(&values, STORE_HOURS_LEFT);
    PGresult *list = held.status ? NULL : sv_postgres_run(self, SQL_HOURS_LEFT, &values, &status);
    for (int i = 0; list && i < PQntuples(list); i++)
        if (!each(user, sv_postgres_get(list, i, 0), PQgetvalue(list, i, 1))) break;
    if (list) self->changes += (uint64_t)PQntuples(list);
    PQclear(list);
    sa_buffer_clear(&held);
    return status;
}

sv_store_status sv_postgres_hours_delete(sv_store *self, int64_t agent, int64_t from, int64_t to) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, from);
    sv_postgres_number(&values, to);
    return sv_postgres_do(self, SQL_HOURS_REMOVE, &values, NULL);
}
