#include "base/candidates.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

sa_status sa_json_wrong(const sa_json *json, size_t at, const char *path, size_t index, size_t column,
                        const char *wanted) {
    char shown[SA_PRINTABLE], place[64] = "";
    if (column < SIZE_MAX)
        snprintf(place, sizeof place, "[%zu][%zu]", index, column);
    else if (index < SIZE_MAX)
        snprintf(place, sizeof place, "[%zu]", index);
    return sa_fail(SA_FORMAT, "%s%s is %s, and %s", path, place, sa_json_printable(json, at, shown), wanted);
}

void sa_contexts_clear(sa_contexts *contexts) {
    sa_free(contexts->numbers);
    *contexts = (sa_contexts){0};
}

static sa_status take_row(sa_contexts *self, const sa_json *json, size_t row, size_t index) {
    const sa_json_node *nodes = json->nodes;
    double *to = self->numbers + index * self->dim;
    size_t column = 0;
    for (size_t at = row + 1; at < nodes[row].next; at = nodes[at].next, column++) {
        double number = nodes[at].kind == SA_JSON_NUMBER ? sa_json_number(json, at) : NAN;
        if (!isfinite(number))
            return sa_json_wrong(json, at, "contexts", index, column, "a finite number is wanted");
        if (column < self->dim) to[column] = number;
    }
    if (column == self->dim) return SA_OK;
    return sa_fail(SA_FORMAT, "contexts[%zu] has %zu numbers, and those before it have %zu", index, column,
                   self->dim);
}

sa_status sa_contexts_take(sa_contexts *self, const sa_json *json, size_t list) {
    const sa_json_node *nodes = json->nodes;
    size_t index = 0;
    self->arms = self->dim = 0;
    if (nodes[list].kind != SA_JSON_ARRAY)
        return sa_json_wrong(json, list, "contexts", SIZE_MAX, SIZE_MAX,
                             "a list of lists of numbers is wanted");
    for (size_t at = list + 1; at < nodes[list].next; at = nodes[at].next, index++) {
        if (nodes[at].kind != SA_JSON_ARRAY)
            return sa_json_wrong(json, at, "contexts", index, SIZE_MAX, "a list of numbers is wanted");
        if (nodes[at].next == at + 1) return sa_fail(SA_FORMAT, "contexts[%zu] is empty", index);
        if (index == 0) { /* there are fewer numbers than nodes, and room for no more: a row that is too
                             short is found before it runs out */
            size_t wanted, most = nodes[list].next - list;
            self->dim = sa_json_count(json, at);
            if (__builtin_mul_overflow(self->dim, sa_json_count(json, list), &wanted) || wanted > most)
                wanted = most;
            SA_TRY(sa_grow_array(&self->numbers, &self->room, wanted, sizeof *self->numbers));
        }
        SA_TRY(take_row(self, json, at, index));
    }
    self->arms = index;
    return SA_OK;
}
