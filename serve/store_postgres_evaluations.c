/* Evaluations of agents: what was asked, and what came of it. */
#include "store_postgres.h"

enum { KEPT = 100 }; /* the last of each agent */

sv_store_status sv_postgres_evaluation_add(sv_store *self, int64_t agent, int64_t now, const char *request,
                                           int64_t *id) {
    sv_postgres_values values = {0}, trim = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, now);
    sv_postgres_text(&values, request);
    PGresult *result = sv_postgres_run(self, SQL_EVALUATION_ADD, &values, &status);
    if (!result) return status;
    *id = sv_postgres_get(result, 0, 0);
    PQclear(result);
    self->changes++;
    sv_postgres_number(&trim, agent);
    sv_postgres_number(&trim, KEPT);
    return sv_postgres_do(self, SQL_EVALUATIONS_TRIM, &trim, NULL);
}

static sv_store_status change_one(sv_store *self, int which, int64_t agent, int64_t id, const char *result) {
    sv_postgres_values values = {0};
    uint64_t changed = 0;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, id);
    if (result) sv_postgres_text(&values, result);
    sv_store_status status = sv_postgres_do(self, which, &values, &changed);
    return status == STORE_OK && !changed ? STORE_NONE : status;
}

sv_store_status sv_postgres_evaluation_put(sv_store *self, int64_t agent, int64_t id, const char *result) {
    return change_one(self, SQL_EVALUATION_PUT, agent, id, result);
}

sv_store_status sv_postgres_evaluation_delete(sv_store *self, int64_t agent, int64_t id) {
    return change_one(self, SQL_EVALUATION_DELETE, agent, id, NULL);
}

sv_store_status sv_postgres_evaluations(sv_store *self, int64_t agent, int64_t id,
                                        void (*each)(void *user, const sv_store_evaluation *evaluation),
                                        void *user) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, id);
    PGresult *list = sv_postgres_run(self, SQL_EVALUATIONS, &values, &status);
    for (int i = 0; list && i < PQntuples(list); i++) {
        sv_store_evaluation found = {.id = sv_postgres_get(list, i, 0),
                                     .time = sv_postgres_get(list, i, 1),
                                     .request = sv_postgres_get_text(list, i, 2),
                                     .result = sv_postgres_get_text(list, i, 3)};
        each(user, &found);
    }
    PQclear(list);
    return status;
}
