/* Things of your own in an experiment: an algorithm that runs beside ours on the same draws, an environment,
 * an oracle (superarm/oracle.h). They are given to the experiment as callbacks: sa_experiment_own_agent,
 * _environment, _oracle.
 *
 * A callback returns 0, or anything else to end the experiment with SA_CALLBACK and a sentence that names
 * agent, run and round. Runs go on in several threads, so callbacks of different runs may be called at the
 * same time unless sa_experiment_one_at_a_time says otherwise; those of one run come one after the other,
 * from one thread. */
#ifndef SUPERARM_OWN_H
#define SUPERARM_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- an algorithm ---- */

/* What an algorithm sees of a round. Borrowed until the callback returns. */
typedef struct sa_own_round {
    uint64_t run;           /* its number: from --first-run on */
    uint64_t round;         /* from 0 */
    size_t arms, dim;       /* N of this round, and d */
    const double *contexts; /* (arms, dim) row-major */
    size_t slate;           /* K: arms to choose, or at most so many where --oracle may leave arms out */
    /* what --oracle asks of a slate: sa_problem_numbers(problem, "costs", ...) and the like; no scores */
    const struct sa_problem *problem;
} sa_own_round;

typedef struct sa_own_agent {
    void *user; /* for begin; the state itself where there is no begin */
    /* Begins a run: makes the state that the other calls get. NULL: they get `user`. */
    int (*begin)(void *user, uint64_t run, void **state);
    /* Writes different arms, at most round->slate, in the order of their positions; *length is round->slate
     * before the call. The slate is checked: an arm twice or out of range, too many or too few arms, and what
     * breaks another rule of the problem (costs, groups, edges...) are SA_INVALID, unless --own-slates says
     * otherwise of the last. */
    int (*select)(void *state, const sa_own_round *round, size_t *arms, size_t *length);
    /* What came of the slate of an earlier round, --delay rounds later: arms and scores (length). `observed`
     * (length) says which scores were seen, the others are NaN; NULL: all were. NULL instead of a callback:
     * the algorithm does not learn. */
    int (*update)(void *state, uint64_t round, const size_t *arms, const double *scores, const bool *observed,
                  size_t length);
    void (*end)(void *state); /* called once for each begin that returned 0; may be NULL */
    /* What the code is, in any words: results keep its hash, and runs of other code are not mixed with them
     * (--replace). NULL: the hash is that of the file, library or program, that has `select`. */
    const char *code;
} sa_own_agent;

/* ---- an environment ---- */

/* It must give the same for the same run and round, whoever asks: each agent plays each run by itself, from
 * round 0 on, and agents are compared on the same draws. */
typedef struct sa_own_environment {
    size_t rounds; /* T: all there are, of which --rounds may take fewer; 0: as many as --rounds asks for */
    size_t arms;   /* N */
    size_t dim;    /* d */
    bool varies;   /* `arms` is the most of a round, and `contexts` may say that there are fewer */
    void *user;    /* for begin; the state itself where there is no begin */
    /* Begins a run of one agent. NULL: the others get `user`. */
    int (*begin)(void *user, uint64_t run, void **state);
    /* Fills contexts (arms, dim), row-major, of a round counted from 0; *arms is N before the call. */
    int (*contexts)(void *state, uint64_t run, uint64_t round, double *contexts, size_t *arms);
    /* Fills the expected scores (arms) of the same round, which regret is measured with. */
    int (*expected)(void *state, uint64_t run, uint64_t round, double *expected, size_t arms);
    /* What is seen of an arm is its expected score and this, (arms). NULL: Gaussian noise of deviation
     * --noise. */
    int (*noise)(void *state, uint64_t run, uint64_t round, double *noise, size_t arms);
    /* Instead of noise: what comes of the slate that was chosen, scores (length) in the order of its arms,
     * NaN for an arm that nobody looked at, which earns nothing. It is asked once a round, for that slate
     * only, so it may depend on the slate as a whole and may change the state. The realised regret of a round
     * is then the best expected reward minus the reward of these scores: nobody knows what another slate
     * would have got. Not with --clicks, which decides that, too. */
    int (*feedback)(void *state, uint64_t run, uint64_t round, const size_t *arms, size_t length,
                    double *scores);
    void (*end)(void *state); /* called once for each begin that returned 0; may be NULL */
    const char *code;         /* as that of an algorithm; NULL: the file that has `contexts` */
} sa_own_environment;

#ifdef __cplusplus
}
#endif

#endif
