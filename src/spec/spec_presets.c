#include "spec/spec_presets.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "options/gone.h"
#include "options/options.h"
#include "options/presets.h"

enum { VALUE_SIZE = 256 };

/* ---- reading ---- */

/* One more item of what the spec says, kept as a list with commas. */
sa_status sa_spec_take_settings(char **presets, const char *items) {
    char *joined;
    const char *before = *presets ? *presets : "";
    if (!*items) return SA_OK;
    SA_TRY(sa_format(&joined, "%s%s%s", before, *before ? "," : "", items));
    sa_free(*presets);
    *presets = joined;
    return SA_OK;
}

sa_status sa_spec_take_preset(char **presets, const char *text, char name[32]) {
    int version, preset = sa_preset_find(text, &version);
    snprintf(name, 32, "%s", preset >= 0 ? sa_preset_name(preset) : text);
    return preset >= 0 && version > 0 ? sa_spec_take_settings(presets, text) : SA_OK;
}

/* ---- checking ---- */

static sa_status check_setting(int preset, const char *item, const char *setting) {
    char value[VALUE_SIZE], shown[SA_PRINTABLE];
    const char *name, *equals = strchr(setting, '=');
    size_t size = equals ? (size_t)(equals - setting) : strlen(setting);
    for (size_t i = 0; equals && sa_preset_setting(preset, i, &name, value, sizeof value); i++) {
        if (strlen(name) != size || strncmp(name, setting, size)) continue;
        if (!strcmp(value, equals + 1)) return SA_OK;
        return sa_fail(
            SA_INVALID,
            "the spec is of a %.*s whose setting %s is %s, and here it is %s: it would not repeat the same",
            (int)strcspn(item, " "), item, name, sa_printable(equals + 1, shown), value);
    }
    char gone[32] = "";
    if (equals && size < sizeof gone) memcpy(gone, setting, size);
    if (sa_gone_value(gone, preset)) {
        sa_status status = sa_gone_check(gone, equals + 1, preset);
        return status == SA_OK ? SA_OK : sa_fail_prefix(status, "settings: ");
    }
    return sa_fail(SA_INVALID, "the spec is of a %.*s with the setting %s, which this program does not have",
                   (int)strcspn(item, " "), item, sa_printable(setting, shown));
}

/* "tuned-2", or "tuned-2 init=uniform" */
static sa_status check_item(char *item) {
    char shown[SA_PRINTABLE];
    char *blank = strchr(item, ' ');
    if (blank) *blank = 0;
    int version, preset = sa_preset_find(item, &version);
    if (preset < 0 || version == 0)
        return sa_fail(SA_INVALID, "settings: %s is no preset with its version, as in tuned-2",
                       sa_printable(item, shown));
    if (version != sa_preset_version(preset))
        return sa_fail(
            SA_INVALID,
            "the spec is of the preset %s, and this program has %s-%d: it would not repeat the same; "
            "--preset %s takes what is here",
            item, sa_preset_name(preset), sa_preset_version(preset), sa_preset_name(preset));
    return blank ? check_setting(preset, item, blank + 1) : SA_OK;
}

sa_status sa_spec_check_presets(const char *presets) {
    char *copy;
    if (!presets) return SA_OK;
    SA_TRY(sa_copy_text(presets, &copy));
    sa_status status = SA_OK;
    for (char *item = copy, *next; status == SA_OK && item; item = next) {
        char *comma = strchr(item, ',');
        next = comma ? comma + 1 : NULL;
        if (comma) *comma = 0;
        status = check_item(item);
    }
    sa_free(copy);
    return status;
}

/* ---- writing ---- */

void sa_spec_add_preset(sa_buffer *buffer, int preset) {
    sa_buffer_format(buffer, "%s-%d", sa_preset_name(preset), sa_preset_version(preset));
}

void sa_spec_add_settings(sa_buffer *buffer, const bool *used) {
    char value[VALUE_SIZE];
    const char *name;
    sa_buffer_text(buffer, "settings: # of the presets: what no option sets\n");
    for (int preset = 0; preset < sa_preset_count; preset++)
        for (size_t i = 0; used[preset] && sa_preset_setting(preset, i, &name, value, sizeof value); i++) {
            sa_buffer_text(buffer, "  - ");
            sa_spec_add_preset(buffer, preset);
            sa_buffer_format(buffer, " %s=%s\n", name, value);
        }
}
