/* The agent's parts, for the files of this folder. */
#ifndef SA_AGENT_AGENT_H
#define SA_AGENT_AGENT_H

#include "agent/algorithms.h"
#include "agent/block.h"
#include "agent/companion.h"
#include "agent/exploration.h"
#include "agent/forgetting.h"
#include "agent/history.h"
#include "agent/inputs.h"
#include "agent/moments.h"
#include "agent/pending.h"
#include "agent/scan.h"
#include "confidence/confidence.h"
#include "feedback/feedback.h"
#include "model/model.h"
#include "oracle/oracle.h"
#include <superarm/agent.h>

struct sa_agent {
    sa_options *options; /* in force */
    /* horizon unknown (epochs.h): */
    sa_options *base; /* as given: those in force follow from them and the epoch. NULL: there are no epochs */
    uint64_t epoch;   /* from 0 */
    const sa_algorithm *algorithm;
    /* the five parts */
    sa_model *model;           /* NULL: none */
    sa_confidence *confidence; /* NULL: none */
    sa_confidence *rebuilt;    /* the next one, while a training is due that it is rebuilt after; else NULL */
    sa_exploration exploration;
    const sa_oracle *oracle;
    sa_oracle_callbacks own; /* of the caller's own oracle */
    const sa_feedback *feedback;
    /* what it has seen */
    sa_inputs inputs;
    sa_history history;
    sa_pending_ring pending;
    sa_forgetting forgetting;
    sa_moments moments; /* of scores; not kept up where a window is trained on */
    /* the network's estimate of a score is centre + scale f, as of the last training; the companion mixes it with its own */
    double centre, scale;
    sa_companion companion;
    double *row; /* (companion.dim) workspace: one input in double precision */
    uint64_t trainings, diverged_trainings;
    /* how well new feedback is predicted: mean squared error over the latest observations, before they are learnt from */
    double error;
    uint64_t learnt; /* observations before the last training */
    double train_seconds, replay_seconds;
    /* workspace, grown as needed */
    sa_block block;            /* a block of the candidates, which are all of them where they are few */
    sa_scan scan;              /* of many candidates, those that can reach the slate */
    sa_gradients together;     /* of the candidates of several requests, once there were any; else empty */
    size_t contender_capacity; /* at most those of a block, or of several requests */
    size_t *contender, *joint; /* (contender_capacity) */
    bool *is_contender;        /* (contender_capacity) */
    size_t contest_capacity;
    struct sa_contest *contests; /* (contest_capacity) */
    size_t score_capacity;
    double *mean, *luck, *width, *score; /* (arms), or (arms, positions) where the model tells positions apart */
    double *group_score;                 /* likewise */
    size_t slate_capacity;
    size_t *slate, *positions, *rows; /* (slate) */
    sa_workspace oracle_work;
    sa_gradients observed; /* of the arms counted now */
    size_t training_capacity;
    void *training_inputs;   /* (observations, dim + positions) */
    void *training_targets;  /* (observations) */
    void *training_weights;  /* (observations), or NULL where all weigh the same */
    double *training_scores; /* (observations) */
    double *training_psi;    /* (observations), likewise */
    void *drawn_contexts;    /* (SA_TRAINING_CHUNK, dim), raw; NULL until batches are drawn */
};

/* The row of a decision's scores and gradients that belongs to the arm in place k of the slate. */
static inline size_t sa_agent_row(const sa_agent *agent, size_t slate, size_t arm, size_t k) {
    return agent->inputs.positions ? arm * slate + k : arm;
}

/* What a width is multiplied with, beside gamma or nu. */
static inline double sa_agent_bonus(const sa_agent *agent) {
    const sa_companion *companion = &agent->companion;
    if (!companion->dim) return agent->scale;
    return agent->scale * (agent->exploration.kind == SA_EXPLORE_TS ? companion->is.luck : companion->is.boldness);
}

/* An agent with all parts, from options that it takes over (also on failure). The epoch is 0 where there are none. */
sa_status sa_agent_assemble(sa_options *options, uint64_t epoch, sa_agent **out);

#endif
