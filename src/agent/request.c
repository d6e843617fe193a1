#include "agent/request.h"

#include "base/memory.h"

sa_request *sa_request_new(void) {
    sa_request *request;
    return sa_alloc_array(1, sizeof *request, &request) == SA_OK ? request : NULL;
}

void sa_request_destroy(sa_request *request) { sa_free(request); }

void sa_request_contexts(sa_request *request, const double *contexts, size_t arms) {
    request->contexts = contexts;
    request->contexts_float = NULL;
    request->arms = arms;
}

void sa_request_contexts_float(sa_request *request, const float *contexts, size_t arms) {
    request->contexts = NULL;
    request->contexts_float = contexts;
    request->arms = arms;
}

void sa_request_slate(sa_request *request, size_t slate) { request->slate = slate; }

void sa_request_exclude(sa_request *request, const bool *excluded) { request->excluded = excluded; }

void sa_request_event(sa_request *request, uint64_t event) { request->event = event; }

void sa_request_expected(sa_request *request, const double *expected) {
    request->expected = expected;
    request->expected_positional = false;
}

void sa_request_expected_positions(sa_request *request, const double *expected) {
    request->expected = expected;
    request->expected_positional = true;
}

void sa_request_problem(sa_request *request, const sa_problem *problem) { request->problem = problem; }

sa_status sa_request_check(const sa_request *request, bool exactly) {
    if (!request) return sa_fail(SA_INVALID, "the request is NULL");
    if (!request->contexts && !request->contexts_float) return sa_fail(SA_INVALID, "the request has no contexts");
    if (request->arms == 0) return sa_fail(SA_INVALID, "the request has no arms");
    if (!exactly) return SA_OK;
    if (request->slate == 0) return sa_fail(SA_INVALID, "the request asks for a slate of 0 arms");
    size_t left = request->arms;
    for (size_t i = 0; request->excluded && i < request->arms; i++) left -= request->excluded[i];
    if (request->slate > left)
        return sa_fail(SA_INVALID, "the request asks for a slate of %zu out of %zu arms that can be chosen",
                       request->slate, left);
    return SA_OK;
}
