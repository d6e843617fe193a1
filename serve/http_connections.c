#include "http_connections.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const double SLOW_SECONDS = 1; /* who reads or is read for so long may be cut for somebody else */

static void list_begin(sv_link *list) { list->before = list->after = list; }

static void list_add(sv_link *list, sv_link *link) {
    link->before = list->before;
    link->after = list;
    list->before->after = link;
    list->before = link;
}

static void list_remove(sv_link *link) {
    link->before->after = link->after;
    link->after->before = link->before;
}

static sv_connection *first_of_all(sv_link *list) {
    return list->after == list ? NULL : (sv_connection *)(void *)list->after;
}

static sv_connection *first_of_address(sv_link *list) {
    return list->after == list
               ? NULL
               : (sv_connection *)(void *)((char *)list->after - offsetof(sv_connection, of_address));
}

void sv_http_connections_begin(sv_http_connections *self, size_t most, size_t most_of_address) {
    *self = (sv_http_connections){.most = most, .most_of_address = most_of_address};
    for (int i = 0; i < CONNECTION_STATES; i++) list_begin(&self->lists[i]);
}

/* ---- addresses ---- */

static void read_key(const struct sockaddr *from, uint8_t key[16]) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    memset(key, 0, 16);
    if (from->sa_family == AF_INET) {
        memcpy(key, mapped, 12);
        memcpy(key + 12, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    } else if (from->sa_family == AF_INET6) {
        const uint8_t *six = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr.s6_addr;
        memcpy(key, six, memcmp(six, mapped, 12) ? 8 : 16);
    }
}

static sv_address **find(sv_http_connections *self, const uint8_t key[16]) {
    uint32_t hash = 2166136261u;
    for (int i = 0; i < 16; i++) hash = (hash ^ key[i]) * 16777619u;
    sv_address **at = &self->buckets[(hash ^ hash >> 16) % ADDRESS_BUCKETS];
    while (*at && memcmp((*at)->key, key, 16)) at = &(*at)->next;
    return at;
}

static sv_address *find_or_make(sv_http_connections *self, const struct sockaddr *from) {
    uint8_t key[16];
    read_key(from, key);
    sv_address **at = find(self, key), *found = *at;
    if (found) return found;
    if (!(*at = calloc(1, sizeof **at))) return NULL;
    memcpy((*at)->key, key, 16);
    for (int i = 0; i < CONNECTION_STATES; i++) list_begin(&(*at)->lists[i]);
    return *at;
}

static void forget_if_empty(sv_http_connections *self, sv_address *address) {
    if (address->count) return;
    *find(self, address->key) = address->next;
    free(address);
}

/* ---- connections ---- */

sv_connection *sv_http_connections_add(sv_http_connections *self, int socket, const struct sockaddr *from,
                                       double now) {
    sv_connection *made = calloc(1, sizeof *made);
    sv_address *address = made ? find_or_make(self, from) : NULL;
    if (!address) {
        free(made);
        return NULL;
    }
    made->socket = socket;
    made->address = address;
    made->since = now;
    if (from->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, made->from,
                  sizeof made->from);
    else
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)from)->sin_addr, made->from,
                  sizeof made->from);
    list_add(&self->lists[CONNECTION_NEW], &made->of_all);
    list_add(&address->lists[CONNECTION_NEW], &made->of_address);
    self->counts[CONNECTION_NEW]++;
    self->count++;
    address->count++;
    return made;
}

void sv_http_connections_remove(sv_http_connections *self, sv_connection *connection) {
    list_remove(&connection->of_all);
    list_remove(&connection->of_address);
    self->counts[connection->state]--;
    self->count--;
    connection->address->count--;
    forget_if_empty(self, connection->address);
    connection->address = NULL;
    connection->state = CONNECTION_GONE;
}

void sv_http_connections_free(sv_connection *connection) {
    sa_buffer_clear(&connection->kept);
    sa_buffer_clear(&connection->head);
    free(connection);
}

void sv_http_connections_set(sv_http_connections *self, sv_connection *connection, sv_connection_state state,
                             double now) {
    list_remove(&connection->of_all);
    list_remove(&connection->of_address);
    self->counts[connection->state]--;
    connection->state = state;
    connection->since = now;
    self->counts[state]++;
    list_add(&self->lists[state], &connection->of_all);
    list_add(&connection->address->lists[state], &connection->of_address);
}

sv_connection *sv_http_connections_first(sv_http_connections *self, sv_connection_state state) {
    return first_of_all(&self->lists[state]);
}

/* Who has sent nothing goes first, then who rests, then who is slow. */
static sv_connection *least_missed(sv_link *lists, sv_connection *first(sv_link *), double now) {
    static const sv_connection_state order[] = {CONNECTION_LEAVING, CONNECTION_NEW, CONNECTION_RESTING,
                                                CONNECTION_READING, CONNECTION_SENDING};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        sv_connection *found = first(&lists[order[i]]);
        if (found && (i < 3 || now - found->since > SLOW_SECONDS)) return found;
    }
    return NULL;
}

bool sv_http_connections_has_room(sv_http_connections *self, const struct sockaddr *from, double now,
                                  sv_connection **instead) {
    uint8_t key[16];
    read_key(from, key);
    sv_address *address = *find(self, key);
    *instead = NULL;
    if (address && address->count >= self->most_of_address)
        *instead = least_missed(address->lists, first_of_address, now);
    else if (self->count >= self->most)
        *instead = least_missed(self->lists, first_of_all, now);
    else
        return true;
    return false;
}
