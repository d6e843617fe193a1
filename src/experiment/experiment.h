/* What the files of this folder share: the experiment as it was asked for, and the plan that comes of it. */
#ifndef SA_EXPERIMENT_EXPERIMENT_H
#define SA_EXPERIMENT_EXPERIMENT_H

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buffer.h"
#include "base/callback_lock.h"
#include "base/lock.h"
#include "env/clicks.h"
#include "env/environment.h"
#include "options/options.h"
#include "oracle/oracle.h"
#include "spec/grid.h"
#include <superarm/superarm.h>

/* ---- as asked for (spec.c) ---- */

typedef struct sa_spec_agent {
    char *label;
    sa_options *own;   /* what was set for this agent: the options that are `given` */
    sa_own_agent code; /* of the caller's own; without `select` it is one of ours */
} sa_spec_agent;

struct sa_experiment {
    sa_options *options;   /* for all agents */
    sa_spec_agent *agents; /* (agent_count) from --agent and `agents:` */
    size_t agent_count, agent_capacity;
    sa_grid grid;
    char *presets; /* what a spec says of presets, "tuned-1,tuned-1 init=uniform"; NULL: nothing */
    sa_own_environment environment; /* of the caller's own; without `contexts` there is none */
    sa_oracle_callbacks oracle;     /* likewise; with alpha 0 there is none */
    sa_callback_lock turns;         /* of all callbacks */
    struct sa_work *work; /* of the last check; holds the results once it is `finished`. NULL before */
    bool checked;         /* the work fits the options and has not been done */
};

/* ---- as it will be done (plan.c) ---- */

/* The numbers of an agent's mixture, by the names that files have for them (mixture.c). */
enum { SA_MIXTURE_COUNT = 4 };
#define SA_NO_MIXTURE ((sa_mixture){NAN, NAN, NAN, NAN})
const char *sa_mixture_name(int index);
double *sa_mixture_at(sa_mixture *mixture, int index);
bool sa_mixture_is_there(const sa_mixture *mixture);
/* "a": 0.1, "b": ... */
void sa_mixture_write(const sa_mixture *mixture, int digits, sa_buffer *buffer);

typedef struct sa_run_stats {
    double seconds, select_seconds, update_seconds, train_seconds,
        replay_seconds; /* the last four do not overlap */
    uint64_t peak_bytes, diverged_trainings;
    double certificate;       /* the largest of a decision; 0: none had one */
    uint64_t unproven_rounds; /* whose best slate nobody knows for sure (benchmark.c) */
    sa_mixture mixture;       /* at the end */
} sa_run_stats;

/* What is added up round by round: X(ENUMERATOR, "name of its file"). */
#define SA_CURVE_LIST(X)                                                                                     \
    X(EXPECTED, "expected_regret") X(REALISED, "realised_regret") X(REWARD, "reward") X(CLICKS, "clicks")

typedef enum sa_curve_kind {
#define SA_CURVE_ENUM(enumerator, name) SA_CURVE_##enumerator,
    SA_CURVE_LIST(SA_CURVE_ENUM) SA_CURVE_COUNT
#undef SA_CURVE_ENUM
} sa_curve_kind;

const char *sa_curve_name(sa_curve_kind kind);

/* Over the runs of an agent. */
typedef struct sa_totals {
    sa_run_stats stats; /* means of the times, the largest memory and certificate, the sum of diverged */
    sa_mean final[SA_CURVE_COUNT]; /* of the curves' ends */
    /* there are several runs, and all are the same: they tell no more than one, and there is no
     * interval */
    bool alike;
} sa_totals;

/* curve[k] (runs, rounds) or NULL, stats (runs) */
sa_totals sa_totals_of(double *const *curve, const sa_run_stats *stats, size_t runs, size_t rounds);

/* What the regret of an agent is: alpha of alpha R(S*) - R(S), or 1 where it is against the oracle's slate,
 * since in so many rounds nobody knew S* for sure. */
