/* What the files of this folder share: the experiment as it was asked for, and the plan that comes of it. */
#ifndef SA_EXPERIMENT_EXPERIMENT_H
#define SA_EXPERIMENT_EXPERIMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "env/clicks.h"
#include "env/environment.h"
#include "oracle/oracle.h"
#include <superarm/superarm.h>

/* ---- as asked for (spec.c) ---- */

typedef struct sa_spec_agent {
    char *label;
    sa_options *own; /* what was set for this agent: the options that are `given` */
} sa_spec_agent;

struct sa_experiment {
    sa_options *options;   /* for all agents */
    sa_spec_agent *agents; /* (agent_count) from --agent and `agents:` */
    size_t agent_count, agent_capacity;
    struct sa_plan *plan; /* of the last check; holds the results once it is `finished`. NULL before */
    bool checked;         /* the plan fits the options and has not been run */
};

/* ---- as it will be done (plan.c) ---- */

typedef struct sa_run_stats {
    double seconds, select_seconds, update_seconds, train_seconds, replay_seconds; /* the last four do not overlap */
    uint64_t peak_bytes, diverged_trainings;
} sa_run_stats;

/* What is added up round by round: X(ENUMERATOR, "name of its file"). */
#define SA_CURVE_LIST(X)                                                                                                  \
    X(EXPECTED, "expected_regret") X(REALISED, "realised_regret") X(REWARD, "reward") X(CLICKS, "clicks")

typedef enum sa_curve_kind {
#define SA_CURVE_ENUM(enumerator, name) SA_CURVE_##enumerator,
    SA_CURVE_LIST(SA_CURVE_ENUM) SA_CURVE_COUNT
#undef SA_CURVE_ENUM
} sa_curve_kind;

const char *sa_curve_name(sa_curve_kind kind);

/* Mean and deviation over runs, and Student's 95% interval of the mean; NaN but for the mean when there is one run. */
typedef struct sa_mean {
    double mean, sd, low, high;
} sa_mean;

typedef struct sa_plan_agent {
    char *label;
    sa_options *options; /* all of them, with the environment's dim */
    const sa_oracle *oracle;
    double *curve[SA_CURVE_COUNT]; /* (runs, rounds), cumulative; clicks: NULL without --clicks */
    sa_run_stats *stats;           /* (runs) */
    bool *done;                    /* (runs) */
    sa_run_stats total;            /* means of the times, the largest memory, the sum of diverged */
    sa_mean final[SA_CURVE_COUNT]; /* of the curves' ends */
} sa_plan_agent;

typedef struct sa_plan {
    sa_options *options; /* for all agents, with rounds, arms and dim as the environment has them, and full paths */
    sa_environment *environment;
    sa_problem *problem;   /* data of the oracles, the same in every round */
    sa_clicks *clicks;     /* what users do; NULL: every score is seen */
    sa_plan_agent *agents; /* (agent_count) */
    size_t agent_count;
    size_t runs, rounds, threads;
    uint64_t first_run;
    char *parts;   /* folder for the parts of finished runs; NULL: none */
    bool finished; /* all runs are done, and their means are there */
} sa_plan;

/* The regret that tables and progress show. */
static inline sa_curve_kind sa_curve_shown(const sa_plan *plan) {
    return plan->options->show_regret == SA_REGRET_REALISED ? SA_CURVE_REALISED : SA_CURVE_EXPECTED;
}

/* The agents that come of the lists of algorithms and agents, with `base` below their own options. Frees nothing of what
 * *agents held. */
sa_status sa_spec_resolve(const sa_experiment *experiment, const sa_options *base, sa_plan_agent **agents, size_t *count);
void sa_plan_agents_destroy(sa_plan_agent *agents, size_t count);
/* Sets an option of `to` to the value it has in `from`. */
sa_status sa_options_take(sa_options *to, const sa_options *from, const char *name);

/* Makes experiment->plan, and changes nothing on the disk. */
sa_status sa_plan_make(sa_experiment *experiment);
void sa_plan_destroy(sa_plan *plan); /* NULL is fine */
/* The data that oracles need beside the scores, from the options that name it (structure.c); caller destroys it. The paths in
 * the options become full ones. */
