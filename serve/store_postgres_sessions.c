/* The sessions of this process. Who waits for an answer that never comes is woken from another thread, by the
 * end of the session's socket. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "store_postgres.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sv_store *first;
static atomic_bool over; /* no more of them */

/* libpq closes its descriptor by itself, and the number may then be another file's: a copy stays ours. */
void sv_postgres_enlist(sv_store *self) {
    int copy = fcntl(PQsocket(self->connection), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return; /* it is not ended from elsewhere */
    pthread_mutex_lock(&lock);
    self->socket = copy;
    self->since = sv_clock_seconds();
    self->next = first;
    first = self;
    pthread_mutex_unlock(&lock);
}

void sv_postgres_strike(sv_store *self) {
    pthread_mutex_lock(&lock);
    for (sv_store **at = &first; *at; at = &(*at)->next)
        if (*at == self) {
            *at = self->next;
            close(self->socket);
            break;
        }
    pthread_mutex_unlock(&lock);
}

bool sv_postgres_is_over(void) { return atomic_load(&over); }

void sv_shared_cut(double seconds) {
    pthread_mutex_lock(&lock);
    for (sv_store *each = first; each; each = each->next)
        if (sv_clock_seconds() - each->since >= seconds) shutdown(each->socket, SHUT_RDWR);
    pthread_mutex_unlock(&lock);
}

void sv_shared_give_up(void) {
    atomic_store(&over, true);
    sv_shared_cut(0);
}
