/* superarm sweep --slurm: the shards as tasks of job arrays, and a job that merges when they have ended. All
 * that is known of them is in DIR/slurm: the scripts, a log for each task, `tasks` (how many there are) and
 * `jobs` (the last that were submitted). Slurm does the scheduling, and whether a task has done its work is
 * seen from the runs that it left. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "sweep.h"

enum { PATH_SIZE = PATH_MAX + 64, ARRAY_SIZE = 1001, WORDS_MOST = 256, LIST_SIZE = 1 << 16 };

typedef struct submission {
    const sweep_request *request;
    char out[PATH_MAX], program[PATH_MAX];
    size_t tasks, left_count;
    bool *left;        /* (tasks) not done yet */
    size_t array_size; /* the site's limit on indices */
    char jobs[4096];   /* "12:13" */
    bool again;
} submission;

static int say(const char *format, const char *what, const char *why) {
    return cli_say(SWEEP.name, EXIT_OTHER, format, what, why);
}

static void path_of(const submission *self, const char *name, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/slurm/%s", self->out, name);
}

/* ---- small files ---- */

__attribute__((format(printf, 3, 4))) static int write_file(const submission *self, const char *name,
                                                            const char *format, ...) {
    char path[PATH_SIZE];
    va_list arguments;
    path_of(self, name, path);
    FILE *file = fopen(path, "we");
    if (!file) return say("%s cannot be written: %s", path, strerror(errno));
    va_start(arguments, format);
    int size = vfprintf(file, format, arguments);
    va_end(arguments);
    if (fclose(file) || size < 0) return say("%s cannot be written: %s", path, strerror(errno));
    return EXIT_FINE;
}

/* "" when there is none. */
static void read_file(const submission *self, const char *name, char *text, size_t size) {
    char path[PATH_SIZE];
    path_of(self, name, path);
    FILE *file = fopen(path, "re");
    *text = 0;
    if (!file) return;
    text[fread(text, 1, size - 1, file)] = 0;
    text[strcspn(text, "\n")] = 0;
    fclose(file);
}

/* In single quotes, for the shell. */
static void quote(const char *text, char out[2 * PATH_MAX]) {
    size_t used = 0;
    out[used++] = '\'';
    for (; *text && used + 8 < 2 * PATH_MAX; text++) {
        if (*text == '\'')
            used += (size_t)snprintf(out + used, 8, "'\\''");
        else
            out[used++] = *text;
    }
    out[used++] = '\'';
    out[used] = 0;
}

static int write_scripts(const submission *self) {
    char program[2 * PATH_MAX], out[2 * PATH_MAX];
    quote(self->program, program);
    quote(self->out, out);
    int status = write_file(self, "tasks", "%zu\n", self->tasks);
    if (status == EXIT_FINE)
        status = write_file(
            self, "array.sh",
            "#!/bin/sh\n# A task of the array: the shard of its index, from the first of this array on "
            "($1).\n"
            "exec %s sweep %s/spec.yaml --out %s --shard \"$((SLURM_ARRAY_TASK_ID + $1))/%zu\" \\\n"
            "    --threads \"${SLURM_CPUS_PER_TASK:-1}\" --quiet\n",
            program, out, out, self->tasks);
    if (status == EXIT_FINE)
        status =
            write_file(self, "merge.sh",
                       "#!/bin/sh\n# When all tasks have ended: merges what they did.\nexec %s report %s\n",
                       program, out);
    return status;
}

/* ---- what there is to do ---- */

static int find_tasks(submission *self, sa_experiment *experiment) {
    char text[32];
    size_t jobs = 0, had;
    sa_status status = sa_experiment_jobs(experiment, &jobs);
    if (status != SA_OK) return cli_fail(SWEEP.name, status);
    read_file(self, "tasks", text, sizeof text);
    had = strtoul(text, NULL, 10);
    self->tasks = had                                                   ? had
                  : self->request->tasks && self->request->tasks < jobs ? self->request->tasks
                                                                        : jobs;
    if (had && self->request->tasks && self->request->tasks != had)
        return cli_say(SWEEP.name, EXIT_INPUT, "--tasks %zu: the sweep in %s was cut into %zu",
                       self->request->tasks, self->out, had);
    self->left = calloc(self->tasks, sizeof *self->left);
    if (!self->left) return cli_fail(SWEEP.name, SA_OUT_OF_MEMORY);
    status = sa_experiment_shards_left(experiment, self->tasks, self->left);
    if (status != SA_OK) return cli_fail(SWEEP.name, status);
    for (size_t i = 0; i < self->tasks; i++) self->left_count += self->left[i];
    return EXIT_FINE;
}

