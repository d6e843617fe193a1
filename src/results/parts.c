#include "results/parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"

enum { STATS = 6 };

sa_status sa_part_path(const char *parts, const char *label, uint64_t run, const char *ending, char **path) {
    return sa_format(path, "%s/%s-%" PRIu64 ".%s", parts, label, run, ending);
}

sa_status sa_part_write(const char *path, double *const *curve, size_t rounds, const sa_run_stats *stats,
                        const char *session) {
    const double numbers[STATS] = {
        stats->seconds,       stats->select_seconds,     stats->update_seconds,
        stats->train_seconds, (double)stats->peak_bytes, (double)stats->diverged_trainings};
    const size_t count = STATS, length = strlen(session);
    const int64_t unproven = (int64_t)stats->unproven_rounds;
    sa_mixture mixture = stats->mixture;
    sa_npz_writer *writer;
    sa_status status;
    SA_TRY(sa_npz_begin(&writer));
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (curve[kind])
            SA_TRY_OR_FAIL(sa_npz_add(writer, sa_curve_name(kind), SA_FLOAT64, 1, &rounds, curve[kind]));
    SA_TRY_OR_FAIL(sa_npz_add(writer, "stats", SA_FLOAT64, 1, &count, numbers));
    SA_TRY_OR_FAIL(sa_npz_add(writer, "replay_seconds", SA_FLOAT64, 0, NULL, &stats->replay_seconds));
    SA_TRY_OR_FAIL(sa_npz_add(writer, "certificate", SA_FLOAT64, 0, NULL, &stats->certificate));
    SA_TRY_OR_FAIL(sa_npz_add(writer, "unproven_rounds", SA_INT64, 0, NULL, &unproven));
    for (int i = 0; i < SA_MIXTURE_COUNT && sa_mixture_is_there(&mixture); i++)
        SA_TRY_OR_FAIL(
            sa_npz_add(writer, sa_mixture_name(i), SA_FLOAT64, 0, NULL, sa_mixture_at(&mixture, i)));
    SA_TRY_OR_FAIL(sa_npz_add(writer, "session", SA_UINT8, 1, &length, session));
    return sa_npz_finish(writer, path);
fail:
    sa_npz_abandon(writer);
    return status;
}

static sa_status read_session(sa_npz *archive, char **session) {
    sa_array array = {0};
    if (!sa_npz_has(archive, "session")) return sa_copy_text("", session); /* as older versions left it */
    SA_TRY(sa_npz_get(archive, "session", &array));
    sa_status status = array.type == SA_UINT8 && array.axes == 1
                           ? sa_format(session, "%.*s", (int)array.shape[0], (const char *)array.data)
                           : sa_fail(SA_FORMAT, "its session is no text");
    sa_array_clear(&array);
    return status;
}

/* Not in a part of older versions. */
static sa_status read_mixture(sa_npz *archive, sa_run_stats *stats) {
    int64_t unproven = 0;
    if (!sa_npz_has(archive, "unproven_rounds")) return SA_OK;
    SA_TRY(sa_npz_get_integer(archive, "unproven_rounds", 0, INT64_MAX, &unproven));
    stats->unproven_rounds = (uint64_t)unproven;
    for (int i = 0; i < SA_MIXTURE_COUNT; i++)
        if (sa_npz_has(archive, sa_mixture_name(i)))
            SA_TRY(sa_npz_get_number(archive, sa_mixture_name(i), sa_mixture_at(&stats->mixture, i)));
    return SA_OK;
}

sa_status sa_part_read(const char *path, double *const *curve, size_t rounds, sa_run_stats *stats,
                       char **session) {
    double numbers[STATS];
    const size_t count = STATS;
    sa_npz *archive;
    sa_status status;
    SA_TRY(sa_npz_open(path, &archive));
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (curve[kind])
            SA_TRY_OR_FAIL(
                sa_npz_read_into(archive, sa_curve_name(kind), SA_FLOAT64, 1, &rounds, curve[kind]));
    SA_TRY_OR_FAIL(sa_npz_read_into(archive, "stats", SA_FLOAT64, 1, &count, numbers));
    *stats = (sa_run_stats){.seconds = numbers[0],
                            .select_seconds = numbers[1],
                            .update_seconds = numbers[2],
                            .train_seconds = numbers[3],
                            .peak_bytes = (uint64_t)numbers[4],
                            .diverged_trainings = (uint64_t)numbers[5],
                            .mixture = SA_NO_MIXTURE};
    SA_TRY_OR_FAIL(read_mixture(archive, stats));
    if (sa_npz_has(archive, "replay_seconds")) /* of a part as older versions left it: none */
        SA_TRY_OR_FAIL(sa_npz_get_number(archive, "replay_seconds", &stats->replay_seconds));
    if (sa_npz_has(archive, "certificate"))
        SA_TRY_OR_FAIL(sa_npz_get_number(archive, "certificate", &stats->certificate));
    status = read_session(archive, session);
fail:
    sa_npz_close(archive);
    return status;
}

sa_status sa_part_rounds(const char *path, size_t *rounds) {
    sa_npz *archive;
    sa_array array = {0};
    SA_TRY(sa_npz_open(path, &archive));
    sa_status status = sa_npz_get(archive, sa_curve_name(SA_CURVE_EXPECTED), &array);
    if (status == SA_OK && array.axes != 1) status = sa_fail(SA_FORMAT, "%s has no curve", path);
    if (status == SA_OK) *rounds = array.shape[0];
    sa_array_clear(&array);
    sa_npz_close(archive);
    return status;
}
