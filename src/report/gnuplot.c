/* gnuplot as a child process: the script on its stdin, the picture from its stdout, no shell and no names of
 * files. The three are unnamed temporary files, so neither side ever waits for the other. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/platform.h"
#include "report/report.h"

static sa_status spawn(FILE *script, FILE *picture, FILE *complaints, pid_t *child) {
    char *const arguments[] = {"gnuplot", "--default-settings", "-", NULL}; /* not the user's ~/.gnuplot */
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return sa_fail(SA_OUT_OF_MEMORY, "gnuplot could not be started: %s", strerror(error));
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(complaints), STDERR_FILENO);
    if (!error) error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!error) return SA_OK;
    if (error == ENOENT)
        return sa_fail(SA_UNSUPPORTED, "gnuplot is not installed (Debian package gnuplot-nox)");
    return sa_fail(SA_UNSUPPORTED, "gnuplot could not be started: %s", strerror(error));
}

static sa_status read_all(FILE *file, sa_buffer *out) {
    char block[65536];
    size_t size;
    rewind(file);
    while ((size = fread(block, 1, sizeof block, file)) > 0) sa_buffer_bytes(out, block, size);
    if (ferror(file)) return sa_fail(SA_FILE, "what gnuplot drew could not be read: %s", strerror(errno));
    return out->status;
}

/* The last line that says something, such as "line 3: undefined variable: x". */
static sa_status complain(FILE *complaints, int code) {
    char line[256], last[256] = "";
    rewind(complaints);
    while (fgets(line, sizeof line, complaints)) {
        line[strcspn(line, "\n")] = 0;
        char *text = line + strspn(line, " \t^");
        if (*text) memmove(last, text, strlen(text) + 1);
    }
    if (*last) return sa_fail(SA_UNSUPPORTED, "gnuplot failed: %s", last);
    if (WIFSIGNALED(code)) return sa_fail(SA_UNSUPPORTED, "gnuplot was ended by signal %d", WTERMSIG(code));
    return sa_fail(SA_UNSUPPORTED, "gnuplot failed with exit status %d", WEXITSTATUS(code));
}

static sa_status draw(FILE *script, FILE *picture, FILE *complaints, sa_buffer *out) {
    pid_t child, ended;
    int code = 0;
    SA_TRY(spawn(script, picture, complaints, &child));
    do ended = waitpid(child, &code, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0) return sa_fail(SA_UNSUPPORTED, "gnuplot's end was not seen: %s", strerror(errno));
    if (!WIFEXITED(code) || WEXITSTATUS(code) != 0) return complain(complaints, code);
    SA_TRY(read_all(picture, out));
    return out->size > 0 ? SA_OK : complain(complaints, code);
}

static FILE *close_file(FILE *file) {
    if (file) fclose(file);
    return NULL;
}

sa_status sa_gnuplot(const sa_buffer *script, sa_buffer *out) {
    FILE *input = tmpfile(), *picture = tmpfile(), *complaints = tmpfile();
    sa_status status = script->status;
    if (status == SA_OK && (!input || !picture || !complaints ||
                            fwrite(script->text, 1, script->size, input) != script->size || fflush(input)))
        status =
            sa_fail(SA_UNSUPPORTED, "no temporary file for gnuplot could be written: %s", strerror(errno));
    if (status == SA_OK) {
        rewind(input);
        status = draw(input, picture, complaints, out);
    }
    close_file(complaints);
    close_file(picture);
    close_file(input);
    return status;
}
