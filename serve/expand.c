#include "expand.h"

#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "compact.h"

typedef struct expanding {
    sv_store *store;
    const sv_store_decision *of;
    sv_compact from;
    sa_buffer *out;
    size_t written;
    /* of the answer's arms */
    uint32_t *numbers; /* (length) that increase */
    size_t *starts;    /* (length) of their ids */
    sa_buffer ids;     /* each ended by 0 */
} expanding;

static sv_store_status find(expanding *self, const uint32_t *numbers, size_t count,
                            void (*each)(void *user, const sv_store_item *item)) {
    self->written = 0;
    return sv_store_items_at(self->store, self->of->agent, self->from.version, numbers, count, each, self);
}

static void write_fields(void *user, const sv_store_item *item) {
    expanding *self = user;
    if (self->written++) sa_buffer_bytes(self->out, ",", 1);
    sa_buffer_bytes(self->out, item->fields, item->size);
}

/* {"items":[...],"context":...} */
static sv_store_status write_body(expanding *self, sa_buffer *out) {
    const sv_compact *from = &self->from;
    if (from->rest_size < 2) return STORE_NONE;
    self->out = out;
    sa_buffer_text(out, "{\"items\":[");
    sv_store_status status = find(self, from->numbers, from->count, write_fields);
    sa_buffer_text(out, from->rest_size > 2 ? "]," : "]");
    sa_buffer_bytes(out, from->rest + 1, from->rest_size - 1);
    return status;
}

static int compare(const void *one, const void *other) {
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

static void keep_id(void *user, const sv_store_item *item) {
    expanding *self = user;
    self->starts[self->written++] = self->ids.size;
    sa_buffer_bytes(&self->ids, item->id, strlen(item->id) + 1);
}

static void write_arm(void *user, size_t k, sa_buffer *out) {
    expanding *self = user;
    const uint32_t *found = bsearch(&self->from.numbers[self->of->arms[k]], self->numbers, self->from.length,
                                    sizeof *found, compare);
    sa_buffer_quote(out, self->ids.text + self->starts[found - self->numbers]);
}

/* The ids of the slate's arms, in one question. */
static sv_store_status find_ids(expanding *self) {
    size_t length = self->from.length;
    if (length != self->of->arm_count) return STORE_NONE;
    self->numbers = calloc(length + 1, sizeof *self->numbers);
    self->starts = calloc(length + 1, sizeof *self->starts);
    if (!self->numbers || !self->starts) return STORE_LATER;
    for (size_t k = 0; k < length; k++) {
        if (self->of->arms[k] >= self->from.count) return STORE_NONE;
        self->numbers[k] = self->from.numbers[self->of->arms[k]];
    }
    qsort(self->numbers, length, sizeof *self->numbers, compare);
    sv_store_status status = find(self, self->numbers, length, keep_id);
    return status == STORE_OK && self->ids.status ? STORE_LATER : status;
}

static sv_store_status write_answer(expanding *self, sa_buffer *out) {
    const sv_compact *from = &self->from;
    const sv_answer answer = {.event = self->of->event,
                              .length = from->length,
                              .arm = write_arm,
                              .user = self,
                              .propensity = from->propensity,
                              .prefixes = from->prefixes,
                              .positions = from->positions,
                              .model = self->of->model};
    sv_store_status status = find_ids(self);
    if (status == STORE_OK) {
        sv_answer_begin(&answer, out);
        sa_buffer_bytes(out, from->tail, from->tail_size);
        sa_buffer_bytes(out, "}", 1);
    }
    sa_buffer_clear(&self->ids);
    free(self->numbers);
    free(self->starts);
    return status;
}

sv_store_status sv_expand(sv_store *store, sv_store_decision *of, sa_buffer *body, sa_buffer *answer) {
    expanding self = {.store = store, .of = of};
    if (!sv_is_compact(of->body, of->body_size)) return STORE_OK;
    answer->size = 0;
    if (body) body->size = 0;
    sv_store_status status = sv_compact_read(&self.from, of->body, of->body_size) ? STORE_OK : STORE_NONE;
    bool answers = !*of->answer;
    if (status == STORE_OK && answers) status = write_answer(&self, answer);
    if (status == STORE_OK && body) status = write_body(&self, body);
    sv_compact_free(&self.from);
    if (answer->status || (body && body->status)) {
        sa_buffer_clear(answer);
        if (body) sa_buffer_clear(body);
        return STORE_LATER;
    }
    if (status != STORE_OK) return status;
    if (answers) of->answer = answer->text;
    if (body) of->body = body->text;
    if (body) of->body_size = body->size;
    return STORE_OK;
}
