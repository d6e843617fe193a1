#include "results/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"

#define NAME_OF(enumerator, name) name,
static const char *const CURVES[] = {SA_CURVE_LIST(NAME_OF)};

const char *sa_curve_name(sa_curve_kind kind) { return CURVES[kind]; }

#define COLUMN_OF(kind_, field, over_, json_, shown_, report_, title_)                                       \
    {.name = #field,                                                                                         \
     .json = json_,                                                                                          \
     .report = report_,                                                                                      \
     .title = title_,                                                                                        \
     .kind = SA_KIND_OF_##kind_,                                                                             \
     .over = SA_OVER_##over_,                                                                                \
     .shown = SA_SHOWN_##shown_},
const sa_column sa_columns[SA_COLUMN_COUNT] = {SA_COLUMN_LIST(COLUMN_OF)};

_Static_assert(sizeof(sa_run) == SA_COLUMN_COUNT * sizeof(double), "columns are numbers of 8 bytes");

/* ---- runs ---- */

sa_run sa_run_new(uint64_t number) {
    sa_run run = {.run = (int64_t)number, .wall_seconds = NAN}; /* which older files do not have */
    for (size_t k = 0; k < SA_COLUMN_COUNT; k++)
        if (sa_columns[k].kind == SA_KIND_OF_NUMBER) run.number[k] = NAN;
    return run;
}

sa_status sa_row_init(sa_row *row, const sa_agent_runs *agent) {
    *row = (sa_row){0};
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (agent->curve[kind])
            SA_TRY(sa_alloc_array(agent->rounds, sizeof *row->curve[kind], &row->curve[kind]));
    return SA_OK;
}

void sa_row_clear(sa_row *row) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) sa_free(row->curve[kind]);
    *row = (sa_row){0};
}

/* ---- the runs of an agent ---- */

static void free_runs(sa_agent_runs *agent) {
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) sa_free(agent->curve[kind]);
    sa_free(agent->run);
}

void sa_agents_destroy(sa_agent_runs *agents, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free_runs(&agents[i]);
        sa_options_destroy(agents[i].options);
        sa_free(agents[i].label);
    }
    sa_free(agents);
}

sa_status sa_agent_room(sa_agent_runs *agent, size_t runs, size_t rounds) {
    bool clicks = agent->options->clicks != SA_CLICKS_NONE;
    agent->rounds = rounds;
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (kind != SA_CURVE_CLICKS || clicks)
            SA_TRY(sa_alloc_matrix(runs, rounds, sizeof(double), &agent->curve[kind]));
    return sa_alloc_array(runs, sizeof *agent->run, &agent->run);
}

/* Where the run is, or belongs. */
static size_t place_of(const sa_agent_runs *agent, uint64_t run) {
    size_t low = 0, high = agent->runs;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uint64_t)agent->run[middle].run < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool sa_agent_has(const sa_agent_runs *agent, uint64_t run, size_t *row) {
    *row = place_of(agent, run);
    return *row < agent->runs && (uint64_t)agent->run[*row].run == run;
}

sa_row sa_agent_row(const sa_agent_runs *agent, size_t row) {
    sa_row view = {.run = agent->run[row]};
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (agent->curve[kind]) view.curve[kind] = agent->curve[kind] + row * agent->rounds;
    return view;
}

/* Moves the rows from `from` on to `to`. */
static void move_rows(sa_agent_runs *agent, size_t from, size_t to) {
    size_t rounds = agent->rounds, count = agent->runs - from;
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++) {
        double *curve = agent->curve[kind];
        if (curve) memmove(curve + to * rounds, curve + from * rounds, count * rounds * sizeof *curve);
    }
    memmove(agent->run + to, agent->run + from, count * sizeof *agent->run);
}

void sa_agent_insert(sa_agent_runs *agent, const sa_row *row) {
    size_t place = place_of(agent, (uint64_t)row->run.run);
    move_rows(agent, place, place + 1);
    agent->runs++;
    agent->run[place] = row->run;
    sa_row to = sa_agent_row(agent, place);
    for (int kind = 0; kind < SA_CURVE_COUNT; kind++)
        if (to.curve[kind] && row->curve[kind])
            memcpy(to.curve[kind], row->curve[kind], agent->rounds * sizeof(double));
}

void sa_agent_remove(sa_agent_runs *agent, size_t row) {
    move_rows(agent, row + 1, row);
    agent->runs--;
}

/* ---- all of them ---- */

void sa_results_clear(sa_results *results) {
    sa_agents_destroy(results->agents, results->agent_count);
    if (results->own) sa_spec_clear(results->own);
    sa_free(results->own);
    json_decref(results->sessions);
    *results = (sa_results){0};
}

sa_agent_runs *sa_results_find(const sa_results *results, const char *label) {
    for (size_t i = 0; i < results->agent_count; i++)
        if (!strcmp(results->agents[i].label, label)) return &results->agents[i];
    return NULL;
}

