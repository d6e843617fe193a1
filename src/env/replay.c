/* Replays contexts, expected scores and noise from npy files:
 *
 *   --contexts (T, N, d) or (R, T, N, d),  --scores and --noise-values (T, N) or (R, T, N)
 *
 * A file without the run axis is shared by all runs. Without --noise-values, noise is Gaussian as in the
 * synthetic environments, and drawn from the same stream. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/npy_format.h"
#include "env/environment.h"
#include "env/noise.h"

extern const sa_environment_class sa_environment_npy;

typedef struct replay {
    sa_environment base;
    uint64_t seed;
    sa_array contexts, scores, noise; /* noise.data NULL: Gaussian */
    size_t file_rounds;               /* T of the files; base.rounds may be fewer */
} replay;

/* ---- reading and checking ---- */

static sa_status wrong_shape(const char *option, const char *path, const sa_array *array,
                             const char *wanted) {
    char shape[SA_NPY_HEADER_ROOM];
    sa_npy_shape_text(array->axes, array->shape, shape);
    return sa_fail(SA_INVALID, "--%s %s has shape %s where %s is needed", option, path, shape, wanted);
}

static sa_status check_finite(const char *option, const char *path, const sa_array *array) {
    size_t count = sa_array_count(array);
    for (size_t i = 0; i < count; i++) {
        double number = sa_array_number(array, i);
        if (isfinite(number)) continue;
        size_t place[SA_NPY_MAX_AXES], rest = i;
        for (size_t axis = array->axes; axis-- > 0; rest /= array->shape[axis])
            place[axis] = rest % array->shape[axis];
        char text[SA_NPY_HEADER_ROOM];
        sa_npy_shape_text(array->axes, place, text);
        return sa_fail(SA_INVALID, "--%s %s has %s at position %s", option, path,
                       isnan(number) ? "nan" : "an infinity", text);
    }
    return SA_OK;
}

/* Reads an array of floats with `axes` axes, or one more for the runs, that has all its runs and no axis of
 * length 0. */
static sa_status read_floats(const sa_options *options, const char *option, const char *path, size_t axes,
                             const char *wanted, sa_array *out) {
    if (!*path) return sa_fail(SA_INVALID, "--environment npy needs --%s", option);
    sa_status read = sa_npy_read(path, out);
    if (read != SA_OK) return sa_fail_prefix(read, "--%s: ", option);
    if (out->type != SA_FLOAT32 && out->type != SA_FLOAT64)
        return sa_fail(SA_INVALID, "--%s %s holds whole numbers where float32 or float64 is needed", option,
                       path);
    if (out->axes != axes && out->axes != axes + 1) return wrong_shape(option, path, out, wanted);
    if (sa_array_count(out) == 0) return wrong_shape(option, path, out, "at least one number");
    uint64_t last = (uint64_t)options->first_run + (uint64_t)options->runs - 1;
    if (out->axes == axes + 1 && last >= out->shape[0])
        return sa_fail(SA_INVALID,
                       "--%s %s has %zu runs, and run %" PRIu64 " is asked for (--first-run %" PRId64
                       " --runs %" PRId64 ", counted from 0)",
                       option, path, out->shape[0], last, options->first_run, options->runs);
    return check_finite(option, path, out);
}

/* The axis of T: 1 behind a run axis, else 0. */
static size_t round_axis(const sa_array *array, size_t axes) { return array->axes - axes; }

static sa_status read_scores(replay *self, const sa_options *options, const char *option, const char *path,
                             sa_array *out) {
    SA_TRY(read_floats(options, option, path, 2, "(T, N) or (R, T, N)", out));
    size_t axis = round_axis(out, 2);
    if (out->shape[axis] == self->file_rounds && out->shape[axis + 1] == self->base.arms) return SA_OK;
    char wanted[160];
    snprintf(wanted, sizeof wanted, "T = %zu, N = %zu of --contexts", self->file_rounds, self->base.arms);
    return wrong_shape(option, path, out, wanted);
}

static sa_status check_size(const sa_options *options, const char *option, int64_t asked, size_t file_has) {
    if (!sa_options_given(options, option) || (uint64_t)asked == file_has) return SA_OK;
    return sa_fail(SA_INVALID, "--%s %" PRId64 " contradicts --contexts %s, which has %zu", option, asked,
                   options->contexts, file_has);
}

