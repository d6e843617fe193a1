/* Writes an environment's draws for other programs, round by round: the arrays may be larger than memory. */
#include "base/file.h"
#include "base/memory.h"
#include "base/npy_format.h"
#include "experiment/keep.h"
#include "experiment/own.h"
#include "experiment/plan.h"

enum { CONTEXTS, SCORES, NOISE, FILES };

static const char *const NAMES[FILES] = {"contexts", "scores", "noise"};

typedef struct drawing {
    const sa_options *options;
    sa_environment *environment;
    sa_replacement file[FILES];
    sa_round round;
    size_t width[FILES]; /* numbers of one round */
} drawing;

static void drawing_clear(drawing *self) {
    for (int i = 0; i < FILES; i++) sa_replace_abandon(&self->file[i]);
    sa_round_clear(&self->round);
    sa_environment_destroy(self->environment);
}

static sa_status prepare(drawing *self, sa_experiment *experiment) {
    const sa_options *options = experiment->spec.options;
    for (int i = 0; i < FILES; i++) self->file[i] = SA_NO_REPLACEMENT;
    self->options = options;
    if (!*options->out) return sa_fail(SA_INVALID, "a draw needs --out, the folder to write to");
    if (options->resume) return sa_fail(SA_INVALID, "--resume is for runs, not for draws");
    if (options->clicks != SA_CLICKS_NONE)
        return sa_fail(SA_INVALID,
                       "--clicks is for runs, not for draws: what is clicked depends on the slate");
    SA_TRY(sa_own_or_ours(experiment, options, &self->environment));
    if (self->environment->kind->feedback)
        return sa_fail(SA_INVALID,
                       "the feedback of your environment depends on the slate, and a draw has none");
    if (self->environment->varies)
        return sa_fail(SA_INVALID,
                       "--environment %s has more arms in one round than in another, and the arrays of a "
                       "draw have no room "
                       "for that",
                       options->environment);
    size_t arms = self->environment->arms, dim = self->environment->dim, bytes;
    const size_t shape[4] = {(size_t)options->runs, self->environment->rounds, arms, dim};
    if (!sa_npy_bytes(SA_FLOAT64, 4, shape, &bytes))
        return sa_fail(SA_INVALID, "contexts of %zu x %zu x %zu x %zu numbers are too many", shape[0],
                       shape[1], shape[2], shape[3]);
    if (!sa_plan_fits(arms, dim, 1, sizeof(double)))
        return sa_fail(SA_INVALID, "--arms %zu of --dim %zu take more than this machine's memory", arms, dim);
    for (int i = 0; i < FILES; i++) self->width[i] = i == CONTEXTS ? arms * dim : arms;
    SA_TRY(sa_round_init(&self->round, self->environment));
    return sa_keep_check(options);
}

static sa_status open_files(drawing *self) {
    const sa_environment *environment = self->environment;
    const size_t shape[4] = {(size_t)self->options->runs, environment->rounds, environment->arms,
                             environment->dim};
    SA_TRY(sa_folder_make(self->options->out));
    for (int i = 0; i < FILES; i++) {
        char header[SA_NPY_HEADER_ROOM], *path;
        size_t size;
        SA_TRY(sa_format(&path, "%s/%s.npy", self->options->out, NAMES[i]));
        sa_status status = sa_replace_begin(path, &self->file[i]);
        sa_free(path);
        SA_TRY(status);
        SA_TRY(sa_npy_header_write(SA_FLOAT64, i == CONTEXTS ? 4 : 3, shape, header, &size));
        SA_TRY(sa_replace_write(&self->file[i], header, size));
    }
    return SA_OK;
}

static sa_status write_rounds(drawing *self) {
    const sa_environment *environment = self->environment;
    uint64_t first = (uint64_t)self->options->first_run;
    for (uint64_t run = first; run < first + (uint64_t)self->options->runs; run++) {
        SA_TRY(sa_environment_begin(environment, run, &self->round));
        for (size_t round = 0; round < environment->rounds; round++) {
            SA_TRY(sa_environment_draw(environment, run, round, &self->round));
            const double *numbers[FILES] = {self->round.contexts, self->round.expected, self->round.noise};
            for (int i = 0; i < FILES; i++)
                SA_TRY(sa_replace_write(&self->file[i], numbers[i], self->width[i] * sizeof(double)));
        }
    }
    return SA_OK;
}

sa_status sa_experiment_check_draw(sa_experiment *experiment) {
    drawing self = {0};
    sa_status status = prepare(&self, experiment);
    drawing_clear(&self);
    return status;
}

sa_status sa_experiment_draw(sa_experiment *experiment) {
    drawing self = {0};
    sa_status status;
    SA_TRY_OR_FAIL(prepare(&self, experiment));
    SA_TRY_OR_FAIL(open_files(&self));
    SA_TRY_OR_FAIL(write_rounds(&self));
    for (int i = 0; i < FILES; i++) SA_TRY_OR_FAIL(sa_replace_commit(&self.file[i]));
fail:
    drawing_clear(&self);
    return status;
}
