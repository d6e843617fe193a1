#include "results/parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "results/provenance.h"

sa_status sa_part_path(const char *parts, const char *label, uint64_t run, const char *ending, char **path) {
    return sa_format(path, "%s/%s-%" PRIu64 ".%s", parts, label, run, ending);
}

/* ---- writing ---- */

static sa_status add_row(sa_npz_writer *writer, const sa_row *row, const size_t *rounds,
                         const char *session) {
    const size_t length = strlen(session);
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (row->curve[kind])
            SA_TRY(sa_npz_add(writer, sa_curve_name(kind), SA_FLOAT64, 1, rounds, row->curve[kind]));
    SA_TRY(sa_columns_write(writer, &row->run, 1, true));
    return sa_npz_add(writer, "session", SA_UINT8, 1, &length, session);
}

sa_status sa_part_write(const char *parts, const sa_agent_runs *agent, const sa_row *row,
                        const json_t *session) {
    sa_npz_writer *writer = NULL;
    char *path = NULL, *text = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_part_path(parts, agent->label, (uint64_t)row->run.run, "npz", &path));
    SA_TRY_OR_FAIL(sa_json_text(session, &text));
    SA_TRY_OR_FAIL(sa_npz_begin(&writer));
    SA_TRY_OR_FAIL(add_row(writer, row, &agent->rounds, text));
    status = sa_npz_finish(writer, path);
    writer = NULL;
fail:
    sa_npz_abandon(writer);
    sa_free(text);
    sa_free(path);
    return status;
}

/* ---- reading ---- */

/* Parts of older versions have none: nothing is known of who made them. */
static sa_status read_session(sa_npz *archive, json_t **session) {
    sa_array array = {0};
    if (sa_npz_has(archive, "session")) SA_TRY(sa_npz_get(archive, "session", &array));
    *session = array.data ? json_loadb(array.data, sa_array_count(&array), 0, NULL) : NULL;
    sa_array_clear(&array);
    if (!*session) *session = json_object();
    return *session ? SA_OK : SA_OUT_OF_MEMORY;
}

/* The first part tells how long the runs are. */
static sa_status find_rounds(sa_npz *archive, sa_results *results, sa_agent_runs *agent) {
    sa_array array = {0};
    if (agent->run) return SA_OK;
    SA_TRY(sa_npz_get(archive, sa_curve_name(SA_CURVE_EXPECTED), &array));
    size_t rounds = array.axes == 1 ? array.shape[0] : 0;
    sa_array_clear(&array);
    return rounds ? sa_agent_room(agent, results->wanted, rounds) : sa_fail(SA_FORMAT, "it has no curve");
}

static sa_status read_row(sa_npz *archive, const sa_agent_runs *agent, sa_row *row, json_t **session) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (row->curve[kind])
            SA_TRY(sa_npz_read_into(archive, sa_curve_name(kind), SA_FLOAT64, 1, &agent->rounds,
                                    row->curve[kind]));
    SA_TRY(sa_columns_read(archive, &row->run, 1, true));
    return read_session(archive, session);
}

sa_status sa_part_take(const char *parts, sa_results *results, sa_agent_runs *agent, uint64_t run) {
    char *path;
    sa_npz *archive = NULL;
    sa_row row = {0};
    json_t *session = NULL;
    SA_TRY(sa_part_path(parts, agent->label, run, "npz", &path));
    sa_status status = sa_file_exists(path) ? sa_npz_open(path, &archive) : SA_FILE;
    if (status == SA_OK) status = find_rounds(archive, results, agent);
    if (status == SA_OK) status = sa_row_init(&row, agent);
    row.run = sa_run_new(run);
    if (status == SA_OK) status = read_row(archive, agent, &row, &session);
    if (status == SA_OK) {
        row.run.session = (int64_t)sa_results_session(results, session);
        sa_agent_insert(agent, &row);
    }
    json_decref(session);
    sa_row_clear(&row);
    sa_npz_close(archive);
    sa_free(path);
    return status == SA_OUT_OF_MEMORY ? status : SA_OK;
}
