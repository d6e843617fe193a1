/* The page, its parts, and what monitors ask for. */
#define _GNU_SOURCE
#include <string.h>

#include "assets.h"
#include "cluster.h"
#include "metrics_page.h"
#include "routes.h"

static void give(sv_exchange *self, const sv_asset *asset, const char *type) {
    sa_buffer_bytes(&self->answer, asset->bytes, asset->size);
    self->answer_type = type;
    sv_exchange_answer(self, 200);
}

static bool is_plain_host(const char *host) {
    return host && *host && strlen(host) < 256 &&
           strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") ==
               strlen(host);
}

/* The page's lines to paste have the address that it was asked for. */
void sv_route_page(sv_exchange *self) {
    const char *host = is_plain_host(self->host) ? self->host : "127.0.0.1:8080";
    const char *at = (const char *)asset_page_html.bytes, *end = at + asset_page_html.size;
    while (at < end) {
        const char *mark = memmem(at, (size_t)(end - at), "{{", 2);
        sa_buffer_bytes(&self->answer, at, (size_t)((mark ? mark : end) - at));
        if (!mark) break;
        bool origin = !strncmp(mark, "{{origin}}", 10);
        if (origin)
            sa_buffer_format(&self->answer, "http://%s", host);
        else if (self->service->keys.given)
            sa_buffer_format(&self->answer, " -H 'Authorization: Bearer KEY'");
        at = mark + (origin ? 10 : 7);
    }
    self->answer_type = "text/html; charset=utf-8";
    sv_exchange_answer(self, 200);
}

void sv_route_script(sv_exchange *self) { give(self, &asset_page_js, "text/javascript; charset=utf-8"); }
void sv_route_agent_script(sv_exchange *self) {
    give(self, &asset_agent_js, "text/javascript; charset=utf-8");
}
void sv_route_charts_script(sv_exchange *self) {
    give(self, &asset_charts_js, "text/javascript; charset=utf-8");
}
void sv_route_style(sv_exchange *self) { give(self, &asset_page_css, "text/css; charset=utf-8"); }
void sv_route_openapi(sv_exchange *self) { give(self, &asset_openapi_json, "application/json"); }

void sv_route_health(sv_exchange *self) {
    sa_buffer_format(&self->answer, "{\"status\": \"alive\"}\n");
    sv_exchange_answer(self, 200);
}

/* Names of agents and files are for those who may see them. */
static bool is_known(const sv_exchange *self) {
    const sv_keys *keys = &self->service->keys;
    return !keys->given || sv_keys_who(keys, self->authorization, self->subscription) != WHO_ANYONE;
}

void sv_route_ready(sv_exchange *self) {
    char disk[320], learner[480], cut_off[320], scratch[320];
    sv_learner_counts counts;
    sv_refusal why = {0};
    sv_service *service = self->service;
    bool known = is_known(self);
    if (atomic_load(&service->stopping))
        sv_refuse(&why, 503, "the service is stopping");
    else if (sv_writer_trouble(service->writer, disk))
        sv_refuse(&why, 503, "%s", known ? disk : "the journal cannot be written");
    else if (sv_learner_trouble(service->learner, learner))
        sv_refuse(&why, 503, "%s", learner);
    else if (service->cluster && sv_cluster_trouble(service->cluster, cut_off))
        sv_refuse(&why, 503, "%s", known ? cut_off : "the database cannot be used");
    sv_cluster_counts shared = {0};
    if (service->cluster) sv_cluster_count(service->cluster, &shared);
    if (!why.status && service->cluster && shared.starting) /* an agent that is made later is no reason */
        sv_refuse(&why, 503, "%zu agents have no policy here yet", shared.without);
    if (why.status) {
        sv_exchange_refuse(self, &why);
        return;
    }
    sv_learner_count(service->learner, &counts);
    counts.recovering += shared.recovering;
    sa_buffer names = {0};
    size_t broken = sv_agents_broken(&service->agents, known ? &names : NULL);
    sa_buffer_format(&self->answer, "{\"status\": \"ready\"");
    if (counts.recovering) /* it serves, with policies that have not learnt all rows yet */
        sa_buffer_format(&self->answer, ", \"recovering\": %llu", (unsigned long long)counts.recovering);
    if (service->cluster)
        sa_buffer_format(&self->answer, ", \"servers\": %zu, \"learns\": %zu", shared.servers, shared.held);
    if (shared.without) /* they were made a moment ago, or no server learns them */
        sa_buffer_format(&self->answer, ", \"without\": %zu", shared.without);
    if (shared.lagging) /* it serves, with policies that are older than what was learnt elsewhere */
        sa_buffer_format(&self->answer, ", \"lagging\": %zu, \"seconds_behind\": %.1f", shared.lagging,
                         shared.lag_seconds);
    if (service->cluster && sv_cluster_scratch_trouble(service->cluster, scratch)) {
        sa_buffer_format(&self->answer, ", \"scratch\": "); /* it serves, and others learn */
        sa_buffer_quote(&self->answer, known ? scratch : "scratch files cannot be written");
    }
    if (broken) sa_buffer_format(&self->answer, ", \"broken\": %zu", broken); /* the others are served */
    if (broken && known)
        sa_buffer_format(&self->answer, ", \"broken_agents\": %s", names.status ? "[]" : names.text);
    sa_buffer_format(&self->answer, "}\n");
    sa_buffer_clear(&names);
    sv_exchange_answer(self, 200);
}

void sv_route_metrics(sv_exchange *self) {
    sv_metrics_page_write(self->service, &self->answer);
    self->answer_type = "text/plain; version=0.0.4; charset=utf-8";
    sv_exchange_answer(self, 200);
}
