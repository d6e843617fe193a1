/* The program of the version after this one, as far as the database is concerned: one more migration, that
 * older programs can work with (superarm_next), or cannot (superarm_far). */
#ifdef BREAKS
#define NEXT_MIGRATION                                                                                       \
    { "ALTER TABLE feedback RENAME COLUMN value TO said", true }
#else
#define NEXT_MIGRATION                                                                                       \
    {                                                                                                        \
        "CREATE TABLE notes (agent bigint PRIMARY KEY, note text NOT NULL);"                                 \
        "ALTER TABLE decisions ADD COLUMN note text NOT NULL DEFAULT '';"                                    \
        "CREATE INDEX decisions_noted ON decisions (agent) WHERE note <> ''",                                \
            false                                                                                            \
    }
#endif
#include "../serve/store_postgres_format.c"
