/* One line on stderr while the work goes on, and the signals that end it early. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t caught;

static void note(int number) { caught = number; }

void cli_catch_signals(void) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cli_signal(void) { return caught; }

void cli_progress_begin(cli_progress *progress, const sa_experiment *experiment) {
    bool wanted = cli_flag(experiment, "progress") || isatty(STDERR_FILENO);
    *progress = (cli_progress){.shown = wanted && !cli_flag(experiment, "quiet"), .last = -1};
    progress->period = isatty(STDERR_FILENO) ? 0.1 : 1;
}

const char *cli_duration(double seconds, char text[32]) {
    long whole = (long)(seconds + 0.5);
    if (seconds > 1e8)
        snprintf(text, 32, "years");
    else if (whole >= 3600)
        snprintf(text, 32, "%ld h %02ld min", whole / 3600, whole % 3600 / 60);
    else if (whole >= 60)
        snprintf(text, 32, "%ld min %02ld s", whole / 60, whole % 60);
    else
        snprintf(text, 32, "%ld s", whole);
    return text;
}

int cli_progress_show(void *user, const sa_progress *now) {
    cli_progress *progress = user;
    char time[32];
    if (!progress->shown || (progress->last >= 0 && now->seconds - progress->last < progress->period))
        return caught != 0;
    progress->last = now->seconds;
    fprintf(stderr, "\r%3.0f%%  %zu of %zu runs", 100 * now->rounds_done, now->jobs_done, now->jobs);
    if (*now->label) fprintf(stderr, "  %s: regret %.4g", now->label, now->regret);
    if (now->seconds_left >= 0 && now->rounds_done < 1)
        fprintf(stderr, "  %s left", cli_duration(now->seconds_left, time));
    fputs("\033[K", stderr);
    fflush(stderr);
    return caught != 0;
}

void cli_progress_end(cli_progress *progress) {
    if (progress->shown && progress->last >= 0) fputs("\r\033[K", stderr);
    fflush(stderr);
}
