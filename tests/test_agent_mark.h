/* All that an agent does from here on, and all that it then saves, as one number: equal numbers, equal
 * bytes. */
#ifndef TEST_AGENT_MARK_H
#define TEST_AGENT_MARK_H

#include "test_agent_rig.h"

#include <errno.h>

static inline uint64_t add_bytes(uint64_t mark, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        mark = (mark ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001B3);
    return mark;
}

static inline uint64_t mark_decision(uint64_t mark, const sa_decision *decision) {
    size_t slate = sa_decision_slate(decision), positions = sa_decision_positions(decision);
    size_t bytes = sa_decision_candidates(decision) * (positions ? positions : 1) * sizeof(double);
    mark = add_bytes(mark, &(uint64_t){sa_decision_id(decision)}, sizeof(uint64_t));
    mark = add_bytes(mark, sa_decision_arms(decision), slate * sizeof(size_t));
    mark = add_bytes(mark, sa_decision_all_estimates(decision), bytes);
    mark = add_bytes(mark, sa_decision_all_widths(decision), bytes);
    return add_bytes(mark, sa_decision_all_scores(decision), bytes);
}

static inline uint64_t mark_counts(uint64_t mark, const sa_agent *agent) {
    sa_agent_counts c = rig_counts(agent);
    const uint64_t numbers[] = {c.decisions,          c.answered, c.pending,          c.forgotten,
                                c.observations,       c.counted,  c.trainings,        c.epoch,
                                c.diverged_trainings, c.hidden,   c.widths_in_double, c.widths_from_primal};
    mark = add_bytes(mark, numbers, sizeof numbers);
    return add_bytes(mark, &c.log_det, sizeof c.log_det);
}

/* To a new file: for an old one the C library makes a block that is not counted, and the library frees it. */
static inline sa_status save(const sa_agent *agent, const char *name) {
    assert_int_equal(remove(scratch(name)) == 0 || errno == ENOENT, 1);
    return sa_agent_save(agent, scratch(name));
}

static inline uint64_t mark_file(uint64_t mark, const char *name) {
    static char bytes[1 << 20];
    FILE *file = fopen(scratch(name), "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, sizeof bytes, file);
    assert_true(count > 0 && count < sizeof bytes);
    fclose(file);
    return add_bytes(mark, bytes, count);
}

/* Four rounds more, with a decision that is answered late, and all that is then saved. */
static inline uint64_t go_on(sa_agent *agent) {
    sa_decision *decision = NULL;
    uint64_t mark = mark_counts(1, agent), late = 0;
    for (uint64_t round = 8; round < 12; round++) {
        uint64_t id = rig_select(agent, 500 + round, 4 + round % 3 * 5, 3, &decision);
        mark = mark_decision(mark, decision);
        if (round == 8) late = id;
        if (round > 8) rig_answer(agent, id, 3);
        if (round == 10) rig_answer(agent, late, 3);
        mark = mark_counts(mark, agent);
    }
    sa_decision_destroy(decision);
    assert_ok(save(agent, "end.npz"));
    return mark_file(mark, "end.npz");
}

#endif
