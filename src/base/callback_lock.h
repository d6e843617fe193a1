/* Whether the caller's callbacks may be called at the same time, or have to take turns. */
#ifndef SA_BASE_CALLBACK_LOCK_H
#define SA_BASE_CALLBACK_LOCK_H

#include <pthread.h>
#include <stdbool.h>

typedef struct sa_callback_lock {
    bool one_at_a_time;
    pthread_mutex_t lock;
} sa_callback_lock;

static inline void sa_callback_begin(sa_callback_lock *turns) {
    if (turns->one_at_a_time) pthread_mutex_lock(&turns->lock);
}
static inline void sa_callback_end(sa_callback_lock *turns) {
    if (turns->one_at_a_time) pthread_mutex_unlock(&turns->lock);
}

/* A callback's result, or nothing, of a call that waits for its turn. */
#define SA_TAKE_TURN(turns, call)                                                                            \
    do {                                                                                                     \
        sa_callback_begin(turns);                                                                            \
        call;                                                                                                \
        sa_callback_end(turns);                                                                              \
    } while (0)

#endif
