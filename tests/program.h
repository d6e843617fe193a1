/* Runs the program ($SUPERARM) and keeps what it says. */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary.h"

typedef struct outcome {
    int exit_status; /* -signal when a signal ended it */
    char out[65536], err[8192];
} outcome;

static inline void read_back(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

/* Starts the program with words separated by single spaces; 'a b' keeps its space. stdout and stderr go to
 * files. */
static inline pid_t start(const char *words, const char *out, const char *err) {
    const char *program = getenv("SUPERARM");
    if (!program) fail_msg("SUPERARM must name the program");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    static char copy[8192];
    char *arguments[128] = {(char *)program};
    size_t count = 1;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = copy; *word && count < 127;) {
        char end = *word == '\'' ? '\'' : ' ';
        word += end == '\'';
        arguments[count++] = word;
        word += strcspn(word, end == '\'' ? "'" : " ");
        while (*word == end || *word == ' ') *word++ = 0;
    }
    int in = open("/dev/null", O_RDONLY), to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int errors = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (in < 0 || to < 0 || errors < 0 || dup2(in, 0) < 0 || dup2(to, 1) < 0 || dup2(errors, 2) < 0)
        _exit(126);
    execv(program, arguments);
    _exit(127);
}

static inline int wait_for(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* printf-style words; runs to the end. */
__attribute__((format(printf, 2, 3))) static inline outcome *run(const char *folder, const char *format,
                                                                 ...) {
    static outcome got;
    char words[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    const char *out = inside(folder, "stdout"), *err = inside(folder, "stderr");
    got.exit_status = wait_for(start(words, out, err));
    read_back(out, got.out, sizeof got.out);
    read_back(err, got.err, sizeof got.err);
    return &got;
}

static inline outcome *fine(outcome *got) {
    if (got->exit_status != 0) fail_msg("exit status %d: %s", got->exit_status, got->err);
    return got;
}

/* The user's input is wrong: status 2, and one sentence that has the words. */
static inline void refused(outcome *got, const char *words) {
    if (got->exit_status != 2) fail_msg("exit status %d: %s%s", got->exit_status, got->out, got->err);
    if (!strstr(got->err, words)) fail_msg("\"%s\" lacks \"%s\"", got->err, words);
    assert_int_equal(strncmp(got->err, "superarm", 8), 0);
    assert_true(strchr(got->err, '\n') == got->err + strlen(got->err) - 1);
    assert_string_equal(got->out, "");
}

#endif
