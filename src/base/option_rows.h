/* How options are read: a list of them, one line each, yields fields of a struct, rows of a table, and
 * with these the parser, the flags, the YAML keys and the help. Which options there are is in the
 * options.h of each folder that has some.
 *
 * A list is a macro of X, and a line of it is one of
 *
 *   X(INTEGER, field, "name", scope, paper, icml23, tuned, least, most, help)
 *   X(NUMBER,  field, "name", scope, paper, icml23, tuned, least, most, help)
 *   X(CHOICE,  field, "name", scope, paper, icml23, tuned, choices, help)
 *   X(FLAG,    field, "name", scope, paper, icml23, tuned, help)
 *   X(TEXT,    field, "name", scope, value, help)
 *   X(PATH,    field, "name", scope, help)
 *
 * A number's least is ABOVE_0 where it must be more than 0, and OR_THEORY where it may be 0 or more, or
 * the word theory, ABOVE_0_OR_THEORY likewise. Choices are a list X(ENUMERATOR, "name"). Texts are the same
 * in every preset; a path is a file that is read. A new line needs tools/make-options-struct >
 * src/options/struct.h. A preset that has no column is in options/presets.c.
 *
 * A list of options is what users set. A list of settings has lines of the same form, which presets and
 * the library's own files set, and no user: what tells the presets apart, and what the tests turn. Saved
 * agents hold both. */
#ifndef SA_BASE_OPTION_ROWS_H
#define SA_BASE_OPTION_ROWS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include <superarm/options.h>

#define ABOVE_0 DBL_TRUE_MIN
#define OR_THEORY (-DBL_TRUE_MIN)
#define ABOVE_0_OR_THEORY (-2 * DBL_TRUE_MIN)
#define SA_BY_THEORY HUGE_VAL /* the value of an option that is `theory` */
#define SA_ANY_INTEGER INT64_C(1000000000000)

/* One enum for each list of choices. */
#define SA_CHOICE_ENUMERATOR(enumerator, name) SA_##enumerator,
#define SA_DECLARE_CHOICES(type, list) typedef enum type { list(SA_CHOICE_ENUMERATOR) type##_count } type

/* The fields of a struct: list(SA_OPTION_FIELD). */
#define SA_OPTION_FIELD(kind, field, ...) SA_FIELD_##kind(field)
#define SA_FIELD_INTEGER(field) int64_t field;
#define SA_FIELD_NUMBER(field) double field;
#define SA_FIELD_CHOICE(field) int field; /* the enumerator */
#define SA_FIELD_FLAG(field) bool field;
#define SA_FIELD_TEXT(field) char *field; /* owned; "" when not set */
#define SA_FIELD_PATH(field) char *field; /* the same */

typedef enum sa_option_kind {
    SA_KIND_INTEGER,
    SA_KIND_NUMBER,
    SA_KIND_CHOICE,
    SA_KIND_FLAG,
    SA_KIND_TEXT,
    SA_KIND_PATH,
} sa_option_kind;

enum { SA_PRESET_COUNT = 3 };

typedef struct sa_option_row {
    const char *name;
    sa_option_kind kind;
    sa_option_scope scope;
    size_t offset;                    /* of the field in the struct */
    int64_t integer[SA_PRESET_COUNT]; /* by preset; choices and flags too */
    int64_t least, most;              /* integers */
    double number[SA_PRESET_COUNT];   /* by preset */
    double low, high;    /* numbers; a low of ABOVE_0: more than 0; of OR_THEORY: 0 or more, or theory */
    const char *choices; /* "single|double" */
    const char *text;    /* in every preset */
    const char *help;
} sa_option_row;

/* The rows of a table: list(SA_OPTION_ROW), where SA_OPTIONS_TYPE is the struct. */
#define SA_OPTION_ROW(kind, ...) SA_ROW_##kind(__VA_ARGS__)
#define SA_ROW_START(field_, name_, scope_, kind_)                                                           \
    .name = name_, .kind = SA_KIND_##kind_, .scope = SA_SCOPE_##scope_,                                      \
    .offset = offsetof(SA_OPTIONS_TYPE, field_)
#define SA_CHOICE_WORD(enumerator, name) "|" name
#define SA_ROW_INTEGER(field_, name_, scope_, paper, icml23, tuned, least_, most_, help_)                    \
    {SA_ROW_START(field_, name_, scope_, INTEGER), .integer = {paper, icml23, tuned}, .least = least_,       \
     .most = most_, .help = help_},
#define SA_ROW_NUMBER(field_, name_, scope_, paper, icml23, tuned, low_, high_, help_)                       \
    {SA_ROW_START(field_, name_, scope_, NUMBER), .number = {paper, icml23, tuned}, .low = low_,             \
     .high = high_, .help = help_},
#define SA_ROW_CHOICE(field_, name_, scope_, paper, icml23, tuned, choices_, help_)                          \
    {SA_ROW_START(field_, name_, scope_, CHOICE), .integer = {SA_##paper, SA_##icml23, SA_##tuned},          \
     .choices = &choices_(SA_CHOICE_WORD)[1], .help = help_},
#define SA_ROW_FLAG(field_, name_, scope_, paper, icml23, tuned, help_)                                      \
    {SA_ROW_START(field_, name_, scope_, FLAG), .integer = {paper, icml23, tuned}, .help = help_},
#define SA_ROW_TEXT(field_, name_, scope_, text_, help_)                                                     \
    {SA_ROW_START(field_, name_, scope_, TEXT), .text = text_, .help = help_},
#define SA_ROW_PATH(field_, name_, scope_, help_)                                                            \
    {SA_ROW_START(field_, name_, scope_, PATH), .text = "", .help = help_},

static inline bool sa_option_takes_theory(const sa_option_row *row) {
    return row->kind == SA_KIND_NUMBER && (row->low == OR_THEORY || row->low == ABOVE_0_OR_THEORY);
}

/* Text and paths own memory. */
static inline bool sa_option_is_text(const sa_option_row *row) {
    return row->kind == SA_KIND_TEXT || row->kind == SA_KIND_PATH;
}

/* The enumerator of a name among "a|b|c" choices, -1 when it is none of them. */
int sa_selection_find(const char *choices, const char *name);
/* Reads `value` into the field. `name` is as the user wrote it: an alias stays an alias in the sentence. */
sa_status sa_option_parse(const sa_option_row *row, const char *name, const char *value, void *field);
/* The field as text that sa_option_parse takes, always ended; SA_INVALID when `size` bytes do not hold it. */
sa_status sa_option_print(const sa_option_row *row, const void *field, char *buffer, size_t size);
/* Puts the preset's value into the field. Texts are the same in all presets, and stay. */
void sa_option_fill(const sa_option_row *row, int preset, void *field);
/* Is the field other than the preset has it? */
bool sa_option_differs(const sa_option_row *row, int preset, const void *field);

#endif
