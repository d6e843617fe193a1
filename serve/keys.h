/* Two keys, an admin's and a client's. The file has their SHA-256 only: keys are 256 random bits, so
 * nothing slower is needed. */
#ifndef SERVE_KEYS_H
#define SERVE_KEYS_H

#include "hex.h"
#include "refusal.h"

typedef enum who { WHO_ANYONE, WHO_CLIENT, WHO_ADMIN } sv_who;

typedef struct keys {
    bool given; /* false: no keys, and only loopback is served */
    bool has_admin, has_client;
    uint8_t admin[SA_SHA256_BYTES], client[SA_SHA256_BYTES];
} sv_keys;

/* Lines "admin sha256:HEX" and "client sha256:HEX". */
bool keys_read(sv_keys *self, const char *path, sv_refusal *why);
/* Makes both, writes the file (it must not exist) and gives the keys themselves, which are kept nowhere. */
bool keys_make(const char *path, char admin[65], char client[65], sv_refusal *why);
/* Of an Authorization header, NULL where there is none. WHO_ANYONE: no key of ours. */
sv_who keys_who(const sv_keys *self, const char *authorization);

#endif
