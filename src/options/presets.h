/* The presets by their index, sa_preset: their versions, and what is in each. */
#ifndef SA_OPTIONS_PRESETS_H
#define SA_OPTIONS_PRESETS_H

#include "base/option_rows.h"

/* "paper", and a line about it; NULL: there is none. */
const char *sa_preset_name(int preset);
const char *sa_preset_summary(int preset);
int sa_preset_version(int preset);
/* The column of the lists of options that it has, but for what it has otherwise. */
int sa_preset_column(int preset);
/* "tuned-2" as an index, or "tuned", whose version is 0; -1: neither. */
int sa_preset_find(const char *text, int *version);
/* SA_INVALID, naming the one that there is, for a preset or a version that there is not. */
sa_status sa_preset_check(const char *text, int *preset);

/* Puts the preset's value of a row into its field, which holds a text of its own; texts are the same in
 * all. */
void sa_preset_fill(int preset, const sa_option_row *row, void *field);
/* Is the field other than the preset has it? */
bool sa_preset_differs(int preset, const sa_option_row *row, const void *field);

#endif
