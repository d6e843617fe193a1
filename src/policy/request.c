#include "policy/request.h"

#include "base/memory.h"

sa_request *sa_request_new(void) {
    sa_request *request;
    if (sa_alloc_array(1, sizeof *request, &request) != SA_OK) return NULL;
    request->draw = SA_NO_DRAW;
    return request;
}

void sa_request_destroy(sa_request *request) {
    if (request) sa_request_parts_destroy(request->parts);
    sa_free(request);
}

static void set_arms(sa_request *request, const double *wide, const float *narrow, size_t arms,
                     size_t item_dim) {
    sa_request_forget_json(request);
    request->contexts = wide;
    request->contexts_float = narrow;
    request->arms = arms;
    request->item_dim = item_dim;
    request->of_items = false;
}

void sa_request_contexts(sa_request *request, const double *contexts, size_t arms) {
    set_arms(request, contexts, NULL, arms, 0);
    sa_request_shared(request, NULL, 0);
}

void sa_request_contexts_float(sa_request *request, const float *contexts, size_t arms) {
    set_arms(request, NULL, contexts, arms, 0);
    sa_request_shared(request, NULL, 0);
}

void sa_request_items(sa_request *request, const double *items, size_t arms, size_t dim) {
    set_arms(request, items, NULL, arms, dim);
    request->of_items = true;
}

void sa_request_items_float(sa_request *request, const float *items, size_t arms, size_t dim) {
    set_arms(request, NULL, items, arms, dim);
    request->of_items = true;
}

void sa_request_shared(sa_request *request, const double *shared, size_t dim) {
    request->shared = shared;
    request->shared_float = NULL;
    request->shared_dim = dim;
}

void sa_request_shared_float(sa_request *request, const float *shared, size_t dim) {
    request->shared = NULL;
    request->shared_float = shared;
    request->shared_dim = dim;
}

void sa_request_join(sa_request *request, sa_join join) { request->join = join; }

/* Sizes so large that they overflow come out as 0, which no agent has. */
size_t sa_join_dim(sa_join join, size_t item_dim, size_t shared_dim) {
    size_t sum, product;
    if (__builtin_add_overflow(item_dim, shared_dim, &sum) ||
        __builtin_mul_overflow(item_dim, shared_dim, &product))
        return 0;
    switch (join) {
    case SA_JOIN_CONCAT: return sum;
    case SA_JOIN_PRODUCTS: return product;
    default: return __builtin_add_overflow(sum, product, &sum) ? 0 : sum;
    }
}

void sa_request_slate(sa_request *request, size_t slate) { request->slate = slate; }

void sa_request_exactly(sa_request *request, bool exactly) { request->exactly = exactly; }

void sa_request_exclude(sa_request *request, const bool *excluded) { request->excluded = excluded; }

const bool *sa_request_excluded(const sa_request *request) { return request->excluded; }

void sa_request_event(sa_request *request, uint64_t event) { request->event = event; }

void sa_request_propensities(sa_request *request, bool wanted) { request->propensities = wanted; }
void sa_request_draw(sa_request *request, uint64_t draw) { request->draw = draw; }

void sa_request_expected(sa_request *request, const double *expected) {
    request->expected = expected;
    request->expected_positional = false;
}

void sa_request_expected_positions(sa_request *request, const double *expected) {
    request->expected = expected;
    request->expected_positional = true;
}

void sa_request_problem(sa_request *request, const sa_problem *problem) { request->problem = problem; }

static const char *join_name(sa_join join) {
    return join == SA_JOIN_CONCAT     ? "concatenated"
           : join == SA_JOIN_PRODUCTS ? "multiplied"
                                      : "concatenated and multiplied";
}

static sa_status check_join(const sa_request *request, size_t dim) {
    bool shares = request->shared || request->shared_float;
    if (request->item_dim == 0 && request->of_items)
        return sa_fail(SA_INVALID, "the request has items of 0 features");
    if (request->item_dim == 0 && shares)
        return sa_fail(SA_INVALID,
                       "the request has a shared context, and no items with features to join it with");
    if (request->item_dim == 0) return SA_OK;
    if (!shares || request->shared_dim == 0)
        return sa_fail(SA_INVALID,
                       "the request has items, and no shared context to join them with (sa_request_shared)");
    if (request->join != SA_JOIN_CONCAT && request->join != SA_JOIN_PRODUCTS && request->join != SA_JOIN_BOTH)
        return sa_fail(SA_INVALID, "the request joins items by %d, which is none of sa_join",
                       (int)request->join);
    size_t joined = sa_join_dim(request->join, request->item_dim, request->shared_dim);
    if (joined != dim)
        return sa_fail(
            SA_INVALID,
            "items of %zu features, %s with %zu shared ones, have %zu, and the agent has --dim %zu",
            request->item_dim, join_name(request->join), request->shared_dim, joined, dim);
    return SA_OK;
}

sa_status sa_request_check(const sa_request *request, size_t dim, bool exactly) {
    if (!request) return sa_fail(SA_INVALID, "the request is NULL");
    if (!request->contexts && !request->contexts_float)
        return sa_fail(SA_INVALID, "the request has no contexts");
    if (request->arms == 0) return sa_fail(SA_INVALID, "the request has no arms");
    if (request->draw != SA_NO_DRAW && request->draw >> 48)
        return sa_fail(SA_INVALID, "the request's draw is %llu, and must be below 2^48",
                       (unsigned long long)request->draw);
    if (request->json_dim && request->json_dim != dim)
        return sa_fail(SA_INVALID, "the request's candidates have %zu features, and the agent has --dim %zu",
                       request->json_dim, dim);
    SA_TRY(check_join(request, dim));
    if (!exactly) return SA_OK;
    if (request->slate == 0) return sa_fail(SA_INVALID, "the request asks for a slate of 0 arms");
    size_t left = request->arms;
    for (size_t i = 0; request->excluded && i < request->arms; i++) left -= request->excluded[i];
    if (request->slate > left)
        return sa_fail(SA_INVALID, "the request asks for a slate of %zu out of %zu arms that can be chosen",
                       request->slate, left);
    return SA_OK;
}