double sa_regret_alpha(const sa_options *options, uint64_t unproven_rounds);
/* In words, where it is not plain regret against the best slate; caller frees. "": it is. */
sa_status sa_regret_note(const sa_options *options, uint64_t unproven_rounds, char **note);

typedef struct sa_plan_agent {
    char *label;
    sa_options *options; /* all of them, with the environment's dim */
    const sa_oracle *oracle;
    sa_own_agent code;             /* of the caller's own; without `select` it is one of ours */
    double *curve[SA_CURVE_COUNT]; /* (runs, rounds), cumulative; clicks: NULL without --clicks */
    sa_run_stats *stats;           /* (runs) */
    bool *done;                    /* (runs) */
    size_t *session;               /* (runs) which of the work's sessions did it */
    size_t cell;                   /* of the grid */
    sa_totals total;
    char *note;    /* on its regret; NULL before there is any */
    char *display; /* what people call it; NULL likewise */
} sa_plan_agent;

typedef struct sa_plan {
    /* for all agents, with rounds, arms and dim as the environment has them, and full paths */
    sa_options *options;
    sa_environment *environment;
    sa_problem *problem;            /* data of the oracles, the same in every round */
    sa_oracle_callbacks own_oracle; /* the caller's as it was given; with alpha 0 there is none */
    sa_oracle_callbacks oracle;     /* the same, but waits for its turn */
    sa_callback_lock *turns;        /* of all callbacks */
    sa_clicks *clicks;              /* what users do; NULL: every score is seen */
    sa_plan_agent *agents;          /* (agent_count) */
    size_t agent_count;
    size_t runs, rounds;
    uint64_t first_run;
} sa_plan;

/* All plans of an experiment, one for each environment of its grid, and the folder for what comes of them. */
typedef struct sa_work {
    sa_experiment *experiment;
    sa_plan **plans; /* (plan_count) */
    size_t plan_count;
    const sa_options *options; /* of the first plan: where to write, and how */
    size_t threads, shard, shards;
    char *parts; /* folder for the parts of finished runs; NULL: none */
    sa_lock lock, shard_lock;
    json_t *sessions; /* an array, of which this process's is the last */
    char *session;    /* its text */
    bool finished;    /* all runs are done, and their means are there */
} sa_work;

/* The regret that tables and progress show. */
static inline sa_curve_kind sa_curve_shown(const sa_plan *plan) {
    return plan->options->show_regret == SA_REGRET_REALISED ? SA_CURVE_REALISED : SA_CURVE_EXPECTED;
}

/* SA_INVALID unless it can be an agent's. */
sa_status sa_label_check(const char *label);
/* Adds an agent without options of its own, last. */
sa_status sa_spec_add_agent(sa_experiment *experiment, const char *label);
void sa_spec_drop_agents(sa_experiment *experiment, size_t kept);
/* The environment that the options name, which may be the experiment's own. */
sa_status sa_spec_environment(sa_experiment *experiment, const sa_options *options, sa_environment **out);
enum { SA_EVERY_GROUP = -1 };
/* The agents that come of the lists of algorithms and agents, in each cell of a group of the grid, with
 * `base` below their own options; of every group also with the options of its environment. Frees nothing of
 * what *agents held. */
sa_status sa_spec_resolve(const sa_experiment *experiment, const sa_options *base, int group,
                          sa_plan_agent **agents, size_t *count);
void sa_plan_agents_destroy(sa_plan_agent *agents, size_t count);
/* Sets an option of `to` to the value it has in `from`. */
sa_status sa_options_take(sa_options *to, const sa_options *from, const char *name);

