#include "agent/scan.h"

#include <math.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/contenders.h"
#include "agent/crew.h"
#include "base/memory.h"

/* ---- memory ---- */

void sa_scan_clear(sa_scan *scan) {
    sa_survivors *all = &scan->survivors;
    sa_free(all->arm);
    sa_free(all->mean);
    sa_free(all->luck);
    sa_free(all->width);
    sa_free(all->score);
    sa_free(all->group_score);
    sa_free(all->contender);
    sa_free(all->is_contender);
    sa_gradients_clear(&all->gradients);
    for (size_t i = 0; i < SA_SCAN_WAVE; i++) {
        sa_free(scan->part[i].arm);
        sa_gradients_clear(&scan->part[i].gradients);
    }
    for (size_t i = 0; i < scan->workers; i++) sa_block_clear(&scan->worker[i]);
    sa_free(scan->worker);
    *scan = (sa_scan){0};
}

size_t sa_scan_bytes(const sa_scan *scan, const sa_inputs *inputs) {
    const sa_survivors *all = &scan->survivors;
    size_t bytes =
        all->capacity * (2 * sizeof(size_t) + 5 * sizeof(double) + sizeof(bool)) + sa_gradients_bytes(&all->gradients);
    for (size_t i = 0; i < SA_SCAN_WAVE; i++)
        bytes += sa_gradients_bytes(&scan->part[i].gradients) + (scan->part[i].arm ? SA_BLOCK_ARMS * sizeof(size_t) : 0);
    for (size_t i = 0; i < scan->workers; i++) bytes += sizeof(sa_block) + sa_block_bytes(&scan->worker[i], inputs);
    return bytes;
}

/* Each array has its own capacity while it grows; the shared one is set when all have. */
static sa_status reserve_survivors(sa_survivors *all, size_t count) {
    struct {
        void *array;
        size_t size;
    } each[] = {{&all->arm, sizeof *all->arm},
                {&all->mean, sizeof *all->mean},
                {&all->luck, sizeof *all->luck},
                {&all->width, sizeof *all->width},
                {&all->score, sizeof *all->score},
                {&all->group_score, sizeof *all->group_score},
                {&all->contender, sizeof *all->contender},
                {&all->is_contender, sizeof *all->is_contender}};
    size_t capacity = all->capacity;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        capacity = all->capacity;
        SA_TRY(sa_grow_array(each[i].array, &capacity, count, each[i].size));
    }
    SA_TRY(sa_gradients_reserve(&all->gradients, count));
    all->capacity = capacity;
    return SA_OK;
}

static size_t threads_of(const sa_agent *agent) {
    return agent->model->kind->concurrent ? (size_t)agent->options->agent_threads : 1;
}

/* All but the gradients, whose memory is taken as it is needed. */
static sa_status reserve(sa_agent *agent) {
    sa_scan *scan = &agent->scan;
    const sa_model *model = agent->model;
    sa_survivors *all = &scan->survivors;
    if (!all->gradients.pair) SA_TRY(sa_gradients_init(&all->gradients, model->precision, model->pairs, model->shape));
    for (size_t i = 0; i < SA_SCAN_WAVE; i++) {
        struct sa_scan_part *part = &scan->part[i];
        if (!part->arm) SA_TRY(sa_alloc_array(SA_BLOCK_ARMS, sizeof *part->arm, &part->arm));
        if (!part->gradients.pair)
            SA_TRY(sa_gradients_init(&part->gradients, model->precision, model->pairs, model->shape));
    }
    size_t others = threads_of(agent) - 1;
    if (scan->workers == 0 && others > 0) {
        SA_TRY(sa_alloc_array(others, sizeof *scan->worker, &scan->worker));
        scan->workers = others;
    }
    for (size_t i = 0; i < scan->workers; i++) {
        sa_block *block = &scan->worker[i];
        SA_TRY(sa_input_block_reserve(&block->inputs, &agent->inputs, SA_BLOCK_ARMS));
        if (!block->gradients.pair)
            SA_TRY(sa_gradients_init(&block->gradients, model->precision, model->pairs, model->shape));
        SA_TRY(sa_gradients_reserve(&block->gradients, SA_BLOCK_ARMS));
    }
    return SA_OK;
}

/* ---- blocks ---- */

typedef struct wave {
    sa_agent *agent;
    const sa_request *request;
    const sa_stream *stream;
    size_t first; /* arm */
    double bar;   /* an arm survives if its score can be above */
} wave;

/* width and score: upper bounds. Norms too large for the quick way are taken again with care. */
static void bound(sa_agent *agent, const sa_gradients *gradients, size_t first) {
    double *width = agent->width + first, largest = 0;
    sa_gradients_norms_above(gradients, width);
    for (size_t i = 0; i < gradients->count; i++)
        if (!(width[i] <= largest)) largest = width[i];
    if (!isfinite(largest)) sa_gradients_norms(gradients, width);
    for (size_t i = 0; i < gradients->count; i++) {
        width[i] = sqrt(width[i] / agent->options->regularization);
        agent->score[first + i] = sa_highest_score(agent, agent->mean[first + i], agent->luck[first + i], width[i]);
    }
}

