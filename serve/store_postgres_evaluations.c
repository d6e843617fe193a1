/* Evaluations of agents: what was asked, and what came of it. */
#include "store_postgres.h"

enum { KEPT = 100 }; /* the last of each agent */

sv_store_status sv_postgres_evaluation_add(sv_store *self, int64_t agent, int64_t now, const char *request,
                                           const char *server, int64_t *id) {
    sv_postgres_values values = {0}, trim = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, now);
    sv_postgres_text(&values, request);
    sv_postgres_text(&values, server);
    PGresult *result = sv_postgres_run(self, SQL_EVALUATION_ADD, &values, &status);
    if (!result) return status;
    bool there = PQntuples(result); /* the agent */
    if (there) *id = sv_postgres_get(result, 0, 0);
    PQclear(result);
    if (!there) return STORE_NONE;
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
    sv_store_status status = change_one(self, SQL_EVALUATION_DELETE, agent, id, NULL);
    return status == STORE_OK ? sv_shared_tell(self, "evaluations") : status;
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
                                     .result = sv_postgres_get_text(list, i, 3),
                                     .runs = sv_postgres_get(list, i, 4),
                                     .server = sv_postgres_get_text(list, i, 5)};
        each(user, &found);
    }
    PQclear(list);
    return status;
}

/* ---- what other servers run ---- */

static sv_store_status lock_agent(sv_store *self, int which, int64_t agent) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    PGresult *result = sv_postgres_run(self, which, &values, &status);
    bool there = result && PQntuples(result);
    PQclear(result);
    return result && !there ? STORE_NONE : status;
}

/* Not between the beginning and the end of an erasure: it would read what is erased, and not be told. */
sv_store_status sv_shared_evaluation_begin(sv_store *self, int64_t agent, int64_t id) {
    sv_store_status status = lock_agent(self, SQL_EVALUATION_AGENT, agent);
    return status == STORE_OK ? change_one(self, SQL_EVALUATION_BEGIN, agent, id, NULL) : status;
}

sv_store_status sv_shared_evaluations_stop(sv_store *self, int64_t agent, const char *why, uint64_t *count) {
    sv_postgres_values values = {0};
    *count = 0;
    sv_store_status status = lock_agent(self, SQL_EVALUATIONS_AGENT, agent);
    if (status != STORE_OK) return status == STORE_NONE ? STORE_OK : status;
    sv_postgres_number(&values, agent);
    sv_postgres_text(&values, why);
    status = sv_postgres_do(self, SQL_EVALUATIONS_STOP, &values, count);
    return status == STORE_OK && *count ? sv_shared_tell(self, "evaluations") : status;
}

sv_store_status sv_shared_evaluations_ending(sv_store *self, int64_t agent, uint64_t *count) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    PGresult *result = sv_postgres_run(self, SQL_EVALUATIONS_ENDING, &values, &status);
    if (result) *count = (uint64_t)sv_postgres_get(result, 0, 0);
    PQclear(result);
    return status;
}

sv_store_status sv_shared_evaluations(sv_store *self, const char *server,
                                      void (*each)(void *user, int64_t id, const char *stop, bool open),
                                      void *user) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_text(&values, server);
    PGresult *list = sv_postgres_run(self, SQL_EVALUATIONS_OF, &values, &status);
    for (int i = 0; list && i < PQntuples(list); i++)
        each(user, sv_postgres_get(list, i, 0), sv_postgres_get_text(list, i, 1),
             sv_postgres_get(list, i, 2));
    PQclear(list);
    return status;
}

sv_store_status sv_shared_evaluation_lost(sv_store *self, const char *server, int64_t id) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, id);
    sv_postgres_text(&values, server);
    return sv_postgres_do(self, SQL_EVALUATION_LOST, &values, NULL);
}
