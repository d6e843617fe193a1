/* Whether the caller's callbacks may be called at the same time, or have to take turns. */
#ifndef SA_BASE_TURNS_H
#define SA_BASE_TURNS_H

#include <pthread.h>
#include <stdbool.h>

typedef struct sa_turns {
    bool one_at_a_time;
    pthread_mutex_t lock;
} sa_turns;

static inline void sa_turn_begin(sa_turns *turns) {
    if (turns->one_at_a_time) pthread_mutex_lock(&turns->lock);
}
static inline void sa_turn_end(sa_turns *turns) {
    if (turns->one_at_a_time) pthread_mutex_unlock(&turns->lock);
}

/* A callback's result, or nothing, of a call that waits for its turn. */
#define SA_TAKE_TURN(turns, call)                                                                            \
    do {                                                                                                     \
        sa_turn_begin(turns);                                                                                \
        call;                                                                                                \
        sa_turn_end(turns);                                                                                  \
    } while (0)

#endif
