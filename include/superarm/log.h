/* Decision logs: JSON lines, one object a decision, read and written as a stream. docs/LOGS.md has the
 * format.
 *
 *   {"event": "e-17", "contexts": [[0.1, 2], [0.3, 1], [0, 0]], "slate": [2, 0], "propensity": 0.031,
 *       "feedback": [1, null]}
 *
 * One reader or writer belongs to one thread at a time. */
#ifndef SUPERARM_LOG_H
#define SUPERARM_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One decision. What a reader gives is its own, read-only and valid until its next call; what a writer is
 * given stays the caller's. N: candidates, K: arms of the slate. */
typedef struct sa_log_entry {
    uint64_t line;     /* in the file, from 1; writers do not look */
    const char *event; /* texts: UTF-8, ended by 0; NULL: not in the log */
    const char *time;  /* as it is written there, "2026-11-15T12:00:00Z" */
    const char *agent; /* its name */
    /* whose slate was shown, in a service's log: "agent", "control"...; NULL: not in the log, the agent's. It
     * is in `extra`, too, and writers look there alone */
    const char *side;
    int64_t model; /* the policy's version; -1: not in the log */
    bool final;    /* false where the log says that feedback may still change */

    /* what could be chosen: contexts, or items with what they share; at least one of the two */
    size_t candidates;      /* N >= 1 */
    size_t dim;             /* d; 0 without contexts */
    const double *contexts; /* (N, d) row-major, finite; NULL: not in the log */
    /* (N) of the items, unique, 1 to 256 bytes; NULL where items have none, or are not in the log */
    const char *const *ids;
    /* JSON text of the object "context", with context_size bytes and no 0 behind it; NULL: none */
    const char *context;
    size_t context_size;
    const char *items; /* JSON text of the array "items", items_size bytes; NULL: none */
    size_t items_size;

    /* what was chosen, and what came of it */
    size_t slate; /* K <= N */
    /* (K) which candidates, from 0, in the order of positions; none twice. Their ids: ids[arms[k]] */
    const size_t *arms;
    const double *feedback; /* (K), NaN: not seen; NULL: none has come */
    double total; /* of the slate, where only that is known (--feedback total); NaN: not in the log */

    /* probabilities of the policy that chose, in (0, 1]; NaN: unknown */
    double propensity;                   /* of the ordered slate */
    const double *prefix_propensities;   /* (K) of its first k arms, in order; NULL: not in the log */
    const double *position_propensities; /* (K) of arm k at position k; NULL: not in the log */
    /* the same of a policy in question, in [0, 1] */
    double target_propensity;
    const double *target_prefix_propensities;
    const double *target_position_propensities;

    /* JSON text of an object with all other fields, kept as they are; extra_size bytes; NULL: none */
    const char *extra;
    size_t extra_size;
    /* the whole line, json_size bytes: also a request for sa_schema_encode; writers do not look */
    const char *json;
    size_t json_size;
} sa_log_entry;

/* An entry with nothing in it: no texts, no arrays, model -1, final, probabilities unknown. For writing. */
SA_API void sa_log_entry_clear(sa_log_entry *entry);

/* ---- reading ---- */

typedef struct sa_log_reader sa_log_reader;

/* A line may be so long; memory stays within a few times the longest line, whatever the size of the file. */
#define SA_LOG_LONGEST_LINE ((size_t)1 << 26)

/* `skip_bad`: lines that are wrong are skipped and counted. `*out` is set only on success; caller closes
 * it. */
SA_API sa_status sa_log_reader_open(const char *path, bool skip_bad, sa_log_reader **out);
SA_API void sa_log_reader_close(sa_log_reader *reader); /* NULL is fine */

/* The next decision; `*entry` is NULL after the last. A line that is wrong is SA_FORMAT with "path:line: "
 * and what is wrong, and the next call goes on behind it. A last line that was cut off (it has no line end,
 * and its JSON stops in the middle) is left out, see sa_log_counts. A file without a single line that is a
 * decision is SA_FORMAT. */
SA_API sa_status sa_log_reader_next(sa_log_reader *reader, const sa_log_entry **entry);

typedef struct sa_log_counts {
    uint64_t lines;     /* read so far, blank ones included */
    uint64_t decisions; /* given */
    uint64_t bad;       /* lines that were wrong */
    uint64_t cut_off;   /* 1 when the last line was cut off, and left out */
    uint64_t bytes;     /* of these lines */
} sa_log_counts;

SA_API void sa_log_reader_count(const sa_log_reader *reader, sa_log_counts *counts);
/* What a user should be told at the end, as one sentence: "log.jsonl: the last line, 812, is cut off and was
 * left out", or how many lines were skipped and what was wrong with the first; "" when there is nothing.
 * Valid until the reader's next call. */
SA_API const char *sa_log_reader_warning(sa_log_reader *reader);

/* ---- writing ---- */

typedef struct sa_log_writer sa_log_writer;

/* The file appears whole, over an older one, when the writer is finished; a device or pipe is written
 * straight to. `digits`: of numbers, 17 to read back the same; 0: as many as that takes. */
SA_API sa_status sa_log_writer_open(const char *path, int digits, sa_log_writer **out);
/* Writes one line. An entry that a reader would refuse is SA_INVALID with what is wrong, and nothing is
 * written. "propensity" is always written, null where it is unknown, and "feedback" where there is a slate;
 * of the rest, what is there. */
SA_API sa_status sa_log_writer_write(sa_log_writer *writer, const sa_log_entry *entry);
/* Frees the writer either way; on failure the older file stays. */
SA_API sa_status sa_log_writer_finish(sa_log_writer *writer);
SA_API void sa_log_writer_abandon(sa_log_writer *writer); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