/* Makes experiment->work, and changes nothing on the disk. */
sa_status sa_work_make(sa_experiment *experiment);
void sa_work_destroy(sa_work *work); /* NULL is fine */
/* The index-th agent of all plans, and its plan; NULL: there is none. */
sa_plan_agent *sa_work_agent(const sa_work *work, size_t index, sa_plan **plan);
/* Is this run one of those that the shard does? `job` counts runs first and then agents, over all plans. */
bool sa_work_has(const sa_work *work, size_t job);
/* The plan of a group of the grid. */
sa_status sa_plan_make(sa_experiment *experiment, size_t group, sa_plan **out);
void sa_plan_destroy(sa_plan *plan); /* NULL is fine */
/* Everything that can be wrong with an agent of the plan. `named`: sentences begin with its label. */
sa_status sa_plan_check_agent(const sa_plan *plan, sa_plan_agent *agent, bool named);
/* The data that oracles need beside the scores, from --problem (problem_files.c); caller destroys it. The
 * paths in the options become full ones. */
sa_status sa_plan_read_structure(sa_options *options, sa_problem **out);
/* SA_INVALID unless the agent's oracle finds a slate for the problem's data. */
sa_status sa_plan_check_structure(const sa_plan *plan, const sa_oracle *oracle);
/* SA_INVALID unless the discounts fit an agent that learns with them. */
sa_status sa_plan_check_discounts(const sa_plan *plan, const sa_plan_agent *agent);
/* SA_INVALID for an option of agents that none of them reads (effects.c). */
sa_status sa_plan_check_effects(const sa_experiment *experiment, const sa_plan *plan);
/* SA_INVALID for data that no agent, feedback or user looks at: whoever gave it thinks that it matters. */
sa_status sa_plan_check_unused(const sa_plan *plan);
/* SA_INVALID where the best slate under the click model cannot be found. */
sa_status sa_plan_check_clicks(const sa_plan *plan);
/* SA_FILE unless a new file can be made at `path` later: its folder is there and open to writing, or is
 * --out, still to be made. */
sa_status sa_plan_check_place(const char *path, const char *out);
/* --history (histories.c): the file of a run; caller frees. */
sa_status sa_plan_history(const sa_plan_agent *agent, uint64_t run, char **path);
/* Fails unless every run of every agent can have its own. */
sa_status sa_plan_check_histories(const sa_plan *plan);
/* The caller's oracle, for the plan to use (own.c). */
void sa_plan_take_oracle(sa_plan *plan, const sa_oracle_callbacks *oracle);
/* How many threads --threads means. */
size_t sa_plan_threads(const sa_options *options);
/* Can the machine hold a x b x c x d bytes? */
bool sa_plan_fits(size_t a, size_t b, size_t c, size_t d);

/* ---- one run (job.c), the caller's own algorithm in it (own_run.c), all runs (runner.c) ---- */

/* What was chosen in a round, and why, by one of our agents or by the caller's own algorithm. */
typedef struct sa_chosen {
    uint64_t id;
    const size_t *arms; /* (slate) */
    size_t slate;
    size_t candidates, positions;       /* as those of a decision */
    const double *mean, *width, *score; /* of all candidates; NULL: nobody knows */
    double propensity;                  /* of the slate; NaN: nobody knows */
    const double *prefix, *position;    /* (slate) the same of its beginnings and places; NULL likewise */
} sa_chosen;

typedef struct sa_own_run {
    const sa_own_agent *code;
    sa_callback_lock *turns;
    void *state;
    bool begun;
    size_t rows, most;
    size_t *arms; /* (rows, most): slates that wait for their feedback */
    bool *taken;  /* (arms of a round) */
} sa_own_run;

/* What a slate of the caller's has to keep. */
typedef struct sa_own_rules {
    const sa_oracle *oracle;
    const sa_oracle_problem *problem; /* of the round */
    sa_workspace *workspace;
    int broken; /* sa_own_slates: what comes of a slate that does not */
} sa_own_rules;

/* `rows` slates of at most `most` arms can wait at a time, and rounds have at most `candidates`.
 * sa_own_run_end also after a failure. */
sa_status sa_own_run_begin(sa_own_run *self, const sa_own_agent *code, sa_callback_lock *turns, uint64_t run,
                           size_t rows, size_t most, size_t candidates);
