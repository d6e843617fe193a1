/* `superarm serve`: the one header of the service that the program sees. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stdbool.h>

typedef struct serve_options {
    const char *folder;  /* or NULL, with */
    const char *store;   /* a URL, postgresql://..., which other servers share */
    int learn;           /* there: 0 it learns, too; 1 it does not; 2 it only learns */
    const char *address; /* "127.0.0.1" */
    const char *keys;    /* file, or NULL */
    const char *port_file;
    unsigned port, threads;
    double checkpoint_seconds, recovery_seconds, request_seconds, solver_seconds;
    double stop_seconds;                           /* after SIGTERM */
    unsigned connections, connections_per_address; /* 0: as http.h has it */
    double memory;                                 /* bytes for agents; 0: half of what there is */
    double body_memory;                            /* bytes; 0: likewise */
    int log;                                       /* 0: a line a request; 1: of errors; 2: none */
} sv_serve_options;

/* Each returns 0, 2 where the user's input is wrong, or 1, with a sentence in `message` (512). */

/* Serves until SIGTERM or SIGINT. */
int sv_serve_run(const sv_serve_options *options, char *message);
/* Looks at a folder without serving it: damage, rows that do not fit together, checkpoints that cannot be
 * read. Prints what it finds. */
int sv_serve_check(const char *folder, char *message);
/* Is it the URL of a database? Else it is a folder. */
bool sv_serve_is_url(const char *place);
/* The same of --store, which must be one: false with a sentence that has no password. */
bool sv_serve_is_store(const char *place, char *message);
/* A copy of the folder into a new one, while it is served. */
int sv_serve_backup(const char *folder, const char *to, char *message);
/* A folder of an older format becomes one of this version's, after a backup beside it; a database, given by
 * its URL, gets its tables or those of this version. */
int sv_serve_migrate(const char *folder, char *message);
/* All of a folder into a database that is given by its URL, or back, while nobody serves either. */
int sv_serve_copy(const char *from, const char *to, char *message);
/* Helps a running service, which starts it (solver.h). */
int sv_serve_solver(void);
/* The process of an evaluation, which the service starts. */
int sv_serve_evaluator(int count, char **words);
/* Adds a key, "client:web", to the file and prints it. */
int sv_serve_add_key(const char *path, const char *role_and_name, char *message);
/* Makes a file of keys and prints the keys. */
int sv_serve_make_keys(const char *path, char *message);

#endif
