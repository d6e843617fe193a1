/* A choice in the making: from a request to a slate, in steps that change nothing of the agent but its workspace. What a request
 * needs beside that, and only that, is here; select.c has the steps' order. */
#ifndef SA_AGENT_CHOICE_H
#define SA_AGENT_CHOICE_H

#include "agent/agent.h"

typedef struct sa_choice {
    const sa_request *request;
    size_t positions;        /* 0: arms have one score each; else K, one for each place of the slate */
    size_t scores;           /* in all: arms, or arms K */
    size_t offset;           /* where they begin in agent->mean, luck, width and score */
    sa_oracle_data data;     /* beside the scores */
    const double *discounts; /* (K) that are learnt with, or NULL */
    size_t slate;            /* arms chosen, or at first the most there can be */
    bool many;               /* more arms than a block has */
    bool scanned;            /* their survivors are the slate: see scan.h */
    bool together;           /* scored with others: its gradients begin at `offset` of agent->together */
    uint64_t id, ticket;
    sa_stream stream;   /* of the exploration's draws */
    double certificate; /* of the widths */
} sa_choice;

/* [first, first + count) is the next block of arms; false past the last. Begins with both 0. */
static inline bool sa_choice_block(const sa_choice *self, size_t *first, size_t *count) {
    *first += *count;
    size_t left = self->request->arms - *first;
    *count = left < SA_BLOCK_ARMS ? left : SA_BLOCK_ARMS;
    return left > 0;
}

/* The scores of an arm are those from here on, and the arm of a score. */
static inline size_t sa_choice_score_of(const sa_choice *self, size_t arm) {
    return self->positions ? arm * self->positions : arm;
}
static inline size_t sa_choice_arm_of(const sa_choice *self, size_t score) {
    return self->positions ? score / self->positions : score;
}

/* Can it be scored together with others? Those that are, are so by sa_choices_score; the scores are the same. */
bool sa_choice_is_small(const sa_agent *agent, const sa_choice *self);
/* agent->mean, luck, width and score; the inputs have been begun. There is room for all scores. */
sa_status sa_choice_score(sa_agent *agent, sa_choice *self);
sa_status sa_choices_score(sa_agent *agent, sa_choice *choices, size_t count);
/* mean of a block of arms, and its gradients in agent->block. */
sa_status sa_choice_estimate(sa_agent *agent, const sa_choice *self, size_t first, size_t count);

/* What is kept of a choice until its feedback comes; the slate is in agent->slate, and agent->rows become its gradients'. */
sa_status sa_choice_keep(sa_agent *agent, const sa_choice *self, sa_pending *pending);

#endif
