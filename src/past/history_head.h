/* The head of a history's file: what it is, whose it is, and how far it goes. See history_file.h. */
#ifndef SA_PAST_HISTORY_HEAD_H
#define SA_PAST_HISTORY_HEAD_H

#include <sys/stat.h>

#include "past/history_rows.h"

typedef struct sa_history_head {
    char magic[16];
    uint64_t version, byte_order;
    uint64_t dim, real_bytes, positions, discounted; /* the last two: are there any? */
    uint64_t id[2];
    uint64_t count, answered;
    uint64_t mark; /* of the agent that was saved last; 0: none was */
    /* the latest mark that was given out: a save may have been cut short, so either may be the agent's */
    uint64_t issued;
} sa_history_head;

/* Of a new file; `path` for the sentence. */
sa_status sa_history_head_fill(sa_history_head *head, const sa_history *history, const char *path);
/* Is this the history that the saved agent speaks of? */
sa_status sa_history_head_check(const sa_history_head *head, const sa_history *history,
                                const sa_history_mark *mark, const char *path);
/* SA_INVALID for a name that a saved agent could not hold. */
sa_status sa_history_check_name(const char *path);
/* Does the name lead to this file? */
bool sa_leads_to(const char *path, const struct stat *file);
/* SA_FILE when there is something of that name, unless it is a history that nobody uses and whose agent was
 * never saved; `remove`: such a one is removed. */
sa_status sa_history_file_make_way(const char *path, bool remove);

#endif
