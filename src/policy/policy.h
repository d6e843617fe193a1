/* A policy: the five parts as they are now, and what choosing needs beside them. Choosing reads it and
 * changes nothing of it; whoever learns owns it first (sa_policy_unshare), which leaves those who hold it
 * what they have (base/memory.h). */
#ifndef SA_POLICY_POLICY_H
#define SA_POLICY_POLICY_H

#include "confidence/confidence.h"
#include "exploration/exploration.h"
#include "feedback/feedback.h"
#include "model/estimator.h"
#include "oracle/oracle.h"
#include <superarm/policy.h>

struct sa_policy {
    sa_estimator estimator;    /* the model */
    sa_gradients none;         /* an empty batch with the pairs of its gradients; none without a model */
    sa_confidence *confidence; /* NULL: no widths */
    sa_exploration exploration;
    const sa_oracle *oracle;
    sa_oracle_callbacks callbacks; /* of the caller's own oracle */
    const sa_feedback *feedback;
    bool discounted; /* is feedback learnt from with the discounts of its positions? */
    bool all_widths; /* --widths all */
    double lambda;
    double deviation; /* what a width is multiplied with, with --bonus posterior; 0: not known yet */
    double early;     /* what it is multiplied with besides, while little was seen (learn/bonus.h) */
    double floor;     /* probability of a uniformly random slate, or arm at a place */
    bool floor_by_place;
    uint64_t seed, run; /* of random draws */
    size_t threads;     /* of one select */
    uint64_t next;      /* id of the next decision */
};

/* The parts in place, or zeroed: caller fills the rest. */
sa_status sa_policy_create(sa_policy **out);
/* Another one that shares the parts. */
sa_status sa_policy_copy(const sa_policy *policy, sa_policy **out);
/* Before anything of it is changed: where others hold `*policy`, it becomes a copy that shares the parts. The
 * parts are owned one by one, by whoever changes them. */
sa_status sa_policy_unshare(sa_policy **policy);

/* What a width is multiplied with, beside gamma or nu, when a beginning is over (policy/selection.c). */
double sa_policy_unit(const sa_policy *policy);

#endif
