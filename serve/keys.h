/* Keys of admins and clients, as many as are wanted, each with a name. The file has their SHA-256 only: keys
 * are 256 random bits, so nothing slower is needed. It can be read again while requests are answered. */
#ifndef SERVE_KEYS_H
#define SERVE_KEYS_H

#include <stdatomic.h>

#include "hex.h"
#include "refusal.h"

typedef enum who { WHO_ANYONE, WHO_CLIENT, WHO_ADMIN } sv_who;

enum { KEYS = 256, KEY_NAME = 32 };

typedef struct key {
    sv_who who;
    char name[KEY_NAME + 1];
    uint8_t hash[SA_SHA256_BYTES];
} sv_key;

typedef struct key_list {
    struct key_list *before; /* replaced by this one, and kept: somebody may be reading it */
    size_t count;
    sv_key keys[];
} sv_key_list;

typedef struct keys {
    atomic_bool given; /* false: no keys, and only loopback is served */
    _Atomic(sv_key_list *) list;
} sv_keys;

/* Lines "ROLE sha256:HEX" or "ROLE NAME sha256:HEX"; ROLE is admin or client, and the NAME where it is not
 * given. Again: on failure the keys stay as they were. A warning where others may read the file, else "". */
bool sv_keys_read(sv_keys *self, const char *path, char warning[200], sv_refusal *why);
void sv_keys_free(sv_keys *self);
/* The same for the same keys, as hexadecimal digits; "" for none. */
void sv_keys_digest(const sv_keys *self, char out[2 * SA_SHA256_BYTES + 1]);
/* Makes an admin's and a client's, writes the file (it must not exist) and gives the keys themselves, which
 * are kept nowhere. */
bool sv_keys_make(const char *path, char admin[65], char client[65], sv_refusal *why);
/* Adds one to the file; `role_and_name` is "client:web". */
bool sv_keys_add(const char *path, const char *role_and_name, char key[65], sv_refusal *why);
/* Of an Authorization header or, without one, the key itself; either may be NULL. NULL: no key of ours. */
const sv_key *sv_keys_find(const sv_keys *self, const char *authorization, const char *plain);
sv_who sv_keys_who(const sv_keys *self, const char *authorization, const char *plain);

#endif
