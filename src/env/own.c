/* The caller's own environment. What its callbacks give is checked before anyone believes it. */
#include <inttypes.h>
#include <math.h>

#include "base/callback_lock.h"
#include "base/memory.h"
#include "env/environment.h"
#include "env/noise.h"

typedef struct own_environment {
    sa_environment base;
    sa_own_environment own;
    sa_callback_lock *turns;
    uint64_t seed;
} own_environment;

static sa_status check_code(const char *callback, int code) {
    if (code == 0) return SA_OK;
    return sa_fail(SA_CALLBACK, "your environment's %s failed with code %d", callback, code);
}

/* ---- a run ---- */

static sa_status begin(const sa_environment *environment, uint64_t run, sa_round *out) {
    const own_environment *self = (const own_environment *)environment;
    void *state = self->own.user;
    int code = 0;
    if (self->own.begin) SA_TAKE_TURN(self->turns, code = self->own.begin(self->own.user, run, &state));
    SA_TRY(check_code("begin", code));
    out->state = state;
    return SA_OK;
}

static void end(const sa_environment *environment, sa_round *round) {
    const own_environment *self = (const own_environment *)environment;
    if (self->own.begin && self->own.end) SA_TAKE_TURN(self->turns, self->own.end(round->state));
}

/* ---- a round ---- */

static sa_status draw_contexts(const own_environment *self, uint64_t run, uint64_t round, sa_round *out) {
    size_t most = self->base.arms, dim = self->base.dim, arms = most;
    int code;
    SA_TAKE_TURN(self->turns, code = self->own.contexts(out->state, run, round, out->contexts, &arms));
    SA_TRY(check_code("contexts", code));
    if (arms == 0 || arms > most)
        return sa_fail(SA_INVALID, "your environment has %zu arms in this round, and must have 1 to %zu",
                       arms, most);
    if (arms < most && !self->base.varies)
        return sa_fail(
            SA_INVALID,
            "your environment has %zu arms in this round instead of %zu, and does not say that it varies",
            arms, most);
    out->arms = arms;
    for (size_t i = 0; i < arms * dim; i++)
        if (!isfinite(out->contexts[i]))
            return sa_fail(SA_INVALID, "your environment gives arm %zu a feature %zu of %g", i / dim, i % dim,
                           out->contexts[i]);
    return SA_OK;
}

static sa_status check_numbers(const double *numbers, size_t count, const char *what) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return sa_fail(SA_INVALID, "your environment gives arm %zu %s of %g", i, what, numbers[i]);
    return SA_OK;
}

static sa_status draw_noise(const own_environment *self, uint64_t run, uint64_t round, sa_round *out) {
    int code;
    if (self->own.feedback) {
        for (size_t i = 0; i < out->arms; i++) out->noise[i] = 0;
        return SA_OK;
    }
    if (!self->own.noise) {
        sa_draw_noise(self->seed, run, round, self->base.noise, out->arms, out->noise);
        return SA_OK;
    }
    SA_TAKE_TURN(self->turns, code = self->own.noise(out->state, run, round, out->noise, out->arms));
    SA_TRY(check_code("noise", code));
    return check_numbers(out->noise, out->arms, "noise");
}

static sa_status draw(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out) {
    const own_environment *self = (const own_environment *)environment;
    int code;
    SA_TRY(draw_contexts(self, run, round, out));
    SA_TAKE_TURN(self->turns, code = self->own.expected(out->state, run, round, out->expected, out->arms));
    SA_TRY(check_code("expected", code));
    SA_TRY(check_numbers(out->expected, out->arms, "an expected score"));
    return draw_noise(self, run, round, out);
}

static sa_status feedback(const sa_environment *environment, uint64_t run, uint64_t round,
                          const sa_round *drawn, const size_t *slate, size_t length, double *scores) {
    const own_environment *self = (const own_environment *)environment;
    int code;
    for (size_t i = 0; i < length; i++) scores[i] = NAN;
    SA_TAKE_TURN(self->turns, code = self->own.feedback(drawn->state, run, round, slate, length, scores));
    SA_TRY(check_code("feedback", code));
    for (size_t i = 0; i < length; i++)
        if (isinf(scores[i]))
            return sa_fail(SA_INVALID, "your environment gives arm %zu a score of %g", slate[i], scores[i]);
    return SA_OK;
}

/* ---- life ---- */

static void destroy(sa_environment *environment) { sa_free(environment); }

static const char ARMS[] = "arms of your environment";
static const sa_environment_class WITH_NOISE = {
    .name = "own", .arms = ARMS, .draw = draw, .destroy = destroy, .begin = begin, .end = end};
static const sa_environment_class WITH_FEEDBACK = {.name = "own",
                                                   .arms = ARMS,
                                                   .draw = draw,
                                                   .destroy = destroy,
                                                   .begin = begin,
                                                   .end = end,
                                                   .feedback = feedback};

static sa_status check_size(const sa_options *options, const char *option, int64_t asked, size_t has) {
    if (!sa_options_given(options, option) || (uint64_t)asked == has) return SA_OK;
    return sa_fail(SA_INVALID, "--%s %" PRId64 " contradicts your environment, which has %zu", option, asked,
                   has);
}

static sa_status check(const sa_options *options, const sa_own_environment *own) {
    if (own->noise && own->feedback)
        return sa_fail(SA_INVALID,
                       "your environment has both noise and feedback, and only one can say what is seen");
    if (own->feedback && options->clicks != SA_CLICKS_NONE)
        return sa_fail(SA_INVALID,
                       "--clicks says what is seen of a slate, and so does the feedback of your environment");
    if ((own->noise || own->feedback) && options->noise > 0 && sa_options_changed(options, "noise"))
        return sa_fail(SA_INVALID, "--noise %g is not for an environment of your own with %s", options->noise,
                       own->noise ? "noise" : "feedback");
    SA_TRY(check_size(options, "arms", options->arms, own->arms));
    SA_TRY(check_size(options, "dim", options->dim, own->dim));
    if (own->rounds > 0 && sa_options_given(options, "rounds") && (uint64_t)options->rounds > own->rounds)
        return sa_fail(SA_INVALID, "--rounds %" PRId64 " is more than the %zu rounds of your environment",
                       options->rounds, own->rounds);
    return SA_OK;
}

sa_status sa_environment_create_own(const sa_options *options, const sa_own_environment *own,
                                    sa_callback_lock *turns, sa_environment **out) {
    own_environment *self;
    SA_TRY(sa_environment_check_options(options));
    SA_TRY(check(options, own));
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    bool all = own->rounds > 0 && !sa_options_given(options, "rounds");
    *self = (own_environment){.base = {.kind = own->feedback ? &WITH_FEEDBACK : &WITH_NOISE,
                                       .rounds = all ? own->rounds : (size_t)options->rounds,
                                       .arms = own->arms,
                                       .dim = own->dim,
                                       .noise = options->noise,
                                       .varies = own->varies},
                              .own = *own,
                              .turns = turns,
                              .seed = (uint64_t)options->seed};
    *out = &self->base;
    return SA_OK;
}
