#include "base/workers.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"

enum { MOST = 64 };

typedef struct shared_job {
    void (*job)(void *user, size_t index, size_t worker);
    void *user;
    size_t count;
    atomic_size_t next;  /* the next index to take */
    sa_account *account; /* of the caller */
} shared_job;

/* One worker. */
typedef struct member {
    shared_job *of;
    size_t worker;
    pthread_t thread;
} member;

static void *work(void *argument) {
    member *self = argument;
    sa_account_charge(self->of->account);
    for (size_t index; (index = atomic_fetch_add(&self->of->next, 1)) < self->of->count;)
        self->of->job(self->of->user, index, self->worker);
    return NULL;
}

void sa_workers_run(size_t threads, size_t count, void (*job)(void *user, size_t index, size_t worker),
                    void *user) {
    shared_job all = {.job = job, .user = user, .count = count, .account = sa_account_charge(NULL)};
    sa_account_charge(all.account);
    member members[MOST];
    size_t started = 1;
    if (threads > count) threads = count;
    if (threads > MOST) threads = MOST;
    for (; started < threads; started++) {
        members[started] = (member){.of = &all, .worker = started};
        if (pthread_create(&members[started].thread, NULL, work, &members[started]) != 0) break;
    }
    members[0] = (member){.of = &all};
    work(&members[0]);
    for (size_t i = 1; i < started; i++) pthread_join(members[i].thread, NULL);
}
