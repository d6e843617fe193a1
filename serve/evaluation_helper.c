/* The process of an evaluation (evaluations.h): learns from one log and estimates on the other. Its answer is
 * a file:
 *
 *   {"logged": {...}, "learnt": {POLICY: {"decisions", "observations", "trainings"}}, "evaluation": {...}}
 *   or {"error": "a sentence"} */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "evaluation_files.h"
#include "evaluations.h"
#include "model.h"
#include "values.h"
#include <superarm/evaluate.h>
#include <superarm/learn.h>

enum { CPU_SECONDS = 3600 };

static const char PREFERRED[] = "cascade-dr,rips,snrips,snips"; /* docs/EVALUATION.md */

/* ---- its bounds ---- */

static void bound_memory(rlim_t bytes) {
#ifdef __SANITIZE_ADDRESS__ /* its shadow is larger than any bound */
    (void)bytes;
#else
    unsigned long pages = 0;
    struct rlimit memory;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    if (getrlimit(RLIMIT_AS, &memory)) return;
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    if (memory.rlim_cur > most) memory.rlim_cur = most;
    setrlimit(RLIMIT_AS, &memory);
#endif
}

static void bound(rlim_t bytes) {
    struct rlimit none = {0, 0}, seconds = {CPU_SECONDS, CPU_SECONDS + 5};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    setpriority(PRIO_PROCESS, 0, 19);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &seconds);
    bound_memory(bytes);
}

/* ---- learning ---- */

typedef struct helper {
    const char *begin; /* of the files' names, in this folder */
    sa_json question;
    sa_buffer learnt; /* JSON */
    sv_refusal why;
} sv_helper_work;

static sv_settings *read_settings(sv_helper_work *self, const char *name) {
    sa_buffer text = {0};
    sv_settings *settings = NULL;
    size_t at = sa_json_find(&self->question, 0, name);
    if (!at) return NULL;
    sa_buffer_value(&text, &self->question, at);
    if (!text.status) settings = sv_settings_read_text(text.text, text.size, &self->why);
    sa_buffer_clear(&text);
    return settings;
}

static void note_learnt(sv_helper_work *self, const char *name, const sv_model *model,
                        const sa_learnt *learnt) {
    sa_agent_counts counts;
    sv_model_count(model, &counts);
    sa_buffer_format(
        &self->learnt,
        "%s\"%s\": {\"decisions\": %llu, \"observations\": %llu, \"trainings\": %llu, \"note\": ",
        self->learnt.size ? ", " : "", name, (unsigned long long)learnt->decisions,
        (unsigned long long)counts.observations, (unsigned long long)counts.trainings);
    sa_buffer_quote(&self->learnt, learnt->note);
    sa_buffer_text(&self->learnt, "}");
}

/* An agent of these settings that has learnt from the first log, as a file. false: there is none, or why. */
static bool teach(sv_helper_work *self, const char *name, sv_evaluation_file file) {
    sa_buffer log = {0}, path = {0};
    sv_model *model = NULL;
    sa_learnt learnt = {0};
    sv_settings *settings = read_settings(self, name);
    bool good = settings && sv_model_create(settings, &model, &self->why);
    sv_evaluation_path(self->begin, EVALUATION_PAST, &log);
    sv_evaluation_path(self->begin, file, &path);
    if (good && (log.status || path.status)) good = sv_refuse_library(&self->why, SA_OUT_OF_MEMORY);
    if (good) {
        sa_status status =
            sa_agent_learn_log(sv_model_agent(model), log.text, true, NULL, NULL, NULL, &learnt);
        if (status == SA_OK) status = sv_model_save(model, path.text);
        good = status == SA_OK || sv_refuse_library(&self->why, status);
    }
    if (good) note_learnt(self, name, model, &learnt);
    sv_model_destroy(model);
    sv_settings_release(settings);
    sa_buffer_clear(&log);
    sa_buffer_clear(&path);
    return good;
}

/* ---- estimating ---- */

