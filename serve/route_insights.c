/* GET /v1/agents/NAME/insights */
#include "insights.h"
#include "routes.h"
#include "service.h"

void sv_route_insights(sv_exchange *self) {
    sv_refusal why = {0};
    sv_store *reader = sv_readers_take(&self->service->readers, &why);
    if (reader && sv_insights_write(reader, self->agent, &self->answer, &why)) {
        sa_buffer_text(&self->answer, "\n");
        sv_exchange_answer(self, 200);
    } else
        sv_exchange_refuse(self, &why);
    if (reader) sv_readers_give_back(&self->service->readers, reader);
}
