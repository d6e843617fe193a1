/* What a request may be. Bounds that protect the service from one client; the sentences of refusals name
 * them. */
#ifndef SERVE_BOUNDS_H
#define SERVE_BOUNDS_H

enum {
    LIMIT_BODY = 4 << 20,            /* bytes of a request's body */
    LIMIT_MODEL = 256 << 20,         /* of an agent sent as npz */
    LIMIT_BODIES = 256 << 20,        /* of all bodies at a time, unless --body-memory says otherwise */
    LIMIT_HEADERS = 32 << 10,        /* of request line and headers */
    LIMIT_FIELDS = 100,              /* headers */
    LIMIT_NESTING = 16,              /* JSON in JSON */
    LIMIT_ITEMS = 10000,             /* candidate arms */
    LIMIT_PLACES = 200,              /* with names */
    LIMIT_RANKING = 1000,            /* of which the answer gives all, in order */
    LIMIT_STORED = 100000,           /* items of a catalogue */
    LIMIT_STORED_ITEM = 65536,       /* bytes of one */
    LIMIT_STORED_BYTES = 64 << 20,   /* of all */
    LIMIT_STORED_NUMBERS = 16 << 20, /* items x features: 128 MB */
    LIMIT_STORED_PAST = 1000000,     /* items of earlier versions, which decisions name */
    LIMIT_STORED_FIELDS = 64,        /* that rules and filters can name */
    LIMIT_LINES = 32 << 20,          /* bytes of a body of JSON lines */
    LIMIT_NUMBERS = 4000000,         /* arms x features: 32 MB */
    LIMIT_NAME = 64,                 /* bytes of an agent's name */
    LIMIT_ID = 256,                  /* of an event, an item, a feedback's id */
    LIMIT_NEW_AGENTS = 1000,         /* with so many of them PUT makes no further one */
    LIMIT_AGENTS = 2000,             /* that a journal may have: older versions let some more in */
    LIMIT_CONNECTIONS = 16384,       /* open at a time, unless --connections says otherwise */
    LIMIT_QUEUE = 2048,              /* requests that wait for the disk; half of them of one agent */
    LIMIT_HELD = 100000,             /* events of an agent that are not activated; the oldest go */
    LIMIT_FEEDBACKS = 1000,          /* to one event */
    LIMIT_FEEDBACK_VALUES = 200000,  /* in them, where there is more than one */
    LIMIT_LOG_LINES = 1000,          /* of a page of the log */
    LIMIT_LOG_BYTES = 8 << 20,
    LIMIT_GROUPS = 1000000, /* numbers of groups, from 0 */
    LIMIT_DIM = 100000,
    LIMIT_HIDDEN = 10000
};

/* Numbers of a problem, either sign. */
static const double LIMIT_MAGNITUDE = 1e15;

#endif
