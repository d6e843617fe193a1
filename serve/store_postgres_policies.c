/* Policies and their chunks. */
#include <string.h>

#include "store_postgres.h"

sv_store_status sv_shared_chunk_put(sv_store *self, int64_t agent, const uint8_t *hash, const void *bytes,
                                    size_t size) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, agent);
    sv_postgres_bytes(&values, hash, SA_SHA256_BYTES);
    sv_postgres_bytes(&values, bytes, size);
    return sv_postgres_do(self, SQL_CHUNK_PUT, &values, NULL);
}

sv_store_status sv_shared_policy_put(sv_store *self, int64_t agent, const sv_shared_policy *policy) {
    sv_postgres_values values = {0}, most = {0}, whose = {0};
    uint64_t added = 0;
    if (!sv_postgres_holds(self, agent)) return STORE_NONE;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)policy->version);
    sv_postgres_text(&values, policy->settings);
    sv_postgres_number(&values, (int64_t)policy->size);
    sv_postgres_bytes(&values, policy->hashes, policy->count * SA_SHA256_BYTES);
    sv_store_status status = sv_postgres_do(self, SQL_POLICY_PUT, &values, &added);
    if (status == STORE_OK && !added) return STORE_NONE; /* the agent was deleted */
    sv_postgres_number(&most, agent);
    sv_postgres_number(&most, SHARED_POLICIES);
    sv_postgres_number(&most, (int64_t)policy->version);
    if (status == STORE_OK) status = sv_postgres_do(self, SQL_POLICIES_TIDY, &most, NULL);
    sv_postgres_number(&whose, agent);
    if (status == STORE_OK) status = sv_postgres_do(self, SQL_CHUNKS_TIDY, &whose, NULL);
    if (status == STORE_OK) status = sv_postgres_do(self, SQL_INBOX_TIDY, &whose, NULL);
    return status == STORE_OK ? sv_shared_tell(self, "policies") : status;
}

sv_store_status sv_shared_policy_get(sv_store *self, int64_t agent, size_t skip, sv_shared_policy *out) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)skip);
    PGresult *result = sv_postgres_run(self, SQL_POLICY_GET, &values, &status);
    PQclear(self->found);
    self->found = result;
    if (!result) return status;
    if (!PQntuples(result)) return STORE_NONE;
    *out = (sv_shared_policy){.version = (uint64_t)sv_postgres_get(result, 0, 0),
                              .settings = PQgetvalue(result, 0, 1),
                              .time = sv_postgres_get(result, 0, 4),
                              .size = (uint64_t)sv_postgres_get(result, 0, 2),
                              .hashes = (const uint8_t *)PQgetvalue(result, 0, 3),
                              .count = (size_t)PQgetlength(result, 0, 3) / SA_SHA256_BYTES};
    return STORE_OK;
}

typedef struct chunks {
    bool (*each)(void *user, const uint8_t *hash, const void *bytes, size_t size);
    void *user;
} chunks;

static bool take_chunk(void *user, const PGresult *row) {
    const chunks *self = user;
    if (PQgetlength(row, 0, 0) != SA_SHA256_BYTES) return true;
    return self->each(self->user, (const uint8_t *)PQgetvalue(row, 0, 0), PQgetvalue(row, 0, 1),
                      (size_t)PQgetlength(row, 0, 1));
}

sv_store_status sv_shared_chunks(sv_store *self, int64_t agent, const uint8_t *hashes, size_t count,
                                 bool (*each)(void *user, const uint8_t *hash, const void *bytes,
                                              size_t size),
                                 void *user) {
    sv_postgres_values values = {0};
    sa_buffer list = {0};
    chunks walk = {each, user};
    sa_buffer_text(&list, "{");
    for (size_t i = 0; i < count; i++) {
        char digits[2 * SA_SHA256_BYTES + 1];
        sv_hex_write(hashes + i * SA_SHA256_BYTES, SA_SHA256_BYTES, digits);
        sa_buffer_format(&list, "%s\"\\\\x%s\"", i ? "," : "", digits);
    }
    sa_buffer_text(&list, "}");
    sv_postgres_number(&values, agent);
    sv_postgres_text(&values, list.text);
    sv_store_status status =
        list.status ? STORE_LATER : sv_postgres_each(self, SQL_CHUNKS, &values, take_chunk, &walk);
    sa_buffer_clear(&list);
    return status;
}

sv_store_status sv_shared_cover(sv_store *self, int64_t agent, uint64_t seq) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)seq);
    PGresult *result = sv_postgres_run(self, SQL_POLICY_COVERS, &values, &status);
    if (!result) return status;
    bool covered = sv_postgres_get(result, 0, 0) > 0;
    PQclear(result);
    return covered ? sv_postgres_do(self, SQL_POLICIES_BEFORE, &values, NULL) : STORE_NONE;
}

sv_store_status sv_shared_newest(sv_store *self, int64_t agent, uint64_t *version) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    PGresult *result = sv_postgres_run(self, SQL_POLICY_NEWEST, &values, &status);
    if (result) *version = (uint64_t)sv_postgres_get(result, 0, 0);
    PQclear(result);
    return status;
}
