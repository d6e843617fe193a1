/* The progress line of a whole figure. Time left = time so far, times the weight that is left by the weight
 * that was worked on; what --resume found done is in neither. */
#include "reproduce.h"

void reproduce_progress_panel(reproduce_progress *progress, const char *figure,
                              const reproduce_panel *panel) {
    progress->figure = figure;
    progress->panel = panel->name;
    progress->panel_weight = panel->weight;
    progress->first_share = -1;
    progress->share = progress->panel_seconds = 0;
    progress->line.last = -1;
}

void reproduce_progress_panel_end(reproduce_progress *progress) {
    if (progress->first_share >= 0)
        progress->worked += progress->panel_weight * (progress->share - progress->first_share);
    progress->seconds += progress->panel_seconds;
    progress->weight_done += progress->panel_weight;
}

static double seconds_left(const reproduce_progress *progress) {
    double worked = progress->worked + progress->panel_weight * (progress->share - progress->first_share);
    double left = progress->weight - progress->weight_done - progress->panel_weight * progress->share;
    return worked > 0 ? (progress->seconds + progress->panel_seconds) * left / worked : -1;
}

int reproduce_progress_show(void *user, const sa_progress *now) {
    reproduce_progress *progress = user;
    cli_progress *line = &progress->line;
    char time[32];
    if (progress->first_share < 0) progress->first_share = now->rounds_done;
    progress->share = now->rounds_done;
    progress->panel_seconds = now->seconds;
    if (!line->shown || (line->last >= 0 && now->seconds - line->last < line->period))
        return cli_signal() != 0;
    line->last = now->seconds;
    double done = (progress->weight_done + progress->panel_weight * progress->share) / progress->weight;
    double left = seconds_left(progress);
    fprintf(stderr, "\r%3.0f%%  %s %s: %zu of %zu runs", 100 * done, progress->figure, progress->panel,
            now->jobs_done, now->jobs);
    if (*now->label) fprintf(stderr, "  %s: regret %.4g", now->label, now->regret);
    if (left >= 0) fprintf(stderr, "  %s left", cli_duration(left, time));
    fputs("\033[K", stderr);
    fflush(stderr);
    return cli_signal() != 0;
}