/* The mean of what the agent's own slates got. */
static bool add_logged(sv_helper_work *self, const char *log, sa_buffer *out) {
    sa_evaluation *evaluation;
    sa_estimate found;
    sa_status status =
        sa_evaluate(log, &(sa_evaluate_settings){.policies = "logged", .estimators = "ips", .skip_bad = true},
                    &evaluation);
    if (status != SA_OK) return sv_refuse_library(&self->why, status);
    status = sa_evaluation_get(evaluation, 0, "ips", &found);
    sa_evaluation_destroy(evaluation);
    if (status != SA_OK) return sv_refuse_library(&self->why, status);
    sa_buffer_text(out, "\"logged\": {\"value\": ");
    sa_buffer_number(out, found.value, 0);
    sa_buffer_text(out, ", \"standard_error\": ");
    sa_buffer_number(out, found.standard_error, 0);
    sa_buffer_text(out, ", \"ci95\": ");
    sa_buffer_numbers(out, found.ci95, 2, 0);
    sa_buffer_text(out, "}");
    return true;
}

static bool estimate(sv_helper_work *self, const char *log, bool candidate, sa_buffer *out) {
    char asked[LIMIT_ID + 1] = "";
    sa_buffer policies = {0};
    sa_evaluation *evaluation = NULL;
    sv_refusal why;
    size_t at = sa_json_find(&self->question, 0, "estimators");
    if (at) sv_value_id(&self->question, at, "estimators", asked, &why);
    sa_buffer_format(&policies, "present=%s-present.npz", self->begin);
    if (candidate) sa_buffer_format(&policies, ",candidate=%s-candidate.npz", self->begin);
    sa_status status = policies.status;
    sa_evaluate_settings settings = {
        .policies = policies.text, .estimators = *asked ? asked : PREFERRED, .skip_bad = true, .seed = 1};
    if (status == SA_OK) status = sa_evaluate(log, &settings, &evaluation);
    if (status == SA_INVALID && !*asked) { /* those that can be had */
        settings.estimators = NULL;
        status = sa_evaluate(log, &settings, &evaluation);
    }
    if (status == SA_OK) sa_buffer_format(out, ", \"evaluation\": %s", sa_evaluation_json(evaluation));
    sa_evaluation_destroy(evaluation);
    sa_buffer_clear(&policies);
    return status == SA_OK || sv_refuse_library(&self->why, status);
}

static bool answer(sv_helper_work *self, sa_buffer *out) {
    sa_buffer log = {0};
    sv_evaluation_path(self->begin, EVALUATION_LATER, &log);
    bool good = !log.status && teach(self, "present", EVALUATION_PRESENT);
    bool candidate = good && sa_json_find(&self->question, 0, "candidate");
    if (candidate) good = teach(self, "candidate", EVALUATION_CANDIDATE);
    sa_buffer_text(out, "{");
    if (good) good = add_logged(self, log.text, out) && estimate(self, log.text, candidate, out);
    if (good) sa_buffer_format(out, ", \"learnt\": {%s}}", self->learnt.status ? "" : self->learnt.text);
    sa_buffer_clear(&log);
    return good;
}

int sv_evaluation_help(int count, char **words) {
    sv_helper_work self = {.begin = count == 2 ? words[0] : ""};
    sa_buffer question = {0}, out = {0};
    if (count != 2) return 2;
    bound((rlim_t)strtoull(words[1], NULL, 10));
    bool good = sv_evaluation_read(self.begin, EVALUATION_QUESTION, &question) &&
                sv_value_parse(&self.question, question.text, question.size, NULL, &self.why) &&
                answer(&self, &out);
    if (!good) {
        out.size = 0;
        sa_buffer_text(&out, "{\"error\": ");
        sa_buffer_quote(&out, self.why.status ? self.why.message : "its files cannot be read");
        sa_buffer_text(&out, "}");
    }
    good = sv_evaluation_write(self.begin, EVALUATION_RESULT, &out);
    return good ? 0 : 1; /* the process ends: nothing needs to be freed */
}