sa_status sa_plan_read_structure(sa_options *options, sa_problem **out);
/* SA_INVALID unless the agent's oracle finds a slate for the problem's data. */
sa_status sa_plan_check_structure(const sa_plan *plan, const sa_oracle *oracle);
/* SA_INVALID unless the discounts fit an agent that learns with them. */
sa_status sa_plan_check_discounts(const sa_plan *plan, const sa_plan_agent *agent);
/* SA_INVALID for data that no agent, feedback or user looks at: whoever gave it thinks that it matters. */
sa_status sa_plan_check_unused(const sa_plan *plan);
/* SA_INVALID where the best slate under the click model cannot be found. */
sa_status sa_plan_check_clicks(const sa_plan *plan);
/* SA_INVALID unless --out can be used: new or empty, or with --resume. */
sa_status sa_plan_check_folder(const sa_options *options);
/* Can the machine hold a x b x c x d bytes? */
bool sa_plan_fits(size_t a, size_t b, size_t c, size_t d);

/* ---- one run (job.c), all runs (runner.c) ---- */

typedef struct sa_job_control {
    atomic_bool stop;            /* set by the caller: leave with SA_INTERRUPTED */
    atomic_uint_fast64_t rounds; /* counted up */
} sa_job_control;

/* Fills row `run` of the agent's arrays and stats. `trace_path` NULL: no trace. */
sa_status sa_job_run(const sa_plan *plan, size_t agent, size_t run, const char *trace_path, sa_job_control *control);
/* Runs all jobs that are not done. */
sa_status sa_runner_run(sa_plan *plan, sa_progress_call *call, void *user);

/* ---- files (results.c, summary.c, spec_file.c, trace.c) ---- */

/* Makes the folders, writes spec.yaml, or finds what --resume goes on with. `*complete`: nothing is left to do. */
sa_status sa_results_begin(sa_plan *plan, bool *complete);
/* Keeps a finished run. */
sa_status sa_results_keep(const sa_plan *plan, size_t agent, size_t run);
/* Computes means, writes the files of --out and --trace, removes the parts. */
sa_status sa_results_finish(sa_plan *plan);
/* Removes what would be of no use after a failure: the parts of a trace without --out. */
void sa_results_abandon(sa_plan *plan);
/* Path of the part of a finished run, with ".npz" or ".jsonl"; caller frees. */
sa_status sa_results_part(const sa_plan *plan, size_t agent, size_t run, const char *ending, char **path);

/* Mean, deviation and interval of the last column of (runs, rounds). */
sa_mean sa_final_mean(const double *curves, size_t runs, size_t rounds);
void sa_plan_summarise(sa_plan_agent *agent, size_t runs, size_t rounds);
/* "format" in summary.json: larger ones are refused. */
enum { SA_SUMMARY_FORMAT = 1 };
sa_status sa_summary_write(const sa_plan *plan, const char *path);
/* Takes times and memory from a summary.json; the regrets come from their own files. */
sa_status sa_summary_read(sa_plan *plan, const char *path);

sa_status sa_spec_write(const sa_plan *plan, const char *path);
/* SA_INVALID, naming the first option that differs, unless the spec at `path` is that of the plan. */
sa_status sa_spec_compare(const sa_plan *plan, const char *path);

typedef struct sa_trace sa_trace;
sa_status sa_trace_begin(const char *path, const char *label, int digits, sa_trace **out);
/* One line; feedback (slate). `epoch` has the epoch and the hidden units of the network that chose; NULL: neither is shown. */
sa_status sa_trace_round(sa_trace *trace, uint64_t run, uint64_t round, const sa_decision *decision,
                         const double *feedback, double expected_regret, double realised_regret,
                         const sa_agent_counts *epoch);
/* Puts the file in its place; frees the trace either way. */
sa_status sa_trace_finish(sa_trace *trace);
void sa_trace_abandon(sa_trace *trace); /* NULL is fine */
/* Joins the parts in the order of agent, run, round. */
sa_status sa_trace_join(const sa_plan *plan, const char *path);

#endif
