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

/* ---- reading ---- */

static bool is_name(const char *name) {
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    return size && !name[size] && size <= KEY_NAME;
}

static bool read_role(const char *role, sv_who *who, sv_refusal *why) {
    *who = !strcmp(role, "admin") ? WHO_ADMIN : !strcmp(role, "client") ? WHO_CLIENT : WHO_ANYONE;
    return *who != WHO_ANYONE || sv_refuse(why, 400, "%.32s is neither admin nor client", role);
}

static bool read_key(const char *line, sv_key *out, sv_refusal *why) {
    char words[4][100] = {"", "", "", ""};
    int count = sscanf(line, " %99s %99s %99s %99s", words[0], words[1], words[2], words[3]);
    const char *hash = count == 2 ? words[1] : words[2];
    if (count < 2 || count > 3 || strncmp(hash, "sha256:", 7))
        return sv_refuse(why, 400, "it is not like: admin sha256:HEX, or: client NAME sha256:HEX");
    *out = (sv_key){0};
    if (!read_role(words[0], &out->who, why)) return false;
    const char *name = count == 2 ? words[0] : words[1];
    if (!is_name(name))
        return sv_refuse(why, 400, "names of keys are letters, digits, - _ and ., at most %d", KEY_NAME);
    strcpy(out->name, name);
    return sv_hex_read(hash + 7, out->hash, SA_SHA256_BYTES) ||
           sv_refuse(why, 400, "the hash of %s is not 64 hexadecimal digits", out->name);
}

static bool add_key(sv_key_list *list, const sv_key *key, sv_refusal *why) {
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->keys[i].name, key->name))
            return sv_refuse(why, 400,
                             "there is a key with the name %s already: give it another, as in: client "
                             "NAME sha256:HEX",
                             key->name);
    if (list->count == KEYS) return sv_refuse(why, 400, "there are more than %d keys", KEYS);
    list->keys[list->count++] = *key;
    return true;
}

static bool read_lines(FILE *file, sv_key_list *list, sv_refusal *why) {
    char line[512];
    bool admin = false;
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        sv_key key;
        sv_refusal inner = {0};
        line[strcspn(line, "\n#")] = 0;
        if (!line[strspn(line, " \t\r")]) continue;
        if (!read_key(line, &key, &inner) || !add_key(list, &key, &inner))
            return sv_refuse(why, 400, "line %d: %.400s", number, inner.message);
        admin = admin || key.who == WHO_ADMIN;
    }
    return admin || sv_refuse(why, 400, "it has no admin key");
}

bool sv_keys_read(sv_keys *self, const char *path, char warning[200], sv_refusal *why) {
    struct stat about;
    *warning = 0;
    FILE *file = fopen(path, "re");
    if (!file) return sv_refuse(why, 400, "%s cannot be read: %s", path, strerror(errno));
    sv_key_list *list = calloc(1, sizeof *list + KEYS * sizeof *list->keys);
    bool good = list || sv_refuse(why, 503, "memory could not be had");
    if (good && fstat(fileno(file), &about) == 0) {
        if (about.st_mode & S_IWOTH) good = sv_refuse(why, 400, "everyone may write to it");
        bool by_group = about.st_uid != geteuid(); /* as a Secret of Kubernetes: we are of the group */
        if (about.st_mode & (by_group ? 037 : 077))
            snprintf(warning, 200, "%.120s can be read or written by others (mode %04o): chmod 600", path,
                     (unsigned)about.st_mode & 07777);
    }
    good = good && read_lines(file, list, why);
    fclose(file);
    if (!good) {
        sv_refusal inner = *why;
        free(list);
        return sv_refuse(why, inner.status, "%s: %.400s", path, inner.message);
    }
    self->given = true;
    list->before = atomic_load(&self->list);
    atomic_store(&self->list, list);
    return true;
}

void sv_keys_free(sv_keys *self) {
    for (sv_key_list *each = atomic_load(&self->list), *before; each; each = before) {
        before = each->before;
        free(each);
    }
    atomic_store(&self->list, NULL);
}

