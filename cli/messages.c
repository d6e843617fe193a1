/* One sentence on stderr, and an exit status. */
#include <stdarg.h>
#include <string.h>

#include "cli.h"

int cli_say(const char *command, int exit_status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, *command ? "superarm %s: " : "superarm: ", command);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return exit_status;
}

int cli_exit_status(sa_status status) {
    switch (status) {
    case SA_OK: return EXIT_FINE;
    case SA_OUT_OF_MEMORY:
    case SA_DISK:
    case SA_CALLBACK: return EXIT_OTHER;
    case SA_INTERRUPTED: return cli_signal() ? EXIT_SIGNAL + cli_signal() : EXIT_OTHER;
    default: return EXIT_INPUT;
    }
}

int cli_fail(const char *command, sa_status status) {
    const char *sentence = sa_last_error();
    return cli_say(command, cli_exit_status(status), "%s", *sentence ? sentence : sa_status_message(status));
}

void cli_warn_of_log(const char *command, sa_log_reader *reader) {
    const char *warning = sa_log_reader_warning(reader);
    if (*warning) cli_say(command, EXIT_FINE, "%s", warning);
}

/* Insertions, deletions and replacements from one word to the other; words are short. */
static size_t distance(const char *from, const char *to) {
    size_t row[64], size = strlen(to);
    if (size >= 64 || strlen(from) >= 64) return 64;
    for (size_t j = 0; j <= size; j++) row[j] = j;
    for (size_t i = 1; from[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= size; j++) {
            size_t replaced = corner + (from[i - 1] != to[j - 1]),
                   least = row[j] < row[j - 1] ? row[j] : row[j - 1];
            corner = row[j];
            row[j] = replaced < least + 1 ? replaced : least + 1;
        }
    }
    return row[size];
}

const char *cli_nearest(const char *word, const char *const *words, size_t count) {
    const char *nearest = NULL;
    size_t least = 3;
    for (size_t i = 0; i < count; i++) {
        size_t apart = distance(word, words[i]);
        if (apart >= least || apart >= strlen(words[i])) continue;
        least = apart;
        nearest = words[i];
    }
    return nearest;
}
