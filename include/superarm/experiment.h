/* Experiments: one environment, one or more agents, R runs. What `superarm run` does, as calls. */
#ifndef SUPERARM_EXPERIMENT_H
#define SUPERARM_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/options.h>
#include <superarm/oracle.h>
#include <superarm/own.h>
#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sa_experiment sa_experiment;

/* An experiment with the default options and no agents. NULL when memory is short. Caller frees with
 * sa_experiment_destroy. */
SA_API sa_experiment *sa_experiment_new(void);
SA_API void sa_experiment_destroy(sa_experiment *experiment); /* NULL is fine */

/* Reads a YAML spec: the option names, and `agents:` as a mapping of labels to options. What is set later
 * wins. */
SA_API sa_status sa_experiment_read(sa_experiment *experiment, const char *path);
/* Sets one option for all agents. "algorithm" takes a list: "cn-ucb,cn-ts". */
SA_API sa_status sa_experiment_set(sa_experiment *experiment, const char *name, const char *value);
/* Adds an agent from "LABEL:algorithm=cn-ucb,gamma=0.3". */
SA_API sa_status sa_experiment_agent(sa_experiment *experiment, const char *text);
/* Sets one option of the agent with this label, which is added where there is none. */
SA_API sa_status sa_experiment_agent_set(sa_experiment *experiment, const char *label, const char *name,
                                         const char *value);
/* One more value of an option that the grid varies: the experiment then has every agent in every cell,
 * labelled by its values, as in "gamma=0.1,hidden=50". Options of the environment make experiments of their
 * own, in the same folder. */
SA_API sa_status sa_experiment_grid(sa_experiment *experiment, const char *name, const char *value);
SA_API bool sa_experiment_has_grid(const sa_experiment *experiment);
/* Takes back all agents that were asked for, by a spec, say; others may follow. */
SA_API void sa_experiment_clear_agents(sa_experiment *experiment);
/* The options for all agents; valid as long as the experiment. */
SA_API const sa_options *sa_experiment_options(const sa_experiment *experiment);

/* ---- things of your own (superarm/own.h) ---- */

/* All callbacks are copied; their user pointers are borrowed as long as the experiment. Names, numbers and
 * regrets are recorded as those of other agents and environments are, but spec.yaml cannot bring back your
 * code: `superarm run` on it says so. A check may call the environment's callbacks, from the caller's thread;
 * all others are called by runs only. */

/* Adds an algorithm of your own; in results its algorithm is "own". */
SA_API sa_status sa_experiment_own_agent(sa_experiment *experiment, const char *label,
                                         const sa_own_agent *agent);
/* Sets --environment to "own", which is this one. */
SA_API sa_status sa_experiment_own_environment(sa_experiment *experiment,
                                               const sa_own_environment *environment);
/* Sets --oracle to "own", which is this one, of one score an arm: for all agents that name no other, and for
 * the best slate that their regret is measured against (alpha times its reward). */
SA_API sa_status sa_experiment_own_oracle(sa_experiment *experiment, const sa_oracle_callbacks *oracle);
/* Whether callbacks of different runs wait for each other; unless set, they do not. Progress is no such
 * callback. */
SA_API void sa_experiment_one_at_a_time(sa_experiment *experiment, bool one_at_a_time);

/* ---- running it ---- */

typedef struct sa_progress {
    size_t jobs;         /* agents x runs */
    size_t jobs_done;    /* finished, those found by --resume included */
    double rounds_done;  /* share of all rounds, 0 to 1 */
    double seconds;      /* since the start */
    double seconds_left; /* estimated; negative while unknown */
    const char *label;   /* the agent whose run ended last, or "" */
    double regret;       /* mean final regret of that agent so far (the kind that --show-regret names) */
} sa_progress;

/* Called from the thread that called sa_experiment_run, at least ten times a second. Return non-zero to stop:
 * runs in flight are dropped, finished ones are kept, and the experiment ends with SA_INTERRUPTED. */
typedef int sa_progress_call(void *user, const sa_progress *progress);

/* A round that was played, of one agent in one run; pointers are valid until the call returns. */
typedef struct sa_played {
    const char *label;
    uint64_t run;
    size_t round, rounds;   /* from 0; T */
    const size_t *arms;     /* (length) the slate */
    const double *feedback; /* (length) what came of it; NaN: not seen */
    size_t length;
    double expected_regret, realised_regret, reward; /* of the run so far */
} sa_played;

/* Return non-zero to end the experiment with SA_CALLBACK. */
typedef int sa_round_call(void *user, const sa_played *played);
/* Called after every round, from the thread of its run: runs of different threads call at the same time,
 * unless sa_experiment_one_at_a_time. NULL: nothing is. */
