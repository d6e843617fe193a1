/* A history that lives in a file (--history FILE), mapped into memory: the page cache decides what of it is
 * there.
 *
 * The file is a head of 64 KiB and segments of 16384, 16384, 32768, 65536 ... observations, each as large as
 * all before it. A segment has a block for each column: contexts, scores, starts of decisions, and positions
 * and discounts where there are any. The blocks of a column are mapped one behind the other, so that it is
 * one array to all others, and no growth moves what is written. Disk space is asked for before it is written
 * to.
 *
 * The head names the format, the shape of an observation, and the agent by a random id that the saved agent
 * has too. Rows are written before the head counts them. A process that is killed loses nothing that it
 * wrote; what survives a crash of the machine is what was there when the agent was last saved. A saved agent
 * knows how many observations it has: those that came later are left as they are when it is loaded, and are
 * written over once it goes on. Each save has a number, its mark, and only the agent that was saved last can
 * be loaded. A history whose agent was never saved is of no use, and can be begun again (`history-new`); the
 * runs of an experiment, whose agents are never saved, do so.
 *
 * One agent at a time: the file is locked (flock) for as long as the agent lives. */
#ifndef SA_PAST_HISTORY_FILE_H
#define SA_PAST_HISTORY_FILE_H

#include <stdint.h>

#include "past/history_rows.h"

typedef struct sa_history_file sa_history_file;

/* A new file for an empty history, which then lives there. SA_FILE when there is something of that name. */
sa_status sa_history_file_create(sa_history *history, const char *path);
/* The file that a saved agent speaks of. On failure, neither history nor file is changed. */
sa_status sa_history_file_open(sa_history *history, const char *path, const sa_history_mark *mark);
void sa_history_file_close(sa_history_file *file); /* NULL is fine */
/* Room for so many observations and decisions in all. The history's arrays may move. */
sa_status sa_history_file_reserve(sa_history *history, size_t rows);
/* Before something is written behind what the history has: what came there after the agent was saved is given
 * up now. */
void sa_history_file_go_on(const sa_history *history);
/* The head counts what the history has. */
void sa_history_file_note(const sa_history *history);
/* Could an agent that is saved to `path` be loaded? Not when that is the history itself, nor when the
 * history's name leads to another file by now, or to none. */
sa_status sa_history_file_check_save(const sa_history_file *file, const char *path);
/* Writes all of it to the disk. What a saved agent says of it lasts until the next call. */
sa_status sa_history_file_sync(const sa_history *history, const sa_history_mark **mark);
/* The agent that says so is saved: no earlier one can be loaded from now on. */
void sa_history_file_saved(const sa_history *history);

#endif