static sa_status set_sizes(replay *self, const sa_options *options) {
    const size_t *shape = self->contexts.shape + round_axis(&self->contexts, 3);
    self->file_rounds = self->base.rounds = shape[0];
    self->base.arms = shape[1];
    self->base.dim = shape[2];
    SA_TRY(check_size(options, "arms", options->arms, self->base.arms));
    SA_TRY(check_size(options, "dim", options->dim, self->base.dim));
    if (!sa_options_given(options, "rounds")) return SA_OK;
    if ((uint64_t)options->rounds > self->file_rounds)
        return sa_fail(SA_INVALID, "--rounds %" PRId64 " is more than the %zu rounds of --contexts %s",
                       options->rounds, self->file_rounds, options->contexts);
    self->base.rounds = (size_t)options->rounds;
    return SA_OK;
}

/* ---- the environment ---- */

static void replay_destroy(sa_environment *environment) {
    replay *self = (replay *)environment;
    sa_array_clear(&self->noise);
    sa_array_clear(&self->scores);
    sa_array_clear(&self->contexts);
    sa_free(self);
}

static sa_status replay_create(const sa_options *options, const sa_environment_class *kind,
                               sa_environment **out) {
    replay *self;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = kind;
    self->seed = (uint64_t)options->seed;
    self->base.noise = options->noise;
    SA_TRY_OR_FAIL(
        read_floats(options, "contexts", options->contexts, 3, "(T, N, d) or (R, T, N, d)", &self->contexts));
    SA_TRY_OR_FAIL(set_sizes(self, options));
    SA_TRY_OR_FAIL(read_scores(self, options, "scores", options->scores, &self->scores));
    if (self->contexts.axes == 4 && self->scores.axes == 2) {
        status = sa_fail(SA_INVALID,
                         "--contexts %s has contexts of its own for each run, and --scores %s the same "
                         "scores for all: give scores (R, T, N)",
                         options->contexts, options->scores);
        goto fail;
    }
    if (*options->noise_values && options->noise > 0 && sa_options_changed(options, "noise")) {
        status =
            sa_fail(SA_INVALID, "--noise %g and --noise-values %s are both given, and only one can be added",
                    options->noise, options->noise_values);
        goto fail;
    }
    if (*options->noise_values)
        SA_TRY_OR_FAIL(read_scores(self, options, "noise-values", options->noise_values, &self->noise));
    *out = &self->base;
    return SA_OK;
fail:
    replay_destroy(&self->base);
    return status;
}

/* Copies a round's `width` numbers out of an array with that many numbers a round. */
static void copy_round(const replay *self, const sa_array *array, size_t axes, uint64_t run, uint64_t round,
                       size_t width, double *out) {
    size_t first = (size_t)round * width;
    if (array->axes == axes + 1) first += (size_t)run * self->file_rounds * width;
    if (array->type == SA_FLOAT64) {
        memcpy(out, (const double *)array->data + first, width * sizeof *out);
        return;
    }
    const float *numbers = (const float *)array->data + first;
    for (size_t i = 0; i < width; i++) out[i] = numbers[i];
}

static sa_status replay_draw(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out) {
    const replay *self = (const replay *)environment;
    size_t arms = self->base.arms;
    copy_round(self, &self->contexts, 3, run, round, arms * self->base.dim, out->contexts);
    copy_round(self, &self->scores, 2, run, round, arms, out->expected);
    if (self->noise.data)
        copy_round(self, &self->noise, 2, run, round, arms, out->noise);
    else
        sa_draw_noise(self->seed, run, round, self->base.noise, arms, out->noise);
    return SA_OK;
}

static const char *file_of(const sa_options *options) { return options->contexts; }

const sa_environment_class sa_environment_npy = {
    .name = "npy",
    .summary = "contexts, scores and noise from npy files: --contexts, --scores, --noise-values",
    .arms = "arms of --contexts",
    .file = file_of,
    .create = replay_create,
    .draw = replay_draw,
    .destroy = replay_destroy,
};
