/* All environments. */
#include "env/environment.h"

#include <string.h>

#include "base/memory.h"

extern const sa_environment_class sa_environment_h1, sa_environment_h2, sa_environment_h3; /* synthetic.c */
extern const sa_environment_class sa_environment_formula;                                  /* formula.c */
extern const sa_environment_class sa_environment_npy;                                      /* replay.c */
extern const sa_environment_class sa_environment_csv, sa_environment_svmlight; /* csv.c, svmlight.c */
extern const sa_environment_class sa_environment_classes, sa_environment_classes_joined; /* csv_classes.c */

static const sa_environment_class *const KINDS[] = {
    &sa_environment_h1,       &sa_environment_h2,      &sa_environment_h3,
    &sa_environment_formula,  &sa_environment_npy,     &sa_environment_csv,
    &sa_environment_svmlight, &sa_environment_classes, &sa_environment_classes_joined};

const sa_environment_class *sa_environment_class_at(size_t index) {
    return index < sizeof KINDS / sizeof *KINDS ? KINDS[index] : NULL;
}

static sa_status unknown(const char *name) {
    char names[256] = "";
    if (!strcmp(name, "own"))
        return sa_fail(SA_INVALID,
                       "--environment own is the caller's own code, which options alone cannot bring back: "
                       "sa_experiment_own_environment does, or superarm.run in Python");
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (i > 0) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, KINDS[i]->name, sizeof names - strlen(names) - 1);
    }
    return sa_fail(SA_INVALID, "--environment %s is unknown; there are %s", name, names);
}

sa_status sa_environment_check_options(const sa_options *options) {
    static const struct {
        const char *option, *environments;
    } own[] = {{"contexts", "npy"},
               {"scores", "npy"},
               {"noise-values", "npy"},
               {"data", "csv, classes, classes-joined and svmlight"},
               {"label", "csv, classes and classes-joined"},
               {"positive", "csv"},
               {"header", "csv, classes and classes-joined"},
               {"separator", "csv, classes and classes-joined"},
               {"user", "csv, classes, classes-joined and svmlight"},
               {"score", "formula"},
               {"turn", "h1, h2 and h3"}};
    for (size_t i = 0; i < sizeof own / sizeof *own;
         i++) /* a name that is a part of another takes all that it takes */
        if (!strstr(own[i].environments, options->environment) && sa_options_changed(options, own[i].option))
            return sa_fail(SA_INVALID, "--%s is for --environment %s, and this is --environment %s",
                           own[i].option, own[i].environments, options->environment);
    return SA_OK;
}

static sa_status create(const sa_environment_class *kind, const sa_options *options, sa_environment **out) {
    SA_TRY(sa_environment_check_options(options));
    return kind->create(options, kind, out);
}

sa_status sa_environment_create(const sa_options *options, sa_environment **out) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(options->environment, KINDS[i]->name) == 0) return create(KINDS[i], options, out);
    return unknown(options->environment);
}

void sa_environment_destroy(sa_environment *environment) {
    if (environment) environment->kind->destroy(environment);
}

/* ---- rounds ---- */

sa_status sa_round_init(sa_round *round, const sa_environment *environment) {
    size_t arms = environment->arms;
    *round = (sa_round){.arms = arms};
    SA_TRY(sa_alloc_matrix(arms, environment->dim, sizeof(double), &round->contexts));
    SA_TRY(sa_alloc_array(arms, sizeof(double), &round->expected));
    SA_TRY(sa_alloc_array(arms, sizeof(double), &round->noise));
    return sa_alloc_array(arms, sizeof(double), &round->stop);
}

static void end_run(sa_round *round) {
    if (round->environment) round->environment->kind->end(round->environment, round);
    round->environment = NULL;
    round->state = NULL;
}

void sa_round_clear(sa_round *round) {
    end_run(round);
    sa_free(round->stop);
    sa_free(round->noise);
    sa_free(round->expected);
    sa_free(round->contexts);
    *round = (sa_round){0};
}

sa_status sa_environment_begin(const sa_environment *environment, uint64_t run, sa_round *round) {
    end_run(round);
    if (!environment->kind->begin) return SA_OK;
    SA_TRY(environment->kind->begin(environment, run, round));
    round->environment = environment;
    return SA_OK;
}

sa_status sa_environment_draw(const sa_environment *environment, uint64_t run, uint64_t round,
                              sa_round *out) {
    out->arms = environment->arms;
    for (size_t i = 0; i < out->arms; i++) out->stop[i] = 1;
    return environment->kind->draw(environment, run, round, out);
}
