/* The open connections, in the order of what they are at and since when, all of them and by address: so the
 * one to close is at the front of a list, however many there are. The loop's own: no locks. */
#ifndef SERVE_HTTP_CONNECTIONS_H
#define SERVE_HTTP_CONNECTIONS_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include <superarm/json.h>

typedef enum connection_state {
    CONNECTION_NEW,     /* no request so far */
    CONNECTION_RESTING, /* between two requests */
    CONNECTION_READING, /* a request arrives */
    CONNECTION_WORKING, /* it is being answered */
    CONNECTION_SENDING, /* the answer leaves */
    CONNECTION_LEAVING, /* what still comes is thrown away, so that the client can read the last answer */
    CONNECTION_STATES,
    CONNECTION_GONE = CONNECTION_STATES /* closed, and freed at the end of the loop's turn */
} sv_connection_state;

typedef struct link {
    struct link *before, *after;
} sv_link;

/* Who comes from one address: IPv4, or the first half of IPv6. */
typedef struct address {
    struct address *next; /* of its bucket */
    uint8_t key[16];
    size_t count;
    sv_link lists[CONNECTION_STATES];
} sv_address;

struct request;

typedef struct connection {
    sv_link of_all, of_address; /* first: the list's links lead to it */
    sv_address *address;
    char from[INET6_ADDRSTRLEN];
    int socket;
    sv_connection_state state;
    double since;  /* when the state began */
    bool readable; /* there may be bytes to read */
    bool hung_up;  /* the client sends no more */
    bool close;    /* after this answer */
    bool pending;  /* what is kept may be a whole request */
    bool queued;   /* in the loop's list of those that go on at once */
    struct connection *next_queued;
    unsigned window; /* of the loop's clock, when it last had a request */
    sa_buffer kept;  /* bytes of the next request */
    struct request *request;
    sa_buffer head; /* of the answer, what was not sent at once */
    size_t sent;    /* of head and body, or of head and file */
    size_t dropped; /* bytes while leaving */
} sv_connection;

enum { ADDRESS_BUCKETS = 4096 };

typedef struct http_connections {
    sv_link lists[CONNECTION_STATES];
    size_t counts[CONNECTION_STATES], count, most, most_of_address;
    sv_address *buckets[ADDRESS_BUCKETS];
} sv_http_connections;

void sv_http_connections_begin(sv_http_connections *self, size_t most, size_t most_of_address);
/* NULL: memory is short. Otherwise as CONNECTION_NEW; limits are the caller's to keep. */
sv_connection *sv_http_connections_add(sv_http_connections *self, int socket, const struct sockaddr *from,
                                       double now);
/* Out of the lists: CONNECTION_GONE. */
void sv_http_connections_remove(sv_http_connections *self, sv_connection *connection);
void sv_http_connections_free(sv_connection *connection);
void sv_http_connections_set(sv_http_connections *self, sv_connection *connection, sv_connection_state state,
                             double now);
/* The one that has been in the state for the longest; NULL: none. */
sv_connection *sv_http_connections_first(sv_http_connections *self, sv_connection_state state);
/* Whether another one from there has room; if not, the one that should go for it, or NULL: it must not come.
 * A request that is being answered is never cut for another one. */
bool sv_http_connections_has_room(sv_http_connections *self, const struct sockaddr *from, double now,
                                  sv_connection **instead);

#endif
