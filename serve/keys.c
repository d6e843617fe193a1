#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static void hash_of(const char *key, uint8_t digest[SA_SHA256_BYTES]) {
    sa_sha256 hash;
    sa_sha256_begin(&hash);
    sa_sha256_add(&hash, key, strlen(key));
    sa_sha256_end(&hash, digest);
}

static bool read_line(sv_keys *self, char *line, sv_refusal *why) {
    char name[16], hex[80];
    line[strcspn(line, "\n#")] = 0;
    if (!line[strspn(line, " \t\r")]) return true;
    if (sscanf(line, " %15s sha256:%79s", name, hex) != 2)
        return refuse(why, 400, "\"%.40s\" is not like: admin sha256:HEX", line);
    bool admin = !strcmp(name, "admin");
    if (!admin && strcmp(name, "client")) return refuse(why, 400, "%s is neither admin nor client", name);
    if (!hex_read(hex, admin ? self->admin : self->client, SA_SHA256_BYTES))
        return refuse(why, 400, "the hash of %s is not 64 hexadecimal digits", name);
    *(admin ? &self->has_admin : &self->has_client) = true;
    return true;
}

bool keys_read(sv_keys *self, const char *path, sv_refusal *why) {
    char line[256];
    struct stat about;
    FILE *file = fopen(path, "r");
    if (!file) return refuse(why, 400, "%s cannot be read: %s", path, strerror(errno));
    bool good = true;
    *self = (sv_keys){.given = true};
    if (fstat(fileno(file), &about) == 0 && (about.st_mode & S_IWOTH))
        good = refuse(why, 400, "everyone may write to it");
    while (good && fgets(line, sizeof line, file)) good = read_line(self, line, why);
    fclose(file);
    if (good && !self->has_admin) good = refuse(why, 400, "it has no admin key");
    if (good) return true;
    sv_refusal inner = *why;
    return refuse(why, 400, "%s: %.400s", path, inner.message);
}

static bool make_one(char key[65]) {
    uint8_t random[32];
    if (getrandom(random, sizeof random, 0) != sizeof random) return false;
    hex_write(random, sizeof random, key);
    return true;
}

bool keys_make(const char *path, char admin[65], char client[65], sv_refusal *why) {
    uint8_t digest[SA_SHA256_BYTES];
    char of_admin[65], of_client[65];
    if (!make_one(admin) || !make_one(client))
        return refuse(why, 503, "there are no random numbers: %s", strerror(errno));
    hash_of(admin, digest);
    hex_write(digest, sizeof digest, of_admin);
    hash_of(client, digest);
    hex_write(digest, sizeof digest, of_client);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) return refuse(why, 400, "%s cannot be made: %s", path, strerror(errno));
    bool good =
        dprintf(file, "admin sha256:%s\nclient sha256:%s\n", of_admin, of_client) > 0 && fsync(file) == 0;
    if (close(file) || !good) return refuse(why, 503, "%s cannot be written: %s", path, strerror(errno));
    return true;
}

sv_who keys_who(const sv_keys *self, const char *authorization) {
    uint8_t digest[SA_SHA256_BYTES];
    if (!authorization || strncasecmp(authorization, "Bearer ", 7)) return WHO_ANYONE;
    hash_of(authorization + 7, digest);
    bool admin = digest_same(digest, self->admin) && self->has_admin;
    bool client = digest_same(digest, self->client) && self->has_client;
    return admin ? WHO_ADMIN : client ? WHO_CLIENT : WHO_ANYONE;
}
