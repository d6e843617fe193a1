/* The presets in a spec: their versions, and the settings that are no options. A spec repeats to the byte, or
 * is refused with what differs. */
#ifndef SA_SPEC_SPEC_PRESETS_H
#define SA_SPEC_SPEC_PRESETS_H

#include "base/buffer.h"
#include <stdbool.h>

/* `*presets` is all that a spec has said so far; NULL: nothing. Reads `preset: tuned-2`: the option gets
 * tuned, and the version is kept for the check. */
sa_status sa_spec_take_preset(char **presets, const char *text, char name[32]);
/* Reads `settings:`, items "tuned-2 init=uniform" joined by commas. */
sa_status sa_spec_take_settings(char **presets, const char *items);
/* SA_INVALID, with what differs, where this program has other versions or settings than the spec says. */
sa_status sa_spec_check_presets(const char *presets);

/* "tuned-2" */
void sa_spec_add_preset(sa_buffer *buffer, int preset);
/* The `settings:` of all presets that are marked in used (sa_preset_count). */
void sa_spec_add_settings(sa_buffer *buffer, const bool *used);

#endif
