/* Writing what a folder keeps. */
#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"
#include "results/folder.h"
#include "results/parts.h"
#include "results/provenance.h"

/* ---- the files of a label ---- */

static sa_status write_runs(const sa_stored_agent *agent, const char *path) {
    enum { WHOLE = 5, NUMBERS = 6 };
    static const char *const whole[WHOLE] = {"run", "session", "peak_bytes", "diverged_trainings",
                                             "unproven_rounds"};
    static const char *const names[NUMBERS] = {"seconds",       "select_seconds", "update_seconds",
                                               "train_seconds", "replay_seconds", "certificate"};
    const size_t runs = agent->runs;
    int64_t *integers = NULL; /* (WHOLE, runs) */
    double *numbers = NULL;   /* (NUMBERS and the mixture, runs) */
    sa_npz_writer *writer = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_matrix(WHOLE, runs, sizeof *integers, &integers));
    SA_TRY_OR_FAIL(sa_alloc_matrix(NUMBERS + SA_MIXTURE_COUNT, runs, sizeof *numbers, &numbers));
    for (size_t i = 0; i < runs; i++) {
        const sa_run_stats *stats = &agent->stats[i];
        const int64_t own[WHOLE] = {(int64_t)agent->run[i], (int64_t)agent->session[i],
                                    (int64_t)stats->peak_bytes, (int64_t)stats->diverged_trainings,
                                    (int64_t)stats->unproven_rounds};
        const double times[NUMBERS] = {stats->seconds,       stats->select_seconds, stats->update_seconds,
                                       stats->train_seconds, stats->replay_seconds, stats->certificate};
        for (size_t k = 0; k < WHOLE; k++) integers[k * runs + i] = own[k];
        for (size_t k = 0; k < NUMBERS; k++) numbers[k * runs + i] = times[k];
    }
    SA_TRY_OR_FAIL(sa_npz_begin(&writer));
    for (size_t k = 0; k < WHOLE; k++)
        SA_TRY_OR_FAIL(sa_npz_add(writer, whole[k], SA_INT64, 1, &runs, integers + k * runs));
    for (size_t k = 0; k < NUMBERS; k++)
        SA_TRY_OR_FAIL(sa_npz_add(writer, names[k], SA_FLOAT64, 1, &runs, numbers + k * runs));
    for (int k = 0; k < SA_MIXTURE_COUNT; k++) {
        double *row = numbers + (NUMBERS + (size_t)k) * runs; /* which the writer borrows */
        for (size_t i = 0; i < runs; i++) row[i] = *sa_mixture_at(&agent->stats[i].mixture, k);
        SA_TRY_OR_FAIL(sa_npz_add(writer, sa_mixture_name(k), SA_FLOAT64, 1, &runs, row));
    }
    status = sa_npz_finish(writer, path);
    writer = NULL;
fail:
    sa_npz_abandon(writer);
    sa_free(numbers);
    sa_free(integers);
    return status;
}

static sa_status write_file(const char *folder, const sa_stored_agent *agent, int kind) {
    const size_t shape[2] = {agent->runs, agent->rounds};
    char *path;
    if (kind == SA_CURVE_COUNT)
        SA_TRY(sa_format(&path, "%s/%s/runs.npz", folder, agent->label));
    else
        SA_TRY(sa_format(&path, "%s/%s/%s.npy", folder, agent->label, sa_curve_name(kind)));
    sa_status status = kind == SA_CURVE_COUNT ? write_runs(agent, path)
                                              : sa_npy_write(path, SA_FLOAT64, 2, shape, agent->curve[kind]);
    sa_free(path);
    return status;
}

static sa_status write_agent(const char *folder, const sa_stored_agent *agent) {
    char *path;
    SA_TRY(sa_format(&path, "%s/%s", folder, agent->label));
    sa_status status = sa_path_remove(path); /* what a killed process left */
    if (status == SA_OK && agent->runs > 0) status = sa_folder_make(path);
    sa_free(path);
    for (int kind = 0; status == SA_OK && agent->runs > 0 && kind <= SA_CURVE_COUNT; kind++)
        if (kind == SA_CURVE_COUNT || agent->curve[kind]) status = write_file(folder, agent, kind);
    return status;
}

/* ---- the folder ---- */

sa_status sa_stored_write(const sa_stored *stored, const char *folder) {
    char *summary = NULL, *parts = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_format(&summary, "%s/summary.json", folder));
    SA_TRY_OR_FAIL(sa_format(&parts, "%s/parts", folder));
    SA_TRY_OR_FAIL(sa_path_remove(summary));
    for (size_t i = 0; i < stored->agent_count; i++) SA_TRY_OR_FAIL(write_agent(folder, &stored->agents[i]));
    SA_TRY_OR_FAIL(sa_summary_write(stored, summary));
    if (sa_stored_missing(stored) == 0) status = sa_path_remove(parts);
fail:
    sa_free(parts);
    sa_free(summary);
    return status;
}

static sa_status write_part(const sa_stored *stored, const sa_stored_agent *agent, size_t row,
                            const char *parts) {
    double *curve[SA_CURVE_COUNT] = {0};
    char *path, *session;
    SA_TRY(sa_json_text(json_array_get(stored->sessions, agent->session[row]), &session));
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (agent->curve[kind]) curve[kind] = agent->curve[kind] + row * agent->rounds;
    sa_status status = sa_part_path(parts, agent->label, agent->run[row], "npz", &path);
    if (status == SA_OK) {
        if (!sa_file_exists(path))
            status = sa_part_write(path, curve, agent->rounds, &agent->stats[row], session);
        sa_free(path);
    }
    sa_free(session);
    return status;
}

sa_status sa_stored_open(const sa_stored *stored, const char *folder) {
    char *summary = NULL, *parts = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_format(&summary, "%s/summary.json", folder));
    SA_TRY_OR_FAIL(sa_format(&parts, "%s/parts", folder));
    SA_TRY_OR_FAIL(sa_folder_make(parts));
    if (sa_file_exists(summary))
        for (size_t i = 0; i < stored->agent_count; i++)
            for (size_t row = 0; row < stored->agents[i].runs; row++)
                SA_TRY_OR_FAIL(write_part(stored, &stored->agents[i], row, parts));
    status = sa_path_remove(summary);
fail:
    sa_free(parts);
    sa_free(summary);
    return status;
}
