/* Folders of one experiment that was split by runs, by agents or both, joined into one. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "results/code.h"
#include "results/folder.h"
#include "results/provenance.h"

enum { VALUE_SIZE = 16384 };

typedef struct pair { /* two of the folders */
    const sa_stored *one, *other;
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
    char path[VALUE_SIZE], other_path[VALUE_SIZE];
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
    char value[VALUE_SIZE], other_value[VALUE_SIZE];
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        bool matters = label ? info.scope == SA_SCOPE_AGENT
                             : info.scope == SA_SCOPE_ENVIRONMENT || info.scope == SA_SCOPE_EXPERIMENT;
        if (!matters || !strcmp(info.name, "runs") || !strcmp(info.name, "first-run")) continue;
        SA_TRY(sa_options_get(one, info.name, value, sizeof value));
        SA_TRY(sa_options_get(other, info.name, other_value, sizeof other_value));
        if (!strcmp(value, other_value) ||
            (!strcmp(info.kind, "path") && is_same_file(two, value, other_value)))
            continue;
        if (!strcmp(info.name, "problem") && is_same_problem(two, value, other_value)) continue;
        return sa_fail(
            SA_INVALID,
            "%.200s and %.200s are different experiments: %s%s%s--%s is %.100s here and %.100s there",
            two->folder, two->other_folder, label ? "agent " : "", label ? label : "", label ? ": " : "",
            info.name, *value ? value : "\"\"", *other_value ? other_value : "\"\"");
    }
    return SA_OK;
}

static bool same_grid(const sa_grid *one, const sa_grid *other) {
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++) {
        const sa_grid_axis *a = &one->axes[i], *b = &other->axes[i];
        same = !strcmp(a->name, b->name) && a->count == b->count;
        for (size_t k = 0; same && k < a->count; k++) same = !strcmp(a->values[k], b->values[k]);
    }
    return same;
}

static sa_stored_agent *find(const sa_stored *stored, const char *label) {
    for (size_t i = 0; i < stored->agent_count; i++)
        if (!strcmp(stored->agents[i].label, label)) return &stored->agents[i];
    return NULL;
}

static sa_status compare_runs(const pair *two, const sa_stored_agent *one, const sa_stored_agent *other) {
    if (one->runs && other->runs && one->rounds != other->rounds)
        return sa_fail(SA_INVALID, "%.200s has %zu rounds of agent %s and %.200s has %zu", two->folder,
                       one->rounds, one->label, two->other_folder, other->rounds);
    for (size_t i = 0; i < one->runs; i++)
        for (size_t k = 0; k < other->runs; k++)
            if ((i == 0 || one->session[i] != one->session[i - 1]) &&
                (k == 0 || other->session[k] != other->session[k - 1]))
                SA_TRY(sa_session_join_code(json_array_get(two->one->sessions, one->session[i]),
                                            json_array_get(two->other->sessions, other->session[k]),
                                            one->label, two->folder, two->other_folder));
    for (size_t i = 0; i < one->runs; i++) {
        size_t row;
        if (!sa_stored_row(other, one->run[i], &row)) continue;
        for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
            if (one->curve[kind] && other->curve[kind] &&
                memcmp(one->curve[kind] + i * one->rounds, other->curve[kind] + row * one->rounds,
                       one->rounds * sizeof(double)))
                return sa_fail(SA_INVALID,
                               "run %" PRIu64
                               " of agent %s is in both %.200s and %.200s, and is not the same",
                               one->run[i], one->label, two->folder, two->other_folder);
    }
    return SA_OK;
}

static sa_status compare(const pair *two) {
    const sa_stored *one = two->one, *other = two->other;
    SA_TRY(compare_options(two, one->spec->options, other->spec->options, NULL));
    if (!same_grid(&one->spec->grid, &other->spec->grid))
        return sa_fail(SA_INVALID, "%.200s and %.200s are different experiments: their grids differ",
                       two->folder, two->other_folder);
    for (size_t i = 0; i < json_array_size(one->sessions); i++)
        for (size_t k = 0; k < json_array_size(other->sessions); k++)
            SA_TRY(sa_session_compare(json_array_get(other->sessions, k), json_array_get(one->sessions, i),
                                      two->folder));
    for (size_t i = 0; i < one->agent_count; i++) {
        const sa_stored_agent *same = find(other, one->agents[i].label);
        if (!same) continue;
        SA_TRY(compare_options(two, one->agents[i].options, same->options, same->label));
        SA_TRY(compare_runs(two, &one->agents[i], same));
    }
    return SA_OK;
}

