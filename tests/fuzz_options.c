/* Lines "name=value" set options. What was taken can be printed, and set again to the same; what was refused
 * changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_memory_file.h"
#include "options/options.h"

static void expect(bool holds) {
    if (!holds) abort();
}

static void values(const sa_options *options, size_t index, char *text, size_t size, const char **name) {
    sa_option_info info;
    expect(sa_option_at(index, &info));
    *name = info.name;
    expect(sa_options_get(options, info.name, text, size) == SA_OK);
}

static void compare(const sa_options *a, const sa_options *b, size_t room) {
    char *first = malloc(room), *second = malloc(room);
    const char *name;
    for (size_t i = 0; i < sa_option_count(); i++) {
        values(a, i, first, room, &name);
        values(b, i, second, room, &name);
        expect(!strcmp(first, second));
    }
    free(first);
    free(second);
}

/* Another set of options, made from the texts alone, is the same. */
static void rebuild(const sa_options *options, size_t room) {
    sa_options *again = sa_options_new(NULL);
    char *text = malloc(room);
    const char *name;
    for (size_t i = 0; i < sa_option_count(); i++) {
        values(options, i, text, room, &name);
        expect(sa_options_set(again, name, text) == SA_OK);
        expect(sa_options_given(again, name));
    }
    compare(options, again, room);
    free(text);
    sa_options_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    sa_options *options = sa_options_new(NULL);
    int lines = 0;
    for (char *line = text, *next; line && lines < 16; line = next, lines++) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        char *value = strchr(line, '=');
        if (!value) continue;
        *value++ = 0;
        sa_options *before = sa_options_copy(options);
        if (sa_options_set(options, line, value) != SA_OK) {
            expect(!strncmp(sa_last_error(), "--", 2));
            compare(before, options, size + 64);
        }
        sa_options_destroy(before);
    }
    (void)sa_options_check_agent(options);
    rebuild(options, size + 64);
    sa_options_destroy(options);
    free(text);
    return 0;
}
