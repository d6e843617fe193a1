/* Which backend a store has: its first word says so, and each call goes there. */
#include "store_calls.h"

#include <stdio.h>
#include <string.h>

static void nothing(sv_store *self) { (void)self; }

/* Of NULL, which may be closed. */
static const sv_store_calls NOTHING = {.close = nothing, .abandon = nothing};

static const sv_store_calls *calls_of(const sv_store *self) {
    return self ? ((const sv_store_head *)self)->calls : &NOTHING;
}

#define STORE_CALL(returned, name, parameters, arguments)                                                    \
    returned sv_store_##name parameters { return calls_of(self)->name arguments; }
STORE_CALLS(STORE_CALL)
#undef STORE_CALL

bool sv_store_is_url(const char *place) {
    return !strncmp(place, "postgresql://", 13) || !strncmp(place, "postgres://", 11);
}

/* Where a URL has no user: how much of it is the host, and how much its port, too. */
static size_t find_port(const char *from, size_t size, size_t *end) {
    size_t host = *from == '[' ? strcspn(from, "]") + 1 : strcspn(from, ":/?");
    *end = strcspn(from, "/?");
    if (*end > size) *end = size;
    return host < *end ? host : *end;
}

/* As libpq reads it, a password ends at the first @ before a /, and may have a ? in it. One with a / is none
 * for libpq; it is left out all the same. So is the port behind a host without a user, which may be a user
 * with a password whose host was forgotten. */
void sv_store_name(const char *place, char out[256]) {
    const char *from = strstr(place, "://"), *at;
    from = from ? from + 3 : place;
    const char *begin = from;
    size_t size = strlen(from), scheme = sv_store_is_url(place) ? 0 : (size_t)(from - place), host = 0,
           end = 0;
    if (from != place) {
        if ((at = memchr(from, '@', strcspn(from, "/")))) from = at + 1;
        size = strcspn(from, "?");
        while ((at = memchr(from, '@', size))) size -= (size_t)(at + 1 - from), from = at + 1;
        if (from == begin) host = find_port(from, size, &end);
    }
    snprintf(out, 256, "%.*s%.*s%.*s", (int)scheme, place, (int)host, from, (int)(size - end), from + end);
}

sv_store *sv_store_open(const char *place, bool write, sa_buffer *sentence) {
    if (strstr(place, "://") && !sv_store_is_url(place)) {
        char name[256];
        sv_store_name(place, name);
        sa_buffer_format(sentence, "%s is no URL like postgresql://user@host/database", name);
        return NULL;
    }
    return sv_store_is_url(place) ? sv_postgres_open(place, write, sentence)
                                  : sv_sqlite_open(place, write, sentence);
}

sv_store *sv_store_open_old(const char *folder, sa_buffer *sentence) {
    return sv_sqlite_open_old(folder, sentence);
}

bool sv_store_format(const char *folder, int *format, sa_buffer *sentence) {
    return sv_sqlite_format(folder, format, sentence);
}

bool sv_store_migrate(const char *folder, int format, sa_buffer *sentence) {
    return sv_sqlite_migrate(folder, format, sentence);
}
