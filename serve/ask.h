/* A decide request: read from its body, by the threads that choose and again, from the journal, by the
 * learner. */
#ifndef SERVE_ASK_H
#define SERVE_ASK_H

#include "settings.h"

enum { ASK_BLOCKS = 24 };

typedef struct ask {
    json_t *body;      /* owned */
    const char *event; /* NULL: not given; of the body */
    size_t arms, dim;
    const double *contexts; /* (arms, dim) */
    const char *const *ids; /* (arms), of the body; NULL: arms are called by their index */
    bool *excluded;         /* (arms) or NULL */
    size_t slate;
    bool explain;
    sa_problem *problem;
    size_t *edges;            /* of the problem: (arms, 2) nodes, numbered from 0 */
    sa_encoding *encoding;    /* of named fields; has the contexts then */
    bool exactly;             /* "exactly" of the problem: K arms, no fewer */
    sa_request *request;      /* all of the above, for the library */
    void *blocks[ASK_BLOCKS]; /* arrays, freed with the ask */
    size_t block_count;
} sv_ask;

/* `body` is what `json` (size) was read to; its reference is taken, also where it fails. sv_ask_free either
 * way. */
bool sv_ask_read(sv_ask *self, const sv_settings *settings, json_t *body, const char *json, size_t size,
                 sv_refusal *why);
void sv_ask_free(sv_ask *self);
/* The arm's id, or its index, as JSON. */
void sv_ask_write_arm(const sv_ask *self, size_t arm, sv_text *out);

/* ---- for the parts of it ---- */

/* Zeroed memory that the ask owns; NULL with a refusal. */
void *sv_ask_block(sv_ask *self, size_t count, size_t size, sv_refusal *why);
bool sv_ask_read_problem(sv_ask *self, const json_t *problem, sv_refusal *why);

#endif