/* Tasks of an earlier submission that may still run. */
static int check_queue(const submission *self) {
    char jobs[4096], out[4096], said[512];
    read_file(self, "jobs", jobs, sizeof jobs);
    if (!*jobs) return EXIT_FINE;
    for (char *c = jobs; *c; c++)
        if (*c == ':') *c = ',';
    char *words[] = {"squeue", "--noheader", "--format=%i", "--jobs", jobs, NULL};
    if (child_run(words, out, sizeof out, said, sizeof said) || !*out)
        return EXIT_FINE; /* it knows them no more */
    return cli_say(SWEEP.name, EXIT_INPUT, "jobs of this sweep are still in the queue: squeue --jobs=%s",
                   jobs);
}

static int find_limit(submission *self) {
    char out[1 << 16], said[512];
    char *words[] = {"scontrol", "show", "config", NULL};
    int status = child_run(words, out, sizeof out, said, sizeof said);
    if (status == 127)
        return cli_say(SWEEP.name, EXIT_OTHER,
                       "--slurm needs Slurm's commands, and there is no scontrol here; --shard I/N works "
                       "with any scheduler");
    if (status) return say("Slurm does not answer: %s%s", said, "");
    char *line = strstr(out, "MaxArraySize"), *equals = line ? strchr(line, '=') : NULL;
    self->array_size = equals ? strtoul(equals + 1, NULL, 10) : ARRAY_SIZE;
    if (self->array_size == 0) return say("this Slurm takes no job arrays (MaxArraySize 0)%s%s", "", "");
    return EXIT_FINE;
}

/* ---- submitting ---- */

/* "0-3,7", of those between first and end, counted from first; false when there are none. */
static bool list_left(const submission *self, size_t first, size_t end, char list[LIST_SIZE]) {
    size_t used = 0;
    *list = 0;
    for (size_t i = first; i < end && used + 64 < LIST_SIZE; i++) {
        if (!self->left[i]) continue;
        size_t last = i;
        while (last + 1 < end && self->left[last + 1]) last++;
        used += (size_t)snprintf(list + used, LIST_SIZE - used, used ? ",%zu" : "%zu", i - first);
        if (last > i) used += (size_t)snprintf(list + used, LIST_SIZE - used, "-%zu", last - first);
        i = last;
    }
    return used > 0;
}

/* sbatch with the user's words and ours; the job's number goes behind the others. */
static int sbatch(submission *self, char *const *own, char *script, char *argument) {
    char *words[WORDS_MOST] = {"sbatch", "--parsable"}, out[256], said[512];
    size_t count = 2, used = strlen(self->jobs);
    for (; *own; own++) words[count++] = *own;
    for (int i = 0; i < self->request->sbatch_count; i++) words[count++] = self->request->sbatch[i];
    words[count++] = script;
    if (argument) words[count++] = argument;
    if (child_run(words, out, sizeof out, said, sizeof said)) return say("sbatch: %s%s", said, "");
    out[strcspn(out, ";\n")] = 0; /* "12;cluster" */
    snprintf(self->jobs + used, sizeof self->jobs - used, "%s%s", used ? ":" : "", out);
    return EXIT_FINE;
}

/* The site's arrays may be shorter than ours: then there are several, one after the other where --at-once
 * limits them. */
