#include "expand.h"

#include "answer.h"
#include "compact.h"

typedef struct expanding {
    sv_store *store;
    const sv_store_decision *of;
    sv_compact from;
    sa_buffer *out;
    bool id, good; /* id: of an item that alone */
} expanding;

static void write_item(void *user, const sv_store_item *item) {
    expanding *self = user;
    if (self->id)
        sa_buffer_quote(self->out, item->id);
    else
        sa_buffer_bytes(self->out, item->fields, item->size);
}

static void write_stored(expanding *self, size_t index) {
    self->good = self->good && index < self->from.count &&
                 sv_store_item_at(self->store, self->of->agent, self->from.numbers[index], self->from.version,
                                  write_item, self) == STORE_OK;
}

/* {"items":[...],"context":...} */
static void write_body(expanding *self, sa_buffer *out) {
    const sv_compact *from = &self->from;
    self->good = from->rest_size >= 2;
    self->id = false;
    self->out = out;
    sa_buffer_text(out, "{\"items\":[");
    for (size_t i = 0; self->good && i < from->count; i++) {
        if (i) sa_buffer_bytes(out, ",", 1);
        write_stored(self, i);
    }
    sa_buffer_text(out, from->rest_size > 2 ? "]," : "]");
    if (self->good) sa_buffer_bytes(out, from->rest + 1, from->rest_size - 1);
}

static void write_arm(void *user, size_t k, sa_buffer *out) {
    expanding *self = user;
    self->out = out;
    write_stored(self, self->of->arms[k]);
}

static void write_answer(expanding *self, sa_buffer *out) {
    const sv_compact *from = &self->from;
    const sv_answer answer = {.event = self->of->event,
                              .length = from->length,
                              .arm = write_arm,
                              .user = self,
                              .propensity = from->propensity,
                              .prefixes = from->prefixes,
                              .positions = from->positions,
                              .model = self->of->model};
    self->good = from->length == self->of->arm_count;
    self->id = true;
    if (!self->good) return;
    sv_answer_begin(&answer, out);
    sa_buffer_bytes(out, from->tail, from->tail_size);
    sa_buffer_bytes(out, "}", 1);
}

bool sv_expand(sv_store *store, sv_store_decision *of, sa_buffer *body, sa_buffer *answer) {
    expanding self = {.store = store, .of = of, .good = true};
    if (!sv_is_compact(of->body, of->body_size)) return true;
    bool good = sv_compact_read(&self.from, of->body, of->body_size);
    if (good && !*of->answer) {
        write_answer(&self, answer);
        good = self.good && !answer->status;
        if (good) of->answer = answer->text;
    }
    if (good && body) {
        write_body(&self, body);
        good = self.good && !body->status;
        if (good) of->body = body->text;
        if (good) of->body_size = body->size;
    }
    sv_compact_free(&self.from);
    return good;
}
