#include "results/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "oracle/oracle.h"
#include "results/code.h"
#include "results/provenance.h"
#include "spec/values.h"

typedef struct pair { /* two of the folders */
    const sa_results *one, *other;
    const char *folder, *other_folder;
} pair;

/* ---- may they be joined? ---- */

/* A file may be elsewhere on another machine, if it is the same file. */
static bool is_same_file(const pair *two, const char *path, const char *other) {
    const char *hash = sa_session_hash(two->one->sessions, path);
    const char *other_hash = sa_session_hash(two->other->sessions, other);
    return hash && other_hash && !strcmp(hash, other_hash);
}

/* The entries of two --problem, in order: the same text, or the same files. */
static bool is_same_problem(const pair *two, const char *one, const char *other) {
    sa_problem_entry a, b;
    char path[SA_VALUE_SIZE], other_path[SA_VALUE_SIZE];
    while (sa_problem_text_next(&one, &a)) {
        if (!sa_problem_text_next(&other, &b) || a.name_size != b.name_size ||
            strncmp(a.name, b.name, a.name_size))
            return false;
        snprintf(path, sizeof path, "%.*s", (int)a.value_size, a.value);
        snprintf(other_path, sizeof other_path, "%.*s", (int)b.value_size, b.value);
        if (strcmp(path, other_path) && !is_same_file(two, path, other_path)) return false;
    }
    return !sa_problem_text_next(&other, &b);
}

static sa_status compare_options(const pair *two, const sa_options *one, const sa_options *other,
                                 const char *label) {
    char value[SA_VALUE_SIZE], other_value[SA_VALUE_SIZE];
    sa_option_info info;
    bool same;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        bool matters = label ? info.scope == SA_SCOPE_AGENT
                             : info.scope == SA_SCOPE_ENVIRONMENT || info.scope == SA_SCOPE_EXPERIMENT;
        if (!matters || !strcmp(info.name, "runs") || !strcmp(info.name, "first-run")) continue;
        SA_TRY(sa_options_compare(one, other, info.name, value, other_value, &same));
        if (same || (!strcmp(info.kind, "path") && is_same_file(two, value, other_value))) continue;
        if (!strcmp(info.name, "problem") && is_same_problem(two, value, other_value)) continue;
        return sa_fail(
            SA_INVALID,
            "%.200s and %.200s are different experiments: %s%s%s--%s is %.100s here and %.100s there",
            two->folder, two->other_folder, label ? "agent " : "", label ? label : "", label ? ": " : "",
            info.name, *value ? value : "\"\"", *other_value ? other_value : "\"\"");
    }
    return SA_OK;
}

/* No run of one is of other code than one of the other. */
static sa_status compare_code(const pair *two, const sa_agent_runs *one, const sa_agent_runs *other) {
    for (size_t i = 0; i < one->runs; i++)
        for (size_t k = 0; k < other->runs; k++)
            if ((i == 0 || one->run[i].session != one->run[i - 1].session) &&
                (k == 0 || other->run[k].session != other->run[k - 1].session))
                SA_TRY(
                    sa_session_join_code(json_array_get(two->one->sessions, (size_t)one->run[i].session),
                                         json_array_get(two->other->sessions, (size_t)other->run[k].session),
                                         one->label, two->folder, two->other_folder));
    return SA_OK;
}

static sa_status compare_runs(const pair *two, const sa_agent_runs *one, const sa_agent_runs *other) {
    if (one->runs && other->runs && one->rounds != other->rounds)
        return sa_fail(SA_INVALID, "%.200s has %zu rounds of agent %s and %.200s has %zu", two->folder,
                       one->rounds, one->label, two->other_folder, other->rounds);
    SA_TRY(compare_code(two, one, other));
    for (size_t i = 0; i < one->runs; i++) {
        size_t place;
        if (!sa_agent_has(other, (uint64_t)one->run[i].run, &place)) continue;
        sa_row row = sa_agent_row(one, i), other_row = sa_agent_row(other, place);
        for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
            if (row.curve[kind] && other_row.curve[kind] &&
                memcmp(row.curve[kind], other_row.curve[kind], one->rounds * sizeof(double)))
                return sa_fail(SA_INVALID,
                               "run %" PRId64
                               " of agent %s is in both %.200s and %.200s, and is not the same",
                               row.run.run, one->label, two->folder, two->other_folder);
    }
    return SA_OK;
}

static sa_status compare(const pair *two) {
    const sa_results *one = two->one, *other = two->other;
    SA_TRY(compare_options(two, one->options, other->options, NULL));
    if (!sa_grid_equal(&one->spec->grid, &other->spec->grid))
        return sa_fail(SA_INVALID, "%.200s and %.200s are different experiments: their grids differ",
                       two->folder, two->other_folder);
    for (size_t i = 0; i < json_array_size(one->sessions); i++)
        for (size_t k = 0; k < json_array_size(other->sessions); k++)
            SA_TRY(sa_session_compare(json_array_get(other->sessions, k), json_array_get(one->sessions, i),
                                      two->folder));
    for (size_t i = 0; i < one->agent_count; i++) {
        const sa_agent_runs *same = sa_results_find(other, one->agents[i].label);
        if (!same) continue;
        SA_TRY(compare_options(two, one->agents[i].options, same->options, same->label));
        SA_TRY(compare_runs(two, &one->agents[i], same));
    }
    return SA_OK;
}

/* ---- joining ---- */

static sa_status list_agents(const sa_results *parts, size_t count, sa_results *out) {
    size_t capacity = 0;
    for (size_t part = 0; part < count; part++)
        for (size_t i = 0; i < parts[part].agent_count; i++) {
            const sa_agent_runs *from = &parts[part].agents[i];
            sa_agent_runs *agent = sa_results_find(out, from->label);
            if (!agent) {
                SA_TRY(sa_grow_array(&out->agents, &capacity, out->agent_count + 1, sizeof *out->agents));
                agent = &out->agents[out->agent_count++];
                *agent = (sa_agent_runs){.cell = from->cell};
                SA_TRY(sa_copy_text(from->label, &agent->label));
                if (!(agent->options = sa_options_copy(from->options))) return SA_OUT_OF_MEMORY;
                agent->options->first_run = (int64_t)out->first_run;
                agent->options->runs = (int64_t)out->wanted;
            }
            if (!agent->run && from->runs > 0) SA_TRY(sa_agent_room(agent, out->wanted, from->rounds));
        }
    return SA_OK;
}

/* The range of all runs. */
static void take_range(const sa_results *parts, size_t count, sa_results *out) {
    uint64_t first = parts[0].first_run, end = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t own_end = parts[i].first_run + parts[i].wanted;
        if (parts[i].first_run < first) first = parts[i].first_run;
        if (own_end > end) end = own_end;
    }
    out->first_run = first;
    out->wanted = end - first;
}

sa_status sa_results_merge(sa_results *parts, const char *const *folders, size_t count, sa_results *out) {
    *out = (sa_results){.sessions = json_array()};
    if (!out->sessions) return SA_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) SA_TRY(compare(&(pair){&parts[j], &parts[i], folders[j], folders[i]}));
    take_range(parts, count, out);
    SA_TRY(list_agents(parts, count, out));
    for (size_t i = 0; i < count; i++) sa_results_join(out, &parts[i]);
    out->spec = out->own = parts[0].own;
    out->options = out->own->options;
    parts[0].own = NULL;
    out->own->options->first_run = (int64_t)out->first_run;
    out->own->options->runs = (int64_t)out->wanted;
    return SA_OK;
}
