/* A child process whose output goes to unnamed temporary files, so that neither side ever waits for the
 * other. */
#define _POSIX_C_SOURCE 200809L
#include "child.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void read_back(FILE *file, char *text, size_t size) {
    rewind(file);
    text[fread(text, 1, size - 1, file)] = 0;
}

/* The last line that says something. */
static void keep_last_line(char *text) {
    size_t size = strlen(text);
    while (size > 0 && text[size - 1] == '\n') text[--size] = 0;
    char *line = strrchr(text, '\n');
    if (line) memmove(text, line + 1, strlen(line));
}

int child_run(char *const *words, char *out, size_t out_size, char *said, size_t said_size) {
    FILE *output = tmpfile(), *errors = tmpfile();
    posix_spawn_file_actions_t actions;
    pid_t child, ended;
    int code = 0, error = output && errors ? posix_spawn_file_actions_init(&actions) : EIO;
    *out = *said = 0;
    if (!error) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
        posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, fileno(errors), STDERR_FILENO);
        error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (!error) {
        do ended = waitpid(child, &code, 0);
        while (ended < 0 && errno == EINTR);
        read_back(output, out, out_size);
        read_back(errors, said, said_size);
        keep_last_line(said);
    } else {
        snprintf(said, said_size, "%s", strerror(error));
    }
    if (output) fclose(output);
    if (errors) fclose(errors);
    if (error) return 127;
    return WIFEXITED(code) ? WEXITSTATUS(code) : 1;
}