/* ---- making ---- */

static bool make_one(char key[65], char hash[65], sv_refusal *why) {
    uint8_t random[32], digest[SA_SHA256_BYTES];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return sv_refuse(why, 503, "there are no random numbers: %s", strerror(errno));
    sv_hex_write(random, sizeof random, key);
    hash_of(key, digest);
    sv_hex_write(digest, sizeof digest, hash);
    return true;
}

static bool end_file(int file, bool good, const char *path, sv_refusal *why) {
    good = good && fsync(file) == 0;
    if (close(file) || !good) return sv_refuse(why, 503, "%s cannot be written: %s", path, strerror(errno));
    return true;
}

bool sv_keys_make(const char *path, char admin[65], char client[65], sv_refusal *why) {
    char of_admin[65], of_client[65];
    if (!make_one(admin, of_admin, why) || !make_one(client, of_client, why)) return false;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return sv_refuse(why, 400, "%s cannot be made: %s", path, strerror(errno));
    bool good = dprintf(file, "admin sha256:%s\nclient sha256:%s\n", of_admin, of_client) > 0;
    return end_file(file, good, path, why);
}

bool sv_keys_add(const char *path, const char *role_and_name, char key[65], sv_refusal *why) {
    char hash[65], role[16] = "", line[200], warning[200];
    const char *colon = strchr(role_and_name, ':');
    sv_keys before = {0};
    sv_key parsed;
    if (!colon || (size_t)(colon - role_and_name) >= sizeof role)
        return sv_refuse(why, 400, "%.64s is not like client:NAME", role_and_name);
    memcpy(role, role_and_name, (size_t)(colon - role_and_name));
    if (!make_one(key, hash, why)) return false;
    snprintf(line, sizeof line, "%s %.64s sha256:%s", role, colon + 1, hash);
    if (!read_key(line, &parsed, why) || !sv_keys_read(&before, path, warning, why)) return false;
    bool good = add_key(atomic_load(&before.list), &parsed, why);
    sv_keys_free(&before);
    if (!good) return false;
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return sv_refuse(why, 400, "%s cannot be written: %s", path, strerror(errno));
    return end_file(file, dprintf(file, "%s\n", line) > 0, path, why);
}

/* ---- asking ---- */

const sv_key *sv_keys_find(const sv_keys *self, const char *authorization, const char *plain) {
    uint8_t digest[SA_SHA256_BYTES];
    const sv_key_list *list = atomic_load(&((sv_keys *)self)->list);
    const sv_key *found = NULL;
    if (authorization) plain = strncasecmp(authorization, "Bearer ", 7) ? NULL : authorization + 7;
    if (!list || !plain) return NULL;
    hash_of(plain, digest);
    for (size_t i = 0; i < list->count; i++) /* all of them, always */
        if (sv_digest_same(digest, list->keys[i].hash) && (!found || found->who < list->keys[i].who))
            found = &list->keys[i];
    return found;
}

sv_who sv_keys_who(const sv_keys *self, const char *authorization, const char *plain) {
    const sv_key *found = sv_keys_find(self, authorization, plain);
    return found ? found->who : WHO_ANYONE;
}

void sv_keys_digest(const sv_keys *self, char out[2 * SA_SHA256_BYTES + 1]) {
    uint8_t sum[SA_SHA256_BYTES] = {0};
    const sv_key_list *list = atomic_load(&self->list);
    for (size_t i = 0; list && i < list->count; i++) { /* in whatever order */
        sa_sha256 hash;
        uint8_t digest[SA_SHA256_BYTES];
        sa_sha256_begin(&hash);
        uint8_t who = (uint8_t)list->keys[i].who;
        sa_sha256_add(&hash, &who, 1);
        sa_sha256_add(&hash, list->keys[i].hash, SA_SHA256_BYTES);
        sa_sha256_end(&hash, digest);
        for (size_t k = 0; k < SA_SHA256_BYTES; k++) sum[k] ^= digest[k];
    }
    *out = 0;
    if (list) sv_hex_write(sum, sizeof sum, out);
}
