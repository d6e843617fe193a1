/* The list of options as a table, for the files that walk it (options.c, options_set.c). */
#ifndef SA_BASE_OPTIONS_TABLE_H
#define SA_BASE_OPTIONS_TABLE_H

#include "base/options.h"

typedef enum sa_option_kind {
    SA_KIND_INTEGER,
    SA_KIND_NUMBER,
    SA_KIND_CHOICE,
    SA_KIND_FLAG,
    SA_KIND_TEXT,
} sa_option_kind;

typedef struct sa_option_row {
    const char *name;
    sa_option_kind kind;
    sa_option_scope scope;
    size_t offset;       /* of the field in struct sa_options */
    int64_t integer[3];  /* by preset; choices and flags too */
    int64_t least, most; /* integers */
    double number[3];    /* by preset */
    double low, high;    /* numbers; a low of ABOVE_0: more than 0; of OR_THEORY: 0 or more, or theory */
    const char *choices; /* "single|double" */
    const char *text;    /* in every preset */
    const char *help;
} sa_option_row;

extern const sa_option_row sa_option_rows[SA_OPTION_TOTAL];

/* By name or alias; NULL when there is none. */
const sa_option_row *sa_option_row_find(const char *name);
/* The enumerator of a name among "a|b|c" choices, -1 when it is none of them. */
int sa_choice_find(const char *choices, const char *name);
/* Fills every option that was not given from the preset; texts are the same in all presets and stay. */
void sa_options_fill(sa_options *options, sa_preset preset);

static inline bool sa_option_takes_theory(const sa_option_row *row) {
    return row->kind == SA_KIND_NUMBER && row->low == OR_THEORY;
}

static inline void *sa_option_field(const sa_options *options, const sa_option_row *row) {
    return (char *)options + row->offset;
}

#endif
