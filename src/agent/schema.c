/* An agent's schema: kept with it, and saved in its file. */
#include "agent/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

sa_status sa_agent_create_with_schema(const sa_options *options, sa_schema *schema, sa_agent **out) {
    if (!options || !schema || !out)
        return sa_fail(SA_INVALID,
                       "sa_agent_create_with_schema needs options, a schema and a place for the agent");
    size_t dim = sa_schema_dim(schema);
    if (sa_options_given(options, "dim") && (size_t)options->dim != dim)
        return sa_fail(SA_INVALID, "--dim %lld is not that of the schema, %zu: leave it out",
                       (long long)options->dim, dim);
    sa_options *copy = sa_options_copy(options);
    if (!copy) return SA_OUT_OF_MEMORY;
    char text[32];
    snprintf(text, sizeof text, "%zu", dim);
    sa_status status = sa_options_set(copy, "dim", text);
    if (status == SA_OK) status = sa_agent_create(copy, out);
    sa_options_destroy(copy);
    SA_TRY(status);
    sa_schema_retain(schema);
    (*out)->schema = schema;
    return SA_OK;
}

const sa_schema *sa_agent_schema(const sa_agent *agent) { return agent->schema; }

/* ---- another schema ---- */

static bool same(const sa_schema_column *one, const sa_schema_column *other) {
    return !strcmp(one->part, other->part) && !strcmp(one->field, other->field) &&
           !strcmp(one->kind, other->kind) && one->size == other->size;
}

/* A column of `one` that `other` does not have, or has differently; false when there is none. */
static bool find_other(const sa_schema *one, const sa_schema *other, sa_schema_column *column) {
    sa_schema_column there;
    for (size_t i = 0; sa_schema_column_at(one, i, column); i++) {
        bool found = false;
        for (size_t j = 0; !found && sa_schema_column_at(other, j, &there); j++) found = same(column, &there);
        if (!found) return true;
    }
    return false;
}

sa_status sa_agent_check_schema(const sa_agent *agent, const sa_schema *schema) {
    static const char advice[] =
        "an agent keeps the schema that it was made with: make a new one from your logs";
    sa_schema_column column;
    if (!agent->schema) return sa_fail(SA_INVALID, "the agent has no schema, and %s", advice);
    if (!strcmp(sa_schema_text(agent->schema), sa_schema_text(schema))) return SA_OK;
    if (find_other(schema, agent->schema, &column))
        return sa_fail(SA_INVALID, "the schema has %s.%s (%s, %zu columns), and the agent's has not; %s",
                       column.part, column.field, column.kind, column.size, advice);
    if (find_other(agent->schema, schema, &column))
        return sa_fail(SA_INVALID, "the schema lacks %s.%s (%s, %zu columns) of the agent's; %s", column.part,
                       column.field, column.kind, column.size, advice);
    return sa_fail(SA_INVALID, "the schema has the agent's fields in another order or with other values; %s",
                   advice);
}

/* ---- files ---- */

sa_status sa_agent_save_schema(const sa_agent *agent, sa_npz_writer *writer) {
    if (!agent->schema) return SA_OK;
    const char *text = sa_schema_text(agent->schema);
    size_t length = strlen(text);
    return sa_npz_add(writer, "schema", SA_UINT8, 1, &length, text);
}

sa_status sa_agent_load_schema(sa_agent *agent, sa_npz *archive) {
    sa_array array = {0};
    if (!sa_npz_has(archive, "schema")) return SA_OK;
    SA_TRY(sa_npz_get_exactly(archive, "schema", SA_UINT8, 0, NULL, &array));
    sa_status status = sa_schema_parse(array.data, sa_array_count(&array), "schema", &agent->schema);
    sa_array_clear(&array);
    if (status != SA_OK) return status == SA_INVALID ? SA_FORMAT : status;
    if (sa_schema_dim(agent->schema) == (size_t)agent->given->dim) return SA_OK;
    return sa_fail(SA_FORMAT, "the schema has %zu features, and the agent %lld", sa_schema_dim(agent->schema),
                   (long long)agent->given->dim);
}
