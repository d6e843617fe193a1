/* The presets in a spec: their versions, and the settings that are no options. A spec repeats to the byte, or
 * is refused with what differs. */
#ifndef SA_SPEC_SPEC_PRESETS_H
#define SA_SPEC_SPEC_PRESETS_H

#include "experiment/experiment.h"

/* Reads `preset: tuned-1` of a spec: the option gets tuned, and the version is kept for the check. */
sa_status sa_spec_take_preset(sa_experiment *experiment, const char *text, char name[32]);
/* Reads `settings:`, items "tuned-1 init=uniform" joined by commas. */
sa_status sa_spec_take_settings(sa_experiment *experiment, const char *items);
/* SA_INVALID, with what differs, where this program has other versions or settings than the spec says. */
sa_status sa_spec_check_presets(const sa_experiment *experiment);

/* "tuned-1" */
void sa_spec_add_preset(sa_buffer *buffer, int preset);
/* The `settings:` of all presets that are marked in used (sa_preset_count). */
void sa_spec_add_settings(sa_buffer *buffer, const bool *used);

#endif
