/* Files that policies are read from and written to. Without them this server can neither take over an agent
 * nor publish what it learns: it lets its agents go to servers that can, and takes them again later. A
 * thread of its own tries them: it may wait for a disk, and the beat must not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cluster_own.h"
#include "thread_name.h"

static const double SPARE_BYTES = 1e6, COPIES = 2; /* one is written while another is read */
static const double LOOK_SECONDS = 0.5;
static const double FAILED_SECONDS = 10; /* before files are tried again that could not be written */

/* A folder that somebody removed is made again; another's of the same name is not ours. */
static bool make_again(const char *path) {
    struct stat about;
    if (lstat(path, &about) == 0) return S_ISDIR(about.st_mode) && about.st_uid == geteuid();
    if (mkdir(path, 0700)) return false;
    fprintf(stderr, "superarm serve: %s was gone, and is made again\n", path);
    return true;
}

static bool can_write(const char *path) {
    char bytes[4096] = {0};
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = file >= 0 && write(file, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    int error = errno;
    if (file >= 0 && close(file) && good) good = false, error = errno;
    unlink(path);
    errno = good ? 0 : error ? error : ENOSPC;
    return good;
}

static double room_in(const char *path) {
    struct statvfs disk;
    return statvfs(path, &disk) ? 0 : (double)disk.f_bavail * (double)disk.f_frsize;
}

/* Why files cannot be written, into `out`; "": they can. */
static void look(sv_cluster *self, double wanted, double failed, char out[320]) {
    const sv_folder *folder = &self->service->folder;
    sa_buffer path = {0};
    sa_buffer_format(&path, "%s-probe", folder->scratch);
    *out = 0;
    if (path.status) return;
    if (!make_again(folder->path) || !can_write(path.text))
        snprintf(out, 320, "%.200s cannot be written to (%s)", folder->path, strerror(errno));
    else if (room_in(folder->path) < wanted)
        snprintf(out, 320, "%.200s has %.1f MB left, and policies need %.1f", folder->path,
                 room_in(folder->path) / 1e6, wanted / 1e6);
    else if (failed > 0 && sv_clock_seconds() - failed < FAILED_SECONDS)
        snprintf(out, 320, "policies could not be written to %.200s", folder->path);
    sa_buffer_clear(&path);
}

static void look_again(sv_cluster *self) {
    char now[320];
    pthread_mutex_lock(&self->lock);
    double wanted = COPIES * self->largest + SPARE_BYTES, failed = self->scratch_failed;
    pthread_mutex_unlock(&self->lock);
    look(self, wanted, failed, now);
    pthread_mutex_lock(&self->lock);
    bool changed = (*now != 0) != (*self->scratch_trouble != 0);
    memcpy(self->scratch_trouble, now, sizeof now);
    self->news = self->news || changed;
    if (changed) pthread_cond_signal(&self->told_beat);
    pthread_mutex_unlock(&self->lock);
    if (changed && *now)
        fprintf(
            stderr,
            "superarm serve: %s: others learn the agents of this server, and it follows no newer policy\n",
            now);
    else if (changed)
        fprintf(stderr, "superarm serve: scratch files can be written again\n");
}

static void *work(void *user) {
    sv_cluster *self = user;
    sv_thread_name("scratch");
    while (!atomic_load(&self->stop)) {
        double until = sv_clock_seconds() + LOOK_SECONDS;
        look_again(self);
        pthread_mutex_lock(&self->lock);
        while (!atomic_load(&self->stop) && sv_waiting_until(&self->told_scratch, &self->lock, until))
            continue;
        pthread_mutex_unlock(&self->lock);
    }
    return NULL;
}

bool sv_cluster_start_scratch(sv_cluster *self) {
    self->tries_scratch = pthread_create(&self->scratch_thread, NULL, work, self) == 0;
    return self->tries_scratch;
}

void sv_cluster_stop_scratch(sv_cluster *self) {
    if (!self->tries_scratch) return;
    pthread_mutex_lock(&self->lock);
    pthread_cond_signal(&self->told_scratch);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->scratch_thread, NULL);
    self->tries_scratch = false;
}

void sv_cluster_need_scratch(sv_cluster *self, double size) {
    pthread_mutex_lock(&self->lock);
    if (size > self->largest) self->largest = size;
    pthread_mutex_unlock(&self->lock);
}

void sv_cluster_scratch_failed(sv_cluster *self) {
    pthread_mutex_lock(&self->lock);
    self->scratch_failed = sv_clock_seconds();
    pthread_mutex_unlock(&self->lock);
}

bool sv_cluster_scratch_trouble(sv_cluster *self, char sentence[320]) {
    pthread_mutex_lock(&self->lock);
    memcpy(sentence, self->scratch_trouble, sizeof self->scratch_trouble);
    pthread_mutex_unlock(&self->lock);
    return *sentence;
}