/* ---- joining ---- */

static size_t add_session(json_t *sessions, json_t *session) {
    size_t count = json_array_size(sessions);
    for (size_t i = 0; i < count; i++)
        if (json_equal(json_array_get(sessions, i), session)) return i;
    json_array_append(sessions, session);
    return count;
}

static void copy_row(const sa_stored *part, const sa_stored_agent *from, size_t row, sa_stored *out,
                     sa_stored_agent *to) {
    size_t at = to->runs++, rounds = to->rounds;
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (to->curve[kind])
            memcpy(to->curve[kind] + at * rounds, from->curve[kind] + row * rounds, rounds * sizeof(double));
    to->run[at] = from->run[row];
    to->stats[at] = from->stats[row];
    to->session[at] = add_session(out->sessions, json_array_get(part->sessions, from->session[row]));
}

/* Run by run, from the first part that has it. */
static sa_status join_agent(sa_stored *parts, size_t count, sa_stored *out, sa_stored_agent *to) {
    size_t rounds = 0, row;
    for (size_t part = 0; part < count; part++) {
        const sa_stored_agent *from = find(&parts[part], to->label);
        if (from && from->runs > 0) rounds = from->rounds;
    }
    if (rounds == 0) return SA_OK;
    SA_TRY(sa_stored_room(to, out->wanted, rounds));
    for (uint64_t run = out->first_run; run < out->first_run + out->wanted; run++)
        for (size_t part = 0; part < count; part++) {
            const sa_stored_agent *from = find(&parts[part], to->label);
            if (!from || !sa_stored_row(from, run, &row)) continue;
            copy_row(&parts[part], from, row, out, to);
            break;
        }
    return SA_OK;
}

static sa_status list_agents(sa_stored *parts, size_t count, sa_stored *out) {
    size_t capacity = 0;
    for (size_t part = 0; part < count; part++)
        for (size_t i = 0; i < parts[part].agent_count; i++) {
            const sa_stored_agent *from = &parts[part].agents[i];
            if (find(out, from->label)) continue;
            SA_TRY(sa_grow_array(&out->agents, &capacity, out->agent_count + 1, sizeof *out->agents));
            sa_stored_agent *agent = &out->agents[out->agent_count++];
            *agent = (sa_stored_agent){.cell = from->cell};
            SA_TRY(sa_copy_text(from->label, &agent->label));
            if (!(agent->options = sa_options_copy(from->options))) return SA_OUT_OF_MEMORY;
        }
    return SA_OK;
}

/* The range of all runs. */
static void take_range(const sa_stored *parts, size_t count, sa_stored *out) {
    uint64_t first = parts[0].first_run, end = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t own_end = parts[i].first_run + parts[i].wanted;
        if (parts[i].first_run < first) first = parts[i].first_run;
        if (own_end > end) end = own_end;
    }
    out->first_run = first;
    out->wanted = end - first;
}

sa_status sa_stored_merge(sa_stored *parts, const char *const *folders, size_t count, sa_stored *out) {
    sa_stored joined = {0};
    sa_status status;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) SA_TRY(compare(&(pair){&parts[j], &parts[i], folders[j], folders[i]}));
    take_range(parts, count, &joined);
    joined.sessions = json_array();
    if (!joined.sessions) return SA_OUT_OF_MEMORY;
    SA_TRY_OR_FAIL(list_agents(parts, count, &joined));
    for (size_t i = 0; i < joined.agent_count; i++)
        SA_TRY_OR_FAIL(join_agent(parts, count, &joined, &joined.agents[i]));
    joined.spec = parts[0].spec;
    parts[0].spec = NULL;
    joined.spec->options->first_run = (int64_t)joined.first_run;
    joined.spec->options->runs = (int64_t)joined.wanted;
    for (size_t i = 0; i < joined.agent_count; i++) {
        joined.agents[i].options->first_run = (int64_t)joined.first_run;
        joined.agents[i].options->runs = (int64_t)joined.wanted;
    }
    *out = joined;
    return SA_OK;
fail:
    sa_stored_clear(&joined);
    return status;
}
