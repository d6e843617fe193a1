/* The page, its parts, and what monitors ask for. */
#include "assets.h"
#include "routes.h"
#include "service.h"

static void give(sv_exchange *self, const sv_asset *asset, const char *type) {
    text_add(&self->answer, asset->bytes, asset->size);
    self->answer_type = type;
    exchange_answer(self, 200);
}

void route_page(sv_exchange *self) { give(self, &asset_page_html, "text/html; charset=utf-8"); }
void route_script(sv_exchange *self) { give(self, &asset_page_js, "text/javascript; charset=utf-8"); }
void route_style(sv_exchange *self) { give(self, &asset_page_css, "text/css; charset=utf-8"); }
void route_openapi(sv_exchange *self) { give(self, &asset_openapi_json, "application/json"); }

void route_health(sv_exchange *self) {
    text_put(&self->answer, "{\"status\": \"alive\"}\n");
    exchange_answer(self, 200);
}

void route_ready(sv_exchange *self) {
    char disk[320], learner[480];
    sv_refusal why = {0};
    sv_service *service = self->service;
    if (atomic_load(&service->stopping))
        refuse(&why, 503, "the service is stopping");
    else if (writer_trouble(service->writer, disk))
        refuse(&why, 503, "%s", disk);
    else if (learner_trouble(service->learner, learner))
        refuse(&why, 503, "%s", learner);
    if (why.status) {
        exchange_refuse(self, &why);
        return;
    }
    text_put(&self->answer, "{\"status\": \"ready\"}\n");
    exchange_answer(self, 200);
}

void route_metrics(sv_exchange *self) {
    metrics_write(self->service, &self->answer);
    self->answer_type = "text/plain; version=0.0.4; charset=utf-8";
    exchange_answer(self, 200);
}