SA_API void sa_experiment_on_round(sa_experiment *experiment, sa_round_call *call, void *user);

/* Checks everything that can be wrong with the input (options, files, sizes, the folder --out) and changes
 * nothing on the disk. A run begins with it; calling it first tells wrong input from what goes wrong
 * later. */
SA_API sa_status sa_experiment_check(sa_experiment *experiment);

/* Runs everything and writes what --out and --trace ask for. Nothing is written when the input is wrong.
 * `call` may be NULL. */
SA_API sa_status sa_experiment_run(sa_experiment *experiment, sa_progress_call *call, void *user);

/* ---- results, after a run ---- */

typedef struct sa_agent_result {
    const char *label;
    const char *algorithm;
    size_t runs;
    size_t rounds;
    const double *expected_regret; /* (runs, rounds), cumulative */
    const double *realised_regret; /* (runs, rounds), cumulative */
    const double *reward;          /* (runs, rounds), cumulative: the realised reward of the slates */
    /* of the final regret that --show-regret names: mean, deviation, 95% interval, the largest; all
     * but the mean are NaN when there is one run */
    double mean, sd, low, high, worst;
    /* means over the runs, of processor time; replays: beginning new epochs, for an unknown horizon */
    double seconds_per_run, select_seconds, update_seconds, train_seconds, replay_seconds;
    uint64_t peak_bytes;
    uint64_t diverged_trainings;
    /* the largest of sa_decision_certificate, over rounds and runs; NaN where no decision had one */
    double certificate;
    const double *clicks; /* (runs, rounds), cumulative; NULL without --clicks */
    double clicks_mean, clicks_sd, clicks_low, clicks_high;
    /* as they were in force: with rounds, arms and dim as the environment has them */
    const sa_options *options;
    /* there are several runs, and all are the same: they tell no more than one, so deviations are NaN */
    bool alike;
    /* what regret is, where it is not that against the best slate: alpha-regret, or regret against the
     * oracle's slate; "": it is */
    const char *note;
    /* what people call it, marked where its settings are not its paper's: "CN-UCB (tuned)"; or its label */
    const char *display;
    double wall_seconds_per_run; /* on the clock: more where the machine does other things */
} sa_agent_result;

/* Agents times runs: what there is to do. */
SA_API sa_status sa_experiment_jobs(sa_experiment *experiment, size_t *jobs);
/* Makes the folder --out with its spec.yaml, for shards to come, and runs nothing. */
SA_API sa_status sa_experiment_begin(sa_experiment *experiment);
/* With --shard I/N a run does its share of the work alone and leaves it in --out: `superarm report` puts the
 * shards together, and there are no results before. Which of so many shards have runs left to do? left
 * (shards) */
SA_API sa_status sa_experiment_shards_left(sa_experiment *experiment, size_t shards, bool *left);

/* The index-th agent's results; SA_INVALID when there is none, or the last run did not end well. Pointers in
 * it are borrowed: valid until the experiment is checked or run again, or destroyed. */
SA_API sa_status sa_experiment_result(const sa_experiment *experiment, size_t index, sa_agent_result *result);

/* The columns that are kept of runs, over all runs of an agent: the column-th one, by its name in
 * summary.json, "peak_bytes" say; NaN: it is not known. false: there is no such column, or no result. */
SA_API bool sa_experiment_column(const sa_experiment *experiment, size_t index, size_t column,
                                 const char **name, double *value, bool *whole);

/* Over runs; all but the mean are NaN when there is one run. */
typedef struct sa_mean {
    double mean, sd, low, high; /* mean, deviation, Student's 95% interval of the mean */
    double worst;               /* of regret: the largest */
} sa_mean;

/* Are several runs all the same in each of the curves (count), (runs, rounds)? NULL ones are passed over. */
SA_API bool sa_runs_alike(const double *const *curves, size_t count, size_t runs, size_t rounds);

/* Of the last column of (runs, rounds), as summary.json has it. */
SA_API sa_mean sa_final_mean(const double *curves, size_t runs, size_t rounds);

/* The same as sa_experiment_check, for drawing: agents do not matter. */
SA_API sa_status sa_experiment_check_draw(sa_experiment *experiment);
/* Writes contexts.npy (R, T, N, d), scores.npy and noise.npy (R, T, N) of the environment into the folder
 * --out. */
SA_API sa_status sa_experiment_draw(sa_experiment *experiment);

#ifdef __cplusplus
}
#endif

#endif
