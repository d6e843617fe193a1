/* Items and a shared context, joined block by block, give what contexts joined by hand give, bit for bit. */
#include "test_agent_rig.h"

enum { ARMS = 1300, ITEM = 3, SHARED = 2, MOST_DIM = ITEM + SHARED + ITEM * SHARED };

static double items[ARMS * ITEM], user[SHARED], joined[ARMS * MOST_DIM];
static float items_float[ARMS * ITEM], user_float[SHARED], joined_float[ARMS * MOST_DIM];

/* Numbers with many binary digits: products are rounded. */
static double any(uint64_t seed, uint64_t index) {
    return rig_number(seed, index) / 3 + rig_number(seed, index + 77) / 7000;
}

static void draw(uint64_t id) {
    for (size_t i = 0; i < ARMS * ITEM; i++) items_float[i] = (float)(items[i] = any(id, i));
    for (size_t j = 0; j < SHARED; j++) user_float[j] = (float)(user[j] = any(id + 1000, j));
}

static void join_by_hand(sa_join join) {
    double *to = joined;
    float *to_float = joined_float;
    for (size_t i = 0; i < ARMS; i++) {
        const double *item = items + i * ITEM;
        const float *item_float = items_float + i * ITEM;
        for (size_t j = 0; join != SA_JOIN_PRODUCTS && j < ITEM; j++)
            *to++ = item[j], *to_float++ = item_float[j];
        for (size_t j = 0; join != SA_JOIN_PRODUCTS && j < SHARED; j++)
            *to++ = user[j], *to_float++ = user_float[j];
        for (size_t j = 0; join != SA_JOIN_CONCAT && j < ITEM; j++)
            for (size_t k = 0; k < SHARED; k++)
                *to++ = item[j] * user[k], *to_float++ = item_float[j] * user_float[k];
    }
}

static void play(const char *kind, sa_join join, bool wide) {
    char text[200];
    snprintf(text, sizeof text, "dim=%zu %s", sa_join_dim(join, ITEM, SHARED), kind);
    sa_agent *whole = rig_create(text), *parts = rig_create(text);
    sa_decision *one = NULL, *other = NULL;
    sa_request *request = sa_request_new();
    sa_request_slate(request, 4);
    for (uint64_t id = 0; id < 6; id++) {
        size_t arms = id % 2 ? ARMS : 40;
        draw(id);
        join_by_hand(join);
        if (wide)
            sa_request_contexts(request, joined, arms);
        else
            sa_request_contexts_float(request, joined_float, arms);
        assert_ok(sa_agent_select(whole, request, &one));
        if (wide) {
            sa_request_items(request, items, arms, ITEM);
            sa_request_shared(request, user, SHARED);
        } else {
            sa_request_items_float(request, items_float, arms, ITEM);
            sa_request_shared_float(request, user_float, SHARED);
        }
        sa_request_join(request, join);
        assert_ok(sa_agent_select(parts, request, &other));
        rig_assert_same_decision(one, other);
        rig_answer(whole, id, 4);
        rig_answer(parts, id, 4);
    }
    sa_request_destroy(request);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(whole);
    sa_agent_destroy(parts);
}

static void joined_as_by_hand(void **state) {
    (void)state;
    static const char *const kinds[] = {"gamma=1", "algorithm=cn-ts precision=double", "normalize=standard",
                                        "normalize=unit", "algorithm=comblin-ucb"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int join = SA_JOIN_CONCAT; join <= SA_JOIN_BOTH; join++)
            for (int wide = 0; wide < 2; wide++) play(kinds[i], (sa_join)join, wide);
}

static void refuse(sa_agent *agent, const sa_request *request, const char *sentence) {
    sa_decision *decision = NULL;
    assert_int_equal(sa_agent_select(agent, request, &decision), SA_INVALID);
    if (!strstr(sa_last_error(), sentence)) fail_msg("'%s' is not in '%s'", sentence, sa_last_error());
    assert_null(decision);
}

static void wrong_requests_are_refused(void **state) {
    (void)state;
    sa_agent *agent = rig_create("dim=6");
    sa_request *request = sa_request_new();
    draw(0);
    sa_request_slate(request, 2);
    sa_request_items(request, items, 10, 0);
    refuse(agent, request, "items of 0 features");
    sa_request_items(request, items, 10, ITEM);
    refuse(agent, request, "no shared context");
    sa_request_shared(request, user, SHARED);
    refuse(agent, request,
           "items of 3 features, concatenated with 2 shared ones, have 5, and the agent has --dim 6");
    sa_request_join(request, (sa_join)9);
    refuse(agent, request, "9");
    sa_request_join(request, SA_JOIN_PRODUCTS);
    items[4 * ITEM + 1] = INFINITY;
    user[0] = 1;
    refuse(agent, request, "arm 4 has inf as feature 2"); /* the item's second times the first shared one */
    draw(0);
    user[1] = NAN;
    refuse(agent, request, "arm 0 has nan as feature 1");
    draw(0);
    items[0] = 1e30;
    user[0] = 1e20;
    refuse(agent, request, "feature 0, too large for --precision single");
    draw(0);
    sa_request_contexts(request, joined, 10);
    sa_request_shared(request, user, SHARED);
    refuse(agent, request, "no items");
    sa_request_items(request, items, 10, SIZE_MAX / 2);
    refuse(agent, request, "--dim 6");
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joined_as_by_hand),
                                       cmocka_unit_test(wrong_requests_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