sa_status sa_own_run_select(sa_own_run *self, const sa_own_round *round, const sa_own_rules *rules,
                            sa_chosen *out);
/* scores, observed (length) of the slate of an earlier round; observed NULL: all */
sa_status sa_own_run_update(sa_own_run *self, uint64_t round, const double *scores, const bool *observed,
                            size_t length);
void sa_own_run_end(sa_own_run *self);

typedef struct sa_job_control {
    atomic_bool stop;            /* set by the caller: leave with SA_INTERRUPTED */
    atomic_uint_fast64_t rounds; /* counted up */
} sa_job_control;

/* Where a run is written down while it is done; NULL: nowhere. */
typedef struct sa_job_files {
    char *trace, *log;
} sa_job_files;
/* Fills row `run` of the agent's arrays and stats. */
sa_status sa_job_run(const sa_plan *plan, size_t agent, size_t run, const sa_job_files *files,
                     sa_job_control *control);
/* Runs all jobs of the shard that are not done. */
sa_status sa_runner_run(sa_work *work, sa_progress_call *call, void *user);

/* ---- files (results.c, spec_file.c, trace.c; stored.h has what they leave) ---- */

/* Makes the folders, writes spec.yaml, or finds what --resume goes on with. */
sa_status sa_results_begin(sa_work *work);
/* Keeps a finished run. */
sa_status sa_results_keep(const sa_work *work, const sa_plan *plan, size_t agent, size_t run);
/* Computes means, writes the files of --out and --trace, removes the parts. A shard leaves that to whoever
 * merges. */
sa_status sa_results_finish(sa_work *work);
/* Unlocks; removes what would be of no use after a failure: the parts of a trace without --out. */
void sa_results_end(sa_work *work, bool failed);
/* Path of the part of a finished run, with ".npz", ".jsonl" (its trace) or ".log"; caller frees. */
sa_status sa_results_part(const sa_work *work, const sa_plan *plan, size_t agent, size_t run,
                          const char *ending, char **path);
/* SA_INVALID unless --out can be used: new or empty, or with --resume or --shard. */
sa_status sa_results_check_folder(const sa_options *options);

/* What --resume goes on with, from its spec.yaml: more runs and agents than are asked for here are taken
 * over, and options that differ are SA_INVALID with a sentence. */
sa_status sa_spec_adopt(sa_work *work);
sa_status sa_spec_write(const sa_work *work, const char *path);

typedef struct sa_trace sa_trace;
sa_status sa_trace_begin(const char *path, const char *label, int digits, sa_trace **out);
/* One line; feedback (chosen->slate). `mixture` is shown where there is one, `epoch`, which has the epoch
 * and the hidden units of the network that chose, unless it is NULL. */
sa_status sa_trace_round(sa_trace *trace, uint64_t run, uint64_t round, const sa_chosen *chosen,
                         const double *feedback, double expected_regret, double realised_regret,
                         const sa_mixture *mixture, const sa_agent_counts *epoch);
/* Puts the file in its place; frees the trace either way. */
sa_status sa_trace_finish(sa_trace *trace);
void sa_trace_abandon(sa_trace *trace); /* NULL is fine */
/* Joins the parts with this ending in the order of agent, run, round. */
sa_status sa_trace_join(const sa_work *work, const char *ending, const char *path);

/* The decision log of a run (--log), in a part of its own; without a path it is NULL, which is fine
 * everywhere. */
typedef struct sa_run_log sa_run_log;
sa_status sa_run_log_begin(const sa_plan *plan, size_t agent, size_t run, const char *path, sa_run_log **out);
/* One line; round from 0, feedback (chosen->slate); `totals`: only their sum is told. */
sa_status sa_run_log_round(sa_run_log *log, uint64_t round, const sa_round *drawn, const sa_chosen *chosen,
                           const double *feedback, bool totals);
/* Puts the file in its place; frees the log either way. */
sa_status sa_run_log_finish(sa_run_log *log);
void sa_run_log_abandon(sa_run_log *log);

#endif
