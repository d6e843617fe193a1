/* superarm theory: the paper's quantities for a set of contexts, as JSON. */
#include <math.h>

#include "cli.h"

static const char *const OPTIONS[] = {"contexts",       "scores",        "rounds",    "slate", "depth",
                                      "regularization", "hidden",        "first-run", "delta", "norm-bound",
                                      "sub-gaussian",   "approximation", NULL};

static const cli_command THEORY = {
    .name = "theory",
    .usage = "superarm theory --contexts X.npy [options]\n\n"
             "Prints the paper's quantities for these contexts as one JSON object: the neural tangent "
             "kernel's log det(I + H "
             "/\n"
             "lambda), effective dimension and smallest eigenvalue; M, nu, eta, J and the smallest width of "
             "the theorems;\n"
             "gamma_T and e_T of Lemma 1 and epsilon. Contexts are taken as they are. null: not known, or "
             "not finite.\n\n"
             "Options:\n"
             "  --contexts FILE              npy file of contexts: (n, d), (T, N, d), or (R, T, N, d) as "
             "`superarm draw` "
             "writes\n"
             "  --scores FILE                npy file of their expected scores h, for S = sqrt(2 h' H^-1 h)\n"
             "  --rounds INTEGER             T [the file's T; n for contexts without rounds]\n"
             "  --first-run INTEGER          which run of a file that has several [0]\n",
    .examples = "Example:\n"
                "  superarm draw --environment h1 --rounds 50 --arms 10 --dim 8 --runs 1 --out draws\n"
                "  superarm theory --contexts draws/contexts.npy --scores draws/scores.npy --depth 2 "
                "--lambda 1 --slate 4\n",
    .no_spec = true,
    .preset = "paper",
    .options = OPTIONS,
};

static void print_field(const char *name, double number) {
    printf(",\n \"%s\": ", name);
    cli_print_number(number);
}

/* ---- what a reader must know ---- */

static void print_notes(const sa_theory_numbers *numbers) {
    char note[SA_THEORY_NOTE];
    fputs(",\n \"notes\": [", stdout);
    for (size_t i = 0; sa_theory_note(numbers, i, note, sizeof note); i++)
        printf("%s\n  \"%s\"", i ? "," : "", note);
    fputs("]\n}\n", stdout);
}

static void print_numbers(const sa_options *options, const sa_theory_numbers *numbers) {
    static const char *const used[][2] = {{"depth", "depth"},
                                          {"regularization", "lambda"},
                                          {"hidden", "hidden"},
                                          {"delta", "delta"},
                                          {"sub-gaussian", "sub_gaussian"}};
    char value[CLI_VALUE];
    printf("{\n \"contexts\": %zu,\n \"dim\": %zu", numbers->contexts, numbers->dim);
    print_field("rounds", numbers->rounds);
    print_field("slate", numbers->slate);
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (sa_options_get(options, used[i][0], value, sizeof value) == SA_OK)
            printf(",\n \"%s\": %s", used[i][1], value);
    print_field("log_det", numbers->log_det);
    print_field("effective_dimension", numbers->effective_dimension);
    print_field("smallest_eigenvalue", numbers->smallest_eigenvalue);
    printf(",\n \"rank\": %zu,\n \"singular\": %s", numbers->rank, numbers->singular ? "true" : "false");
    print_field("norm", numbers->norm);
    print_field("norm_bound", numbers->norm_bound);
    print_field("samples", numbers->samples);
    print_field("nu", numbers->nu);
    print_field("eta", numbers->eta);
    print_field("steps", numbers->steps);
    print_field("steps_ts", numbers->steps_ts);
    print_field("gamma", numbers->gamma);
    print_field("e", numbers->error);
    print_field("epsilon", numbers->epsilon);
    print_field("smallest_lambda", numbers->smallest_lambda);
    print_field("smallest_width", numbers->smallest_width);
    print_field("log10_smallest_width", numbers->log10_smallest_width);
    print_notes(numbers);
}

static int compute(const sa_experiment *experiment) {
    const sa_options *options = sa_experiment_options(experiment);
    sa_theory_numbers numbers;
    sa_status status = sa_theory_of_files(options, &numbers);
    if (status != SA_OK) return cli_fail(THEORY.name, status);
    print_numbers(options, &numbers);
    return EXIT_FINE;
}

int cli_theory(int count, char **arguments) {
    bool done;
    sa_experiment *experiment = sa_experiment_new();
    if (!experiment) return cli_fail(THEORY.name, SA_OUT_OF_MEMORY);
    sa_status status = sa_experiment_set(experiment, "preset", THEORY.preset);
    int exit_status = status == SA_OK ? cli_take(&THEORY, count, arguments, experiment, &done)
                                      : cli_fail(THEORY.name, status);
    if (status == SA_OK && !done) exit_status = compute(experiment);
    sa_experiment_destroy(experiment);
    return exit_status;
}
