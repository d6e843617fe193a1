#include "env/csv_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* FNV-1a */
static uint64_t hash(sa_span value) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < value.size; i++)
        sum = (sum ^ (unsigned char)value.start[i]) * UINT64_C(1099511628211);
    return sum ^ sum >> 29;
}

/* The slot that has the value, or the free one where it belongs. */
static uint32_t *find(const sa_csv_values *values, sa_span value) {
    size_t mask = values->slots - 1;
    for (size_t place = (size_t)hash(value) & mask;; place = (place + 1) & mask) {
        uint32_t *slot = &values->slot[place];
        if (!*slot) return slot;
        size_t index = *slot - 1;
        if (values->size[index] == value.size && !memcmp(values->text[index], value.start, value.size))
            return slot;
    }
}

/* Keeps half of the slots free. */
static sa_status make_slots(sa_csv_values *values) {
    if (values->count < values->slots / 2) return SA_OK;
    sa_csv_values larger = *values;
    larger.slots = values->slots ? values->slots * 2 : 16;
    SA_TRY(sa_alloc_array(larger.slots, sizeof *larger.slot, &larger.slot));
    for (size_t i = 0; i < values->count; i++)
        *find(&larger, (sa_span){values->text[i], values->size[i]}) = (uint32_t)i + 1;
    sa_free(values->slot);
    *values = larger;
    return SA_OK;
}

sa_status sa_csv_values_add(sa_csv_values *values, sa_span value, size_t *index) {
    SA_TRY(make_slots(values));
    uint32_t *slot = find(values, value);
    if (*slot) {
        *index = *slot - 1;
        return SA_OK;
    }
    char *text;
    SA_TRY(sa_grow_array(&values->text, &values->text_room, values->count + 1, sizeof *values->text));
    SA_TRY(sa_grow_array(&values->size, &values->size_room, values->count + 1, sizeof *values->size));
    SA_TRY(sa_alloc_array(value.size + 1, 1, &text));
    memcpy(text, value.start, value.size);
    values->text[values->count] = text;
    values->size[values->count] = value.size;
    *index = values->count++;
    *slot = (uint32_t)values->count;
    return SA_OK;
}

/* Values hold no byte that is 0. */
static int compare(const void *one, const void *other) {
    return strcmp(**(char **const *)one, **(char **const *)other);
}

sa_status sa_csv_values_rank(const sa_csv_values *values, size_t *rank) {
    char ***sorted;
    SA_TRY(sa_alloc_array(values->count, sizeof *sorted, &sorted));
    for (size_t i = 0; i < values->count; i++) sorted[i] = &values->text[i];
    qsort(sorted, values->count, sizeof *sorted, compare);
    for (size_t i = 0; i < values->count; i++) rank[sorted[i] - values->text] = i;
    sa_free(sorted);
    return SA_OK;
}

void sa_csv_values_clear(sa_csv_values *values) {
    for (size_t i = 0; i < values->count; i++) sa_free(values->text[i]);
    sa_free(values->text);
    sa_free(values->size);
    sa_free(values->slot);
    *values = (sa_csv_values){0};
}
