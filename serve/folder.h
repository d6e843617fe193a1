/* The folder of a service: one process at a time, a journal that is whole, and files that are its own.
 * Nothing is removed from it that the journal does not name. */
#ifndef SERVE_FOLDER_H
#define SERVE_FOLDER_H

#include "refusal.h"
#include "store.h"

typedef struct folder {
    char *path;
    char *scratch; /* how the paths of files begin that do not outlive the process */
    int lock_file; /* -1: not held */
    bool temporary;
} sv_folder;

/* Makes it where it is missing, and takes its lock. false with a refusal, 400: it is in use, or it cannot
 * be a service's. The struct can be closed either way. */
bool sv_folder_open(sv_folder *self, const char *path, sv_refusal *why);
/* One for scratch files alone, in TMPDIR, which goes with the process; those of processes that were killed go
 * now. */
bool sv_folder_make_temporary(sv_folder *self, sv_refusal *why);
/* One beside `path`, to be put into its place once all its files are synced: there may be an empty folder.
 * Those of processes that were killed go now. */
bool sv_folder_make_beside(sv_folder *self, const char *path, sv_refusal *why);
bool sv_folder_put_in_place(sv_folder *self, const char *path, sv_refusal *why);
/* With its journal, before anything is written: does that have all that the last process wrote? From here
 * on the lock file says how far the journal came. */
bool sv_folder_check_journal(sv_folder *self, sv_store *store, sv_refusal *why);
/* What the last process left: cut-off checkpoints, files of deleted agents, scratch files. */
bool sv_folder_tidy(sv_folder *self, sv_store *store, sv_refusal *why);
void sv_folder_close(sv_folder *self);
/* Has its disk room for so many bytes, and some more? false with 503. */
bool sv_folder_has_room(const sv_folder *self, double bytes, sv_refusal *why);

/* Up to when the journal of a folder was written, as its lock file says; 0: not known. */
int64_t sv_folder_mark(const char *path);

#endif
