/* superarm draw */
#include "cli.h"

static const cli_command DRAW = {
    .name = "draw",
    .usage = "superarm draw [SPEC.yaml] --out DIR [options]\n\n"
             "Writes the environment's draws for other programs: contexts.npy (R, T, N, d), scores.npy (R, "
             "T, N), the\n"
             "expected scores, and noise.npy (R, T, N), the noise that is added to them. `superarm run "
             "--environment npy`\n"
             "replays them.\n",
    .examples =
        "Example:\n"
        "  superarm draw --environment h2 --rounds 100 --runs 2 --out draws\n"
        "  superarm run --environment npy --contexts draws/contexts.npy --scores draws/scores.npy \\\n"
        "    --noise-values draws/noise.npy --runs 2\n",
};

static int draw(sa_experiment *experiment) {
    char out[CLI_VALUE];
    sa_status status = sa_experiment_check_draw(experiment);
    if (status != SA_OK) return cli_fail(DRAW.name, status);
    status = sa_experiment_draw(experiment);
    if (status != SA_OK) return cli_fail(DRAW.name, status);
    if (!cli_flag(experiment, "quiet") &&
        sa_options_get(sa_experiment_options(experiment), "out", out, sizeof out) == SA_OK)
        printf("%s: contexts.npy, scores.npy, noise.npy\n", out);
    return EXIT_FINE;
}

int cli_draw(int count, char **arguments) {
    bool done;
    sa_experiment *experiment = sa_experiment_new();
    if (!experiment) return cli_fail(DRAW.name, SA_OUT_OF_MEMORY);
    int exit_status = cli_take(&DRAW, count, arguments, experiment, &done);
    if (!done) exit_status = draw(experiment);
    sa_experiment_destroy(experiment);
    return exit_status;
}
