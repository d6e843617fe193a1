/* The table of results: of each agent the runs that are done, which need not be all, and of each run its
 * curves and its columns. What is known of a run stands in one of the two lists below and nowhere else: they
 * yield the structs, the arrays of files, summary.json, what several runs come to, and what reports show by
 * name.
 *
 * * Going on with a folder, joining folders, sweeps and reports are operations on this table. */
#ifndef SA_RESULTS_TABLE_H
#define SA_RESULTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/npy.h"
#include "spec/spec.h"
#include <superarm/experiment.h>

/* ---- the lists ---- */

/* What is added up round by round: X(ENUMERATOR, "name of its file"). */
#define SA_CURVE_LIST(X)                                                                                     \
    X(EXPECTED, "expected_regret") X(REALISED, "realised_regret") X(REWARD, "reward") X(CLICKS, "clicks")

/* What is known of a run when it is over: X(kind, field, over, "summary.json", shown, "report", "title").
 *
 *   kind    KEY, COUNT, BYTES: whole numbers; SECONDS, of the processor unless on the wall; FACTOR: 1 or
 *           more, 0 where there is none; NUMBER: NaN where there is none
 *   field   of the struct, and the name in runs.npz
 *   over    several runs: their MEAN, SUM or LARGEST
 *   "..."   the name in summary.json, "mixture.a" for an entry of an object; "": not there
 *   shown   in reports: ALWAYS; INEXACT, where an agent has more than 1; NAMED, if --columns has it; NEVER
 *   "..."   the name in --columns, and the title above the numbers */
/* clang-format off */
#define SA_COLUMN_LIST(X)                                                                                    \
    X(KEY,     run,                LARGEST, "",                   NEVER,   "",               "")             \
    X(KEY,     session,            LARGEST, "",                   NEVER,   "",               "")             \
    X(SECONDS, seconds,            MEAN,    "seconds_per_run",    ALWAYS,  "seconds",        "s/run")        \
    X(SECONDS, wall_seconds,       MEAN,    "wall_seconds_per_run", NAMED, "wall-seconds",   "wall s/run")   \
    X(SECONDS, select_seconds,     MEAN,    "select_seconds",     NAMED,   "select-seconds", "select s")     \
    X(SECONDS, update_seconds,     MEAN,    "update_seconds",     NAMED,   "update-seconds", "update s")     \
    X(SECONDS, train_seconds,      MEAN,    "train_seconds",      NAMED,   "train-seconds",  "train s")      \
    X(SECONDS, replay_seconds,     MEAN,    "replay_seconds",     NAMED,   "replay-seconds", "replay s")     \
    X(BYTES,   peak_bytes,         LARGEST, "peak_bytes",         ALWAYS,  "memory",         "memory")       \
    X(COUNT,   diverged_trainings, SUM,     "diverged_trainings", ALWAYS,  "diverged",       "diverged")     \
    X(FACTOR,  certificate,        LARGEST, "certificate",        INEXACT, "certificate",    "certificate")  \
    X(NUMBER,  a,                  MEAN,    "mixture.a",          NEVER,   "",               "")             \
    X(NUMBER,  b,                  MEAN,    "mixture.b",          NEVER,   "",               "")             \
    X(NUMBER,  c,                  MEAN,    "mixture.c",          NEVER,   "",               "")             \
    X(NUMBER,  unit,               MEAN,    "mixture.unit",       NEVER,   "",               "")             \
    X(COUNT,   unproven_rounds,    SUM,     "",                   NEVER,   "",               "")             \
    X(NUMBER,  switches,           MEAN,    "switches",           NAMED,   "switches",       "switches")
/* clang-format on */

/* ---- what they yield ---- */

typedef enum sa_curve_kind {
#define SA_CURVE_ENUM(enumerator, name) SA_CURVE_##enumerator,
    SA_CURVE_LIST(SA_CURVE_ENUM) SA_CURVE_COUNT
#undef SA_CURVE_ENUM
} sa_curve_kind;

const char *sa_curve_name(sa_curve_kind kind);

typedef enum sa_column_kind {
    SA_KIND_OF_KEY,
    SA_KIND_OF_COUNT,
    SA_KIND_OF_BYTES,
    SA_KIND_OF_SECONDS,
    SA_KIND_OF_FACTOR,
    SA_KIND_OF_NUMBER
} sa_column_kind;
typedef enum sa_column_over { SA_OVER_MEAN, SA_OVER_SUM, SA_OVER_LARGEST } sa_column_over;
typedef enum sa_column_shown {
    SA_SHOWN_ALWAYS,
    SA_SHOWN_INEXACT,
    SA_SHOWN_NAMED,
    SA_SHOWN_NEVER
} sa_column_shown;

typedef struct sa_column {
    const char *name, *json, *report, *title;
    sa_column_kind kind;
    sa_column_over over;
    sa_column_shown shown;
} sa_column;

