/* Rewards of several kinds: what a click, a cart and an order are worth. Feedback is kept as it came, and
 * becomes a number with the weights of the moment at which its event is learnt. */
#ifndef SERVE_REWARDS_H
#define SERVE_REWARDS_H

#include <superarm/json.h>

#include "refusal.h"

enum { REWARD_KINDS = 16, REWARD_NAME = 64 };

typedef struct reward_kind {
    char name[REWARD_NAME + 1];
    double weight;
} sv_reward_kind;

typedef struct rewards {
    size_t count; /* 0: feedback is numbers */
    sv_reward_kind kinds[REWARD_KINDS];
} sv_rewards;

/* {"click": 1, "order": 20}, null or nothing (at 0). */
bool sv_rewards_read(sv_rewards *self, const sa_json *json, size_t at, sv_refusal *why);
void sv_rewards_write(const sv_rewards *self, sa_buffer *out);
bool sv_rewards_same(const sv_rewards *self, const sv_rewards *other);
/* The kind that a key of JSON names, or `count`. */
size_t sv_rewards_find(const sv_rewards *self, const sa_json *json, size_t key);
/* Is a value of feedback what it should be, a number or, with kinds, an object of them? `worth` is what it
 * is worth by itself. false with 400. */
bool sv_rewards_check(const sv_rewards *self, const sa_json *json, size_t at, double *worth, sv_refusal *why);

#endif