static int submit_arrays(submission *self) {
    static char list[LIST_SIZE], array[LIST_SIZE + 64], after[4096 + 64];
    char script[PATH_SIZE], log[PATH_SIZE], offset[32], previous[4096] = "";
    path_of(self, "array.sh", script);
    path_of(self, "task-%A-%a.log", log);
    int status = EXIT_FINE;
    for (size_t first = 0; status == EXIT_FINE && first < self->tasks; first += self->array_size) {
        size_t end = first + self->array_size < self->tasks ? first + self->array_size : self->tasks,
               used = 0;
        char *own[8] = {"--job-name=superarm", "--output", log, array};
        if (!list_left(self, first, end, list)) continue;
        used = (size_t)snprintf(array, sizeof array, "--array=%s", list);
        if (self->request->at_once)
            snprintf(array + used, sizeof array - used, "%%%zu", self->request->at_once);
        snprintf(after, sizeof after, "--dependency=afterany:%s", previous);
        if (self->request->at_once && *previous) own[4] = after;
        snprintf(offset, sizeof offset, "%zu", first);
        status = sbatch(self, own, script, offset);
        const char *colon = strrchr(self->jobs, ':');
        snprintf(previous, sizeof previous, "%s", colon ? colon + 1 : self->jobs);
    }
    return status;
}

static int submit_merge(submission *self) {
    char script[PATH_SIZE], log[PATH_SIZE], after[4096 + 64];
    path_of(self, "merge.sh", script);
    path_of(self, "merge-%j.log", log);
    snprintf(after, sizeof after, "--dependency=afterany:%s", self->jobs);
    char *own[] = {"--job-name=superarm-merge", "--output", log, after, NULL};
    return sbatch(self, own, script, NULL);
}

static void tell(const submission *self) {
    static char list[LIST_SIZE];
    const char *merge = strrchr(self->jobs, ':');
    list_left(self, 0, self->tasks, list);
    if (self->again) printf("Tasks %s of %zu have runs to do, and are submitted again.\n", list, self->tasks);
    printf("%zu tasks: %s %.*s; job %s merges them into %s/report.html. Logs are in %s/slurm.\n",
           self->left_count, strchr(self->jobs, ':') == merge ? "job" : "jobs", (int)(merge - self->jobs),
           self->jobs, merge + 1, self->out, self->out);
}

static int submit(submission *self, sa_experiment *experiment) {
    char folder[PATH_SIZE];
    int status = find_limit(self);
    if (status == EXIT_FINE) status = check_queue(self);
    if (status == EXIT_FINE) status = find_tasks(self, experiment);
    if (status != EXIT_FINE) return status;
    if (self->left_count == 0) {
        printf("Nothing is left to do: superarm report %s merges.\n", self->out);
        return EXIT_FINE;
    }
    sa_status begun = sa_experiment_begin(experiment);
    if (begun != SA_OK) return cli_fail(SWEEP.name, begun);
    path_of(self, "", folder);
    if (mkdir(folder, 0777) && errno != EEXIST) return say("%s cannot be made: %s", folder, strerror(errno));
    if ((status = write_scripts(self)) != EXIT_FINE) return status;
    status = submit_arrays(self);
    if (status == EXIT_FINE) status = submit_merge(self);
    if (*self->jobs) write_file(self, "jobs", "%s\n", self->jobs); /* those that were taken */
    if (status == EXIT_FINE && !cli_flag(experiment, "quiet")) tell(self);
    return status;
}

int sweep_submit(const sweep_request *request, sa_experiment *experiment) {
    submission self = {.request = request};
    char out[CLI_VALUE], here[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self.program, sizeof self.program - 1);
    if (size <= 0 || !getcwd(here, sizeof here))
        return say("this program does not find itself: %s%s", strerror(errno), "");
    if (request->sbatch_count > WORDS_MOST - 16) return say("%s%s", "sbatch gets more than 240 words", "");
    sa_options_get(sa_experiment_options(experiment), "out", out, sizeof out);
    int used =
        snprintf(self.out, sizeof self.out, *out == '/' ? "%s%s" : "%s/%s", *out == '/' ? "" : here, out);
    if (used < 0 || (size_t)used >= sizeof self.out) return say("--out %s is too long%s", out, "");
    self.again = cli_flag(experiment, "resume");
    int exit_status = submit(&self, experiment);
    free(self.left);
    return exit_status;
}
