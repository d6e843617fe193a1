/* The words of a command that has a few flags of its own: --name VALUE, --name=VALUE, --name, and words
 * without dashes. */
#include <string.h>

#include "cli.h"

static int unknown(const char *command, const char *argument, const cli_word *words) {
    enum { MOST = 32 };
    const char *names[MOST];
    size_t count = 0;
    for (; words[count].name && count < MOST; count++) names[count] = words[count].name;
    const char *nearest = cli_nearest(argument, names, count);
    if (nearest)
        return cli_say(command, EXIT_INPUT, "%s is not an option; did you mean %s?", argument, nearest);
    return cli_say(command, EXIT_INPUT, "%s is not an option; --help lists them", argument);
}

/* The flag that an argument is, or NULL; `*value` is what stands behind its =. */
static const cli_word *find(const cli_word *words, const char *argument, const char **value) {
    const char *equals = strchr(argument, '=');
    size_t size = equals ? (size_t)(equals - argument) : strlen(argument);
    *value = equals ? equals + 1 : NULL;
    for (; words->name; words++)
        if (strlen(words->name) == size && !strncmp(words->name, argument, size)) return words;
    return NULL;
}

int cli_take_words(const char *command, int count, char **arguments, const cli_word *words,
                   const char **plain, size_t most, bool *help) {
    size_t given = 0;
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i], *value;
        if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) {
            *help = true;
            return EXIT_FINE;
        }
        if (*argument != '-' || !argument[1]) {
            if (given == most)
                return cli_say(command, EXIT_INPUT, "%s is one word too many; --help has an example",
                               argument);
            plain[given++] = argument;
            continue;
        }
        const cli_word *word = find(words, argument, &value);
        if (!word) return unknown(command, argument, words);
        if (word->on) {
            if (value) return cli_say(command, EXIT_INPUT, "%s takes no value", word->name);
            *word->on = true;
            continue;
        }
        if (!value && i + 1 < count && strncmp(arguments[i + 1], "--", 2)) value = arguments[++i];
        if (!value || !*value) return cli_say(command, EXIT_INPUT, "%s needs a value", word->name);
        *word->value = value;
    }
    return EXIT_FINE;
}