#define SA_COLUMN_ONE(...) +1
enum { SA_COLUMN_KEYS = 2, SA_COLUMN_COUNT = 0 SA_COLUMN_LIST(SA_COLUMN_ONE) };
extern const sa_column sa_columns[SA_COLUMN_COUNT];

#define SA_TYPE_OF_KEY int64_t
#define SA_TYPE_OF_COUNT int64_t
#define SA_TYPE_OF_BYTES int64_t
#define SA_TYPE_OF_SECONDS double
#define SA_TYPE_OF_FACTOR double
#define SA_TYPE_OF_NUMBER double

/* The columns of a run, by name and by index. */
typedef union sa_run {
    struct {
#define SA_COLUMN_FIELD(kind, field, ...) SA_TYPE_OF_##kind field;
        SA_COLUMN_LIST(SA_COLUMN_FIELD)
#undef SA_COLUMN_FIELD
    };
    int64_t whole[SA_COLUMN_COUNT];
    double number[SA_COLUMN_COUNT];
} sa_run;

/* What several runs come to (statistics.h). */
typedef struct sa_totals {
    union {
        struct {
#define SA_COLUMN_FIELD(kind, field, ...) double field;
            SA_COLUMN_LIST(SA_COLUMN_FIELD)
#undef SA_COLUMN_FIELD
        };
        double column[SA_COLUMN_COUNT]; /* NaN: there is none */
    };
    sa_mean final[SA_CURVE_COUNT]; /* of the curves' ends */
    /* there are several runs, and all are the same: they tell no more than one, and there is no
     * interval */
    bool alike;
} sa_totals;

/* ---- the table ---- */

typedef struct sa_agent_runs {
    char *label;
    sa_options *options; /* all of them, those of its environment included */
    sa_own_agent code;   /* of the caller's own, to make runs with; without `select` it is one of ours */
    size_t cell;         /* of the grid */
    size_t runs, rounds;
    sa_run *run;                   /* (runs) by their numbers, increasing */
    double *curve[SA_CURVE_COUNT]; /* (runs, rounds), cumulative; clicks: NULL without --clicks */
} sa_agent_runs;

typedef struct sa_results {
    const sa_spec *spec;       /* what was asked for */
    sa_spec *own;              /* the same where it is the table's, as spec.yaml has it; else NULL */
    const sa_options *options; /* for all agents */
    sa_agent_runs *agents;     /* (agent_count) */
    size_t agent_count;
    uint64_t first_run;
    size_t wanted;    /* runs of each agent that were asked for */
    json_t *sessions; /* an array: the processes that made them (provenance.h) */
    bool has_parts;   /* runs that the files of the labels may not have */
} sa_results;

/* One run, in the table or on its way there. */
typedef struct sa_row {
    sa_run run;
    double *curve[SA_CURVE_COUNT]; /* (rounds) or NULL */
} sa_row;

void sa_agents_destroy(sa_agent_runs *agents, size_t count);
void sa_results_clear(sa_results *results);

/* A run of which nothing is known but its number. */
sa_run sa_run_new(uint64_t number);
/* Room for a run of this agent; sa_row_clear also after a failure. */
sa_status sa_row_init(sa_row *row, const sa_agent_runs *agent);
void sa_row_clear(sa_row *row);

/* Makes room for so many runs, with the curves that the agent's options call for. */
sa_status sa_agent_room(sa_agent_runs *agent, size_t runs, size_t rounds);
/* Has the agent this run? At which row? */
bool sa_agent_has(const sa_agent_runs *agent, uint64_t run, size_t *row);
/* The row as it stands in the table: its curves are the table's. */
sa_row sa_agent_row(const sa_agent_runs *agent, size_t row);
/* Copies a run that is not there into its place, for which there must be room. */
void sa_agent_insert(sa_agent_runs *agent, const sa_row *row);
void sa_agent_remove(sa_agent_runs *agent, size_t row);

/* NULL: there is none with this label. */
sa_agent_runs *sa_results_find(const sa_results *results, const char *label);
/* Its index among the sessions, once it is there. */
size_t sa_results_session(sa_results *results, json_t *session);
/* Takes over the runs of the other's agents that are asked for here and missing. There must be room. */
void sa_results_join(sa_results *results, const sa_results *other);
/* Runs that are asked for and not there, over all agents. */
size_t sa_results_missing(const sa_results *results);
/* "cn-ucb: runs 3 and 5 to 9" for each agent, or the first few of them; caller frees. "" when nothing is
 * missing. */
sa_status sa_results_missing_text(const sa_results *results, char **text);

/* ---- columns in files ---- */

/* Adds the columns of the runs (count) as arrays, or, in the part of one run, all but the keys as numbers. */
sa_status sa_columns_write(sa_npz_writer *writer, const sa_run *runs, size_t count, bool part);
/* Reads them; what is not there stays as it is, but the keys of whole tables must be. */
sa_status sa_columns_read(sa_npz *archive, sa_run *runs, size_t count, bool part);

#endif
