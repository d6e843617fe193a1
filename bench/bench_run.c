/* One run of CN-UCB as the paper's Experiment 1 has it, beside the two naive ways (naive.h) in the same
 * process.
 *
 *   bench_run [ROUNDS]      2000 rounds unless told otherwise */
#include "machine.h"
#include "naive.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <superarm/superarm.h>
#include <time.h>

#include "linalg/triangle.h"

enum { AUTHORS_ROUNDS = 3, IN_PLACE_ROUNDS = 6 };

/* What is solved: columns, and columns times rows of the factor, which is what they cost. bench_run is linked
 * with --wrap, so that the library's calls come here. */
typedef struct solves {
    double calls, columns, rows, products; /* rows: read, once a call; products: columns rows^2 */
} solves;

static solves solved;

void __real_triangle_solve_f32(const triangle_f32 *factor, float *b, size_t columns);
void __wrap_triangle_solve_f32(const triangle_f32 *factor, float *b, size_t columns);

void __wrap_triangle_solve_f32(const triangle_f32 *factor, float *b, size_t columns) {
    double n = (double)factor->n;
    solved.calls += 1;
    solved.columns += (double)columns;
    solved.rows += n;
    solved.products += (double)columns * n * n;
    __real_triangle_solve_f32(factor, b, columns);
}

/* The most memory this process ever had, in MB; 0 where /proc does not say. */
static double peak_megabytes(void) {
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1) break;
    fclose(file);
    return kilobytes / 1024;
}

static sa_experiment *experiment_of(const char *rounds, const char *widths) {
    const char *settings[][2] = {{"preset", "icml23"},    {"algorithm", "cn-ucb"}, {"confidence", "exact"},
                                 {"environment", "h2"},   {"rounds", rounds},      {"arms", "20"},
                                 {"slate", "4"},          {"dim", "80"},           {"hidden", "100"},
                                 {"depth", "2"},          {"runs", "1"},           {"threads", "1"},
                                 {"precision", "single"}, {"widths", widths}};
    sa_experiment *experiment = sa_experiment_new();
    if (!experiment) return NULL;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (sa_experiment_set(experiment, settings[i][0], settings[i][1]) != SA_OK) goto fail;
    return experiment;
fail:
    sa_experiment_destroy(experiment);
    return NULL;
}

static void print_yardstick(const char *name, double seconds, double rounds, double ours) {
    printf("%-34s %10.1f %12.3f %10.1f x\n", name, seconds * rounds, 1e3 * seconds, seconds * rounds / ours);
}

static void print_row(const char *name, double seconds, double rounds) {
    printf("%-34s %10.1f %12.3f\n", name, seconds, 1e3 * seconds / rounds);
}

/* A round's columns, each with the rows of the factor that it goes through; and what the solves of a run cost
 * beside those of all N arms with all rows, n = K t in round t. */
static void print_solves(const char *name, const solves *of, double rounds) {
    double all = 0;
    for (double t = 0; t < rounds; t++)
        all += (double)naive_paper_size.arms * pow((double)naive_paper_size.slate * t, 2);
    printf("%-34s %10.2f %12.1f %12.0f %11.1f%%\n", name, of->calls / rounds, of->columns / rounds,
           of->rows / of->calls, 100 * of->products / all);
}

static void print_run(const sa_agent_result *run, double ours, double all, double peak, const solves *needed,
                      const solves *every) {
    double rounds = (double)run->rounds;
    double authors = naive_seconds(NAIVE_AUTHORS, &naive_paper_size, 1, AUTHORS_ROUNDS, NULL);
    double in_place = naive_seconds(NAIVE_IN_PLACE, &naive_paper_size, 1, IN_PLACE_ROUNDS, NULL);
    printf("One run of CN-UCB: h2, T %zu, N 20, K 4, d 80, m 100, icml23, exact widths, single precision, "
           "one thread\n",
           run->rounds);
    printf("%-34s %10s %12s %12s\n", "", "seconds", "ms/round", "against ours");
    print_row("superarm, with training", ours, rounds);
    print_row("  select", run->select_seconds, rounds);
    print_row("  update", run->update_seconds, rounds);
    print_row("  train", run->train_seconds, rounds);
    print_row("superarm, --widths all", all, rounds);
    print_yardstick("authors' way, without training", authors, rounds, ours);
    print_yardstick("in place with BLAS, the same", in_place, rounds, ours);
    printf("Peak memory of the run: %.0f MB, of it the agent %.0f MB. The naive ways are extrapolated from "
           "%d and %d "
           "rounds.\n",
           peak, (double)run->peak_bytes / 0x1p20, AUTHORS_ROUNDS, IN_PLACE_ROUNDS);
    printf("%-34s %10s %12s %12s %12s\n", "Solved for widths, a round", "solves", "columns", "rows each",
           "of all N");
    print_solves("superarm", needed, rounds);
    print_solves("superarm, --widths all", every, rounds);
}

/* Seconds of one run, and what it solved; negative when it failed. The caller destroys *experiment. */
static double seconds_of(const char *rounds, const char *widths, sa_experiment **experiment, solves *run) {
    solved = (solves){0};
    *experiment = experiment_of(rounds, widths);
    if (!*experiment) return -1;
    clock_t start = clock(); /* processor time, as other work on the machine counts for neither side */
    if (sa_experiment_run(*experiment, NULL, NULL) != SA_OK) return -1;
    *run = solved;
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

int main(int count, char **arguments) {
    openblas_set_num_threads(1);
    const char *rounds = count > 1 ? arguments[1] : "2000";
    sa_agent_result run;
    sa_experiment *needed = NULL, *every = NULL;
    int status = 1;
    solves solved_needed, solved_every;
    double ours = seconds_of(rounds, "needed", &needed, &solved_needed);
    double peak = peak_megabytes(); /* before the yardsticks, which take 1.3 GB */
    double all = seconds_of(rounds, "all", &every, &solved_every);
    if (ours < 0 || all < 0 || sa_experiment_result(needed, 0, &run) != SA_OK) {
        fprintf(stderr, "bench_run: %s\n", sa_last_error());
        goto done;
    }
    print_run(&run, ours, all, peak, &solved_needed, &solved_every);
    status = 0;
done:
    sa_experiment_destroy(needed);
    sa_experiment_destroy(every);
    return status;
}