static sa_status scan_block(const wave *self, size_t first, size_t count, sa_block *block, struct sa_scan_part *part) {
    sa_agent *agent = self->agent;
    const bool *excluded = self->request->excluded;
    size_t row[SA_BLOCK_ARMS];
    part->count = part->gradients.count = 0;
    SA_TRY(sa_block_estimate(agent, self->request, first, count, 0, false, block, agent->mean + first));
    sa_explore_luck(&agent->exploration, first, count, self->stream, agent->luck + first);
    bound(agent, &block->gradients, first);
    for (size_t i = 0; i < count; i++) {
        if ((excluded && excluded[first + i]) || !(agent->score[first + i] > self->bar)) continue;
        row[part->count] = i;
        part->arm[part->count++] = first + i;
    }
    SA_TRY(sa_gradients_reserve(&part->gradients, part->count));
    sa_gradients_append(&part->gradients, &block->gradients, row, part->count);
    return SA_OK;
}

static void work(void *user, size_t index, size_t worker) {
    const wave *self = user;
    sa_scan *scan = &self->agent->scan;
    size_t first = self->first + index * SA_BLOCK_ARMS, left = self->request->arms - first;
    scan->part[index].status = scan_block(self, first, left < SA_BLOCK_ARMS ? left : SA_BLOCK_ARMS,
                                          worker ? &scan->worker[worker - 1] : &self->agent->block, &scan->part[index]);
}

/* A thread's sentence stays with the thread: the block that failed first is done again in the caller's. */
static sa_status run_wave(const wave *self, size_t blocks) {
    wave copy = *self;
    sa_scan *scan = &self->agent->scan;
    sa_crew_run(threads_of(self->agent), blocks, work, &copy);
    for (size_t i = 0; i < blocks; i++)
        if (scan->part[i].status != SA_OK) {
            work(&copy, i, 0);
            SA_TRY(scan->part[i].status);
        }
    return SA_OK;
}

/* ---- survivors ---- */

/* The best of them stay, in the order of arms, with exact scores; the least of these is the new bar. */
static sa_status settle(sa_agent *agent, size_t slate, double *bar) {
    sa_survivors *all = &agent->scan.survivors;
    uint64_t ticket = 0;
    size_t length;
    if (all->count < slate) return SA_OK;
    sa_contest contest = {.arms = all->count,
                          .slate = slate,
                          .mean = all->mean,
                          .luck = all->luck,
                          .width = all->width,
                          .score = all->score,
                          .bounded = true,
                          .floor = *bar,
                          .group_score = all->group_score,
                          .contender = all->contender,
                          .is_contender = all->is_contender};
    SA_TRY(sa_score_contenders(agent, &all->gradients, &contest, 1, &ticket));
    for (size_t i = 0; i < all->count; i++) {
        agent->width[all->arm[i]] = all->width[i];
        agent->score[all->arm[i]] = all->score[i];
    }
    sa_oracle_problem best = {.scores = all->score, .arms = all->count, .slate = slate};
    SA_TRY(sa_oracle_top_k.solve(&best, &agent->oracle_work, agent->slate, &length));
    *bar = all->score[agent->slate[length - 1]];
    memset(all->is_contender, 0, all->count * sizeof *all->is_contender);
    for (size_t k = 0; k < length; k++) all->is_contender[agent->slate[k]] = true;
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->is_contender[i]) continue;
        all->arm[kept] = all->arm[i];
        all->mean[kept] = all->mean[i];
        all->luck[kept] = all->luck[i];
        all->width[kept] = all->width[i];
        all->score[kept] = all->score[i];
        sa_gradients_move(&all->gradients, i, kept);
        kept++;
    }
    all->count = all->gradients.count = kept;
    return SA_OK;
}

/* Takes over a block's survivors, but for those that are below the bar by now. */
static sa_status gather(sa_agent *agent, const struct sa_scan_part *part, double bar) {
    sa_survivors *all = &agent->scan.survivors;
    SA_TRY(reserve_survivors(all, all->count + part->count));
    for (size_t i = 0; i < part->count; i++) {
        size_t arm = part->arm[i], end = all->count;
        if (!(agent->score[arm] > bar)) continue;
        all->arm[end] = arm;
        all->mean[end] = agent->mean[arm];
        all->luck[end] = agent->luck[arm];
        all->width[end] = agent->width[arm];
        all->score[end] = agent->score[arm];
        sa_gradients_append(&all->gradients, &part->gradients, &i, 1);
        all->count++;
    }
    return SA_OK;
}

sa_status sa_scan_arms(sa_agent *agent, const sa_request *request, const sa_stream *stream) {
    sa_scan *scan = &agent->scan;
    wave self = {.agent = agent, .request = request, .stream = stream, .bar = -INFINITY};
    size_t many = 4 * request->slate, blocks = 1;
    if (many < 2 * SA_BLOCK_ARMS) many = 2 * SA_BLOCK_ARMS;
    SA_TRY(reserve(agent));
    scan->survivors.count = scan->survivors.gradients.count = 0;
    for (; self.first < request->arms; self.first += blocks * SA_BLOCK_ARMS, blocks = SA_SCAN_WAVE) {
        size_t left = (request->arms - self.first + SA_BLOCK_ARMS - 1) / SA_BLOCK_ARMS;
        size_t taken = left < blocks ? left : blocks;
        SA_TRY(run_wave(&self, taken));
        for (size_t i = 0; i < taken; i++) {
            SA_TRY(gather(agent, &scan->part[i], self.bar));
            if (self.first == 0 || scan->survivors.count >= many) SA_TRY(settle(agent, request->slate, &self.bar));
        }
    }
    return settle(agent, request->slate, &self.bar);
}

size_t sa_scan_row(const sa_scan *scan, size_t arm) {
    size_t low = 0, high = scan->survivors.count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scan->survivors.arm[middle] < arm)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
