/* --problem: oracle data in one text, "costs=1,2.5,3;capacity=4". A flag or key of a datum's own name, as in
 * --costs 1,2.5,3, is one more entry of it. */
#include "spec/problem_option.h"

#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "oracle/oracle.h"

bool sa_is_datum(const char *name) {
    for (sa_datum datum = 0; datum < SA_DATUM_COUNT; datum++)
        if (!strcmp(name, sa_datum_name(datum))) return true;
    return false;
}

/* The text without the entry of this name. */
static void add_others(sa_buffer *buffer, const char *text, const char *name) {
    for (sa_problem_entry entry; sa_problem_text_next(&text, &entry);) {
        if (strlen(name) == entry.name_size && !strncmp(name, entry.name, entry.name_size)) continue;
        if (buffer->size) sa_buffer_text(buffer, ";");
        sa_buffer_bytes(buffer, entry.name, (size_t)(entry.value - entry.name) + entry.value_size);
    }
}

/* Puts the buffer's text in the place of `*text`. */
static sa_status replace(char **text, sa_buffer *buffer) {
    char *copy = NULL;
    sa_status status = buffer->status;
    if (status == SA_OK) status = sa_copy_text(buffer->text ? buffer->text : "", &copy);
    sa_buffer_clear(buffer);
    SA_TRY(status);
    sa_free(*text);
    *text = copy;
    return SA_OK;
}

sa_status sa_spec_set(sa_options *options, const char *name, const char *value) {
    sa_buffer buffer = {0};
    if (!name || !sa_is_datum(name) || !value) return sa_options_set(options, name, value);
    if (strchr(value, ';'))
        return sa_fail(SA_INVALID, "--%s %.200s has a ';', which stands between the entries of --problem",
                       name, value);
    add_others(&buffer, options->problem, name);
    sa_buffer_format(&buffer, "%s%s=%s", buffer.size ? ";" : "", name, value);
    sa_status status =
        buffer.status == SA_OK ? sa_options_set(options, "problem", buffer.text) : buffer.status;
    sa_buffer_clear(&buffer);
    return status;
}

sa_status sa_problem_text_resolve(char **text) {
    sa_buffer buffer = {0};
    const char *rest = *text;
    for (sa_problem_entry entry; sa_problem_text_next(&rest, &entry);) {
        char *path;
        sa_status status = sa_format(&path, "%.*s", (int)entry.value_size, entry.value);
        if (status == SA_OK) status = sa_full_path(&path);
        if (status != SA_OK) {
            sa_buffer_clear(&buffer);
            return status;
        }
        if (buffer.size) sa_buffer_text(&buffer, ";");
        sa_buffer_bytes(&buffer, entry.name, entry.name_size);
        sa_buffer_format(&buffer, "=%s", path);
        sa_free(path);
    }
    return replace(text, &buffer);
}