size_t sa_results_session(sa_results *results, json_t *session) {
    size_t count = json_array_size(results->sessions);
    for (size_t i = 0; i < count; i++)
        if (json_equal(json_array_get(results->sessions, i), session)) return i;
    json_array_append(results->sessions, session);
    return count;
}

void sa_results_join(sa_results *results, const sa_results *other) {
    for (size_t i = 0; i < results->agent_count; i++) {
        sa_agent_runs *agent = &results->agents[i];
        const sa_agent_runs *from = sa_results_find(other, agent->label);
        for (size_t k = 0; from && k < from->runs; k++) {
            sa_row row = sa_agent_row(from, k);
            uint64_t number = (uint64_t)row.run.run;
            size_t place;
            if (number < results->first_run || number >= results->first_run + results->wanted) continue;
            if (sa_agent_has(agent, number, &place)) continue;
            json_t *session = json_array_get(other->sessions, (size_t)row.run.session);
            row.run.session = (int64_t)sa_results_session(results, session);
            sa_agent_insert(agent, &row);
        }
    }
}

size_t sa_results_missing(const sa_results *results) {
    size_t missing = 0;
    for (size_t i = 0; i < results->agent_count; i++) missing += results->wanted - results->agents[i].runs;
    return missing;
}

static void add_missing(sa_buffer *buffer, const sa_results *results, const sa_agent_runs *agent) {
    const char *join = agent->label;
    const uint64_t end = results->first_run + results->wanted;
    size_t row;
    for (uint64_t run = results->first_run; run < end; run++) {
        uint64_t first = run;
        while (run < end && !sa_agent_has(agent, run, &row)) run++;
        if (run == first) continue;
        sa_buffer_text(buffer, join);
        join = ",";
        if (run - first == 1)
            sa_buffer_format(buffer, " run %" PRIu64, first);
        else
            sa_buffer_format(buffer, " runs %" PRIu64 " to %" PRIu64, first, run - 1);
    }
}

sa_status sa_results_missing_text(const sa_results *results, char **text) {
    enum { SHOWN = 8 };
    sa_buffer buffer = {0};
    size_t agents = 0;
    sa_buffer_text(&buffer, "");
    for (size_t i = 0; i < results->agent_count; i++) {
        const sa_agent_runs *agent = &results->agents[i];
        if (agent->runs == results->wanted || agents++ >= SHOWN) continue;
        if (agents > 1) sa_buffer_text(&buffer, "; ");
        add_missing(&buffer, results, agent);
    }
    if (agents > SHOWN) sa_buffer_format(&buffer, "; and of %zu other agents", agents - SHOWN);
    *text = buffer.text;
    return buffer.status;
}

/* ---- columns in files ---- */

static sa_dtype type_of(size_t column) {
    return sa_columns[column].kind <= SA_KIND_OF_BYTES ? SA_INT64 : SA_FLOAT64;
}

sa_status sa_columns_write(sa_npz_writer *writer, const sa_run *runs, size_t count, bool part) {
    for (size_t k = part ? SA_COLUMN_KEYS : 0; k < SA_COLUMN_COUNT; k++) {
        int64_t *cells; /* of numbers, too: eight bytes are copied */
        SA_TRY(sa_npz_own(writer, count, sizeof *cells, &cells));
        for (size_t i = 0; i < count; i++) cells[i] = runs[i].whole[k];
        SA_TRY(sa_npz_add(writer, sa_columns[k].name, type_of(k), part ? 0 : 1, part ? NULL : &count, cells));
    }
    return SA_OK;
}

/* Parts had these once, in one array. */
static sa_status read_older(sa_npz *archive, sa_run *run) {
    double numbers[6];
    const size_t count = 6;
    SA_TRY(sa_npz_read_into(archive, "stats", SA_FLOAT64, 1, &count, numbers));
    run->seconds = numbers[0];
    run->select_seconds = numbers[1];
    run->update_seconds = numbers[2];
    run->train_seconds = numbers[3];
    run->peak_bytes = (int64_t)numbers[4];
    run->diverged_trainings = (int64_t)numbers[5];
    return SA_OK;
}

sa_status sa_columns_read(sa_npz *archive, sa_run *runs, size_t count, bool part) {
    int64_t *cells;
    SA_TRY(sa_alloc_array(count, sizeof *cells, &cells));
    sa_status status = part && sa_npz_has(archive, "stats") ? read_older(archive, runs) : SA_OK;
    for (size_t k = part ? SA_COLUMN_KEYS : 0; status == SA_OK && k < SA_COLUMN_COUNT; k++) {
        const char *name = sa_columns[k].name;
        if (k >= SA_COLUMN_KEYS && !sa_npz_has(archive, name)) continue;
        status = sa_npz_read_into(archive, name, type_of(k), part ? 0 : 1, part ? NULL : &count, cells);
        for (size_t i = 0; status == SA_OK && i < count; i++) runs[i].whole[k] = cells[i];
    }
    sa_free(cells);
    return status;
}
