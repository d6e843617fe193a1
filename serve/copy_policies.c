#include "copy_policies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "chunks.h"
#include "store_shared.h"

static sv_store_status say(sa_buffer *sentence, sv_store *failed) {
    sa_buffer_format(sentence, "%s", sv_store_sentence(failed));
    return STORE_FAILED;
}

/* ---- in ---- */

static sv_store_status put_chunks(sv_store *database, int64_t agent, const uint8_t *bytes,
                                  const sv_chunks *all) {
    sv_store_status status = STORE_OK;
    for (size_t i = 0; i < all->count && status == STORE_OK; i++)
        status =
            sv_shared_chunk_put(database, agent, all->hashes + i * SA_SHA256_BYTES, bytes + all->offsets[i],
                                (size_t)(all->offsets[i + 1] - all->offsets[i]));
    return status;
}

sv_store_status sv_copy_policy_in(sv_store *database, const char *folder, const sv_copied_policy *from,
                                  sa_buffer *sentence) {
    sa_buffer path = {0};
    sv_chunks chunks = {0};
    size_t size = 0;
    sa_buffer_format(&path, "%s/%s", folder, from->file);
    const uint8_t *bytes = path.status ? NULL : sv_chunks_map(path.text, &size);
    sv_store_status status = STORE_FAILED;
    if (!bytes || !sv_chunks_split(bytes, size, &chunks))
        sa_buffer_format(sentence, "the checkpoint %s/%s cannot be read", folder, from->file);
    else if ((status = put_chunks(database, from->agent, bytes, &chunks)) == STORE_OK) {
        sv_copied_policy policy = *from;
        policy.hashes = chunks.hashes;
        policy.count = chunks.count;
        policy.size = size;
        status = sv_postgres_copying.copy_policy(database, &policy);
    }
    if (status != STORE_OK && !sentence->size) status = say(sentence, database);
    sv_chunks_unmap(bytes, size);
    sv_chunks_clear(&chunks);
    sa_buffer_clear(&path);
    return status;
}

/* ---- out ---- */

typedef struct writing {
    int file;
    bool written;
} writing;

static bool write_chunk(void *user, const uint8_t *hash, const void *bytes, size_t size) {
    writing *self = user;
    sa_sha256 check;
    uint8_t digest[SA_SHA256_BYTES];
    sa_sha256_begin(&check);
    sa_sha256_add(&check, bytes, size);
    sa_sha256_end(&check, digest);
    self->written = !memcmp(hash, digest, sizeof digest) && write(self->file, bytes, size) == (ssize_t)size;
    return self->written;
}

static bool write_file(sv_store *database, const sv_copied_policy *from, const char *path) {
    writing work = {.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    bool good = work.file >= 0;
    for (size_t i = 0; good && i < from->count; i++) {
        work.written = false;
        good = sv_shared_chunks(database, from->agent, from->hashes + i * SA_SHA256_BYTES, 1, write_chunk,
                                &work) == STORE_OK &&
               work.written;
    }
    good = good && lseek(work.file, 0, SEEK_CUR) == (off_t)from->size && fsync(work.file) == 0;
    if (work.file >= 0 && close(work.file)) good = false;
    return good;
}

sv_store_status sv_copy_policy_out(sv_store *database, sv_store *journal, const char *folder,
                                   const sv_copied_policy *from, sa_buffer *sentence) {
    sa_buffer path = {0};
    char name[96];
    sv_copied_policy policy = *from;
    snprintf(name, sizeof name, "agent-%lld-%llu.npz", (long long)from->agent,
             (unsigned long long)from->version);
    policy.file = name;
    sa_buffer_format(&path, "%s/%s", folder, name);
    errno = 0;
    bool good = !path.status && write_file(database, from, path.text);
    if (!good)
        sa_buffer_format(sentence, "policy %lld of agent %lld cannot be written: %s",
                         (long long)from->version, (long long)from->agent,
                         errno ? strerror(errno) : "its chunks are not whole");
    sa_buffer_clear(&path);
    if (!good) return STORE_FAILED;
    sv_store_status status = sv_sqlite_copying.copy_policy(journal, &policy);
    return status == STORE_OK ? STORE_OK : say(sentence, journal);
}
