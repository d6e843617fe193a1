/* A decide request: read from its body, by the threads that choose and again, from the journal, by the
 * learner. */
#ifndef SERVE_ASK_H
#define SERVE_ASK_H

#include <superarm/json.h>

#include "bounds.h"
#include "catalogue.h"
#include "settings.h"

typedef struct ask {
    sa_json json;             /* the body */
    char event[LIMIT_ID + 1]; /* "": not given */
    size_t arms, dim, slate;
    bool explain, held;            /* held: not activated, and learnt only once it is */
    char user[LIMIT_ID + 1];       /* "": not given */
    size_t baseline;               /* node of the shop's own slate; 0: not given */
    bool ranking;                  /* all arms in order, with the probability of each */
    size_t places;                 /* node of the places' names; 0: they have none */
    uint64_t ignored;              /* values of fields that the schema does not have */
    size_t rules;                  /* node of "problem"; 0: it has none */
    sa_problem *problem;           /* the same for the library; of the request */
    sa_request *request;           /* all that the library needs */
    const sv_catalogue *catalogue; /* whose items the candidates are; NULL: they came with it */
    uint32_t *stored;              /* (arms) which of them, by increasing number */
    const double **rows;           /* (arms) */
    const char **names;            /* (arms) */
    sa_problem *own_problem; /* made for rules in words; NULL: it has none, or they came with a problem */
    struct words *words;     /* words.h, whose caller frees them; NULL: none were read */
} sv_ask;

/* The body is borrowed as long as the ask. `digest`: of a body that came just now, which has no key twice
 * (values.h); NULL: from the journal. sv_ask_free either way. */
bool sv_ask_read(sv_ask *self, const sv_settings *settings, const char *body, size_t size, uint8_t *digest,
                 sv_refusal *why);
/* The same where "items" may name stored items, or "where" say which, or neither be given: all of them.
 * `items` is borrowed as long as the ask, NULL: there are none, as `without` says if it has a status.
 * `now`: the day's clock. */
bool sv_ask_read_stored(sv_ask *self, const sv_settings *settings, const sv_catalogue *items,
                        const sv_refusal *without, int64_t now, const char *body, size_t size,
                        uint8_t *digest, sv_refusal *why);
void sv_ask_free(sv_ask *self);
/* The arm's id, or its index, as JSON. */
void sv_ask_write_arm(const sv_ask *self, size_t arm, sa_buffer *out);

/* The same as text, ended by 0. */
void sv_ask_name_arm(const sv_ask *self, size_t arm, sa_buffer *out);
/* The arm that a node of the body names. */
bool sv_ask_arm(const sv_ask *self, size_t at, const char *path, size_t index, size_t *arm, sv_refusal *why);

#endif
