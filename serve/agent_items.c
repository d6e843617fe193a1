#include "agent_items.h"

#include <string.h>

sv_catalogue *sv_agent_items(sv_agent *self) {
    pthread_mutex_lock(&self->lock);
    sv_catalogue *found = self->catalogue;
    if (found) sv_catalogue_retain(found);
    pthread_mutex_unlock(&self->lock);
    return found;
}

/* Those that nobody else holds go. Nobody can come to hold one that was replaced. */
static void sweep(sv_agent *self) {
    for (sv_catalogue **at = &self->catalogue; *at;) {
        sv_catalogue *older = (*at)->older;
        if (older && atomic_load(&older->owners) == 1) {
            (*at)->older = older->older;
            sv_catalogue_release(older);
        } else
            at = &(*at)->older;
    }
}

/* Takes over `next`, in the place of `now`; false, and it is released, where that is no longer there. */
static bool replace(sv_agent *self, sv_catalogue *now, sv_catalogue *next) {
    pthread_mutex_lock(&self->lock);
    bool there = self->catalogue == now;
    if (there) {
        next->older = now;
        if (now) now->replaced = next->version;
        self->catalogue = next;
        sweep(self);
    }
    pthread_mutex_unlock(&self->lock);
    if (!there) sv_catalogue_release(next);
    return there;
}

void sv_agent_put_items(sv_agent *self, sv_catalogue *next) {
    for (;;) { /* a thread may put the same version with other rows there meanwhile, or a newer one */
        sv_catalogue *now = sv_agent_items(self);
        sv_catalogue_retain(next);
        bool done = now && now->version >= next->version;
        if (done)
            sv_catalogue_release(next);
        else
            done = replace(self, now, next);
        sv_catalogue_release(now);
        if (done) break;
    }
    sv_catalogue_release(next);
}

static bool is_same(const sa_schema *self, const sa_schema *schema) {
    return self && (self == schema || !strcmp(sa_schema_text(self), sa_schema_text(schema)));
}

/* Is it known already that some item does not fit the schema? Else each request would encode all before
 * it. */
static bool is_misfit(sv_agent *self, const sv_catalogue *now, const sa_schema *schema, sv_refusal *why) {
    pthread_mutex_lock(&self->lock);
    bool known = is_same(now->misfit, schema);
    if (known) *why = now->misfit_why;
    pthread_mutex_unlock(&self->lock);
    return known;
}

static void keep_misfit(sv_agent *self, sv_catalogue *now, sa_schema *schema, const sv_refusal *why) {
    sa_schema_retain(schema);
    pthread_mutex_lock(&self->lock);
    sa_schema *before = now->misfit;
    now->misfit = schema;
    now->misfit_why = *why;
    pthread_mutex_unlock(&self->lock);
    sa_schema_release(before);
}

sv_catalogue *sv_agent_items_for(sv_agent *self, sa_schema *schema, sv_refusal *why) {
    sv_catalogue *now = sv_agent_items(self);
    bool busy = false;
    if (!now || is_same(now->schema, schema)) return now;
    if (is_misfit(self, now, schema, why)) {
        sv_catalogue_release(now);
        return NULL;
    }
    if (!atomic_compare_exchange_strong(&self->items_encoding, &busy, true)) {
        sv_refuse(why, 503, "the agent's items are being encoded for its schema: try again");
        sv_catalogue_release(now);
        return NULL;
    }
    sv_catalogue *made = sv_catalogue_encode(now, schema, why);
    if (made) sv_catalogue_retain(made);
    if (made) replace(self, now, made);
    if (!made && why->status == 400) keep_misfit(self, now, schema, why);
    atomic_store(&self->items_encoding, false);
    sv_catalogue_release(now);
    return made;
}

uint64_t sv_agent_items_held(sv_agent *self) {
    uint64_t held = UINT64_MAX;
    pthread_mutex_lock(&self->lock);
    sweep(self);
    for (sv_catalogue *at = self->catalogue ? self->catalogue->older : NULL; at; at = at->older)
        if (at->replaced < held) held = at->replaced;
    pthread_mutex_unlock(&self->lock);
    return held;
}
