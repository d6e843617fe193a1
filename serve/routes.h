/* The table of routes: what is asked, who may ask, who answers. */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "exchange.h"
#include "keys.h"

typedef enum body_kind { BODY_NONE, BODY_JSON, BODY_NPZ, BODY_LINES } sv_body_kind;

typedef struct route {
    const char *method, *path; /* "/v1/agents/{name}/decide" */
    sv_who who;
    sv_body_kind body;
    bool needs_agent; /* an agent of that name must be there */
    sv_lane lane;
    void (*answer)(sv_exchange *self);
    const char *name; /* in metrics */
} sv_route;

/* The index-th; NULL: there is none. */
const sv_route *sv_route_at(size_t index);
size_t sv_route_count(void);
/* Looks at the request line and headers: finds the route, the agent, and whether this client may. false:
 * it is answered. */
bool sv_routes_admit(sv_exchange *self);
/* Then the body is there: answered, or `later` is set. */
void sv_routes_answer(sv_exchange *self);
/* Has another server made the agent, which is not known here yet? Then with 503. */
bool sv_routes_is_new(const sv_exchange *self, sv_refusal *why);
/* Frees what the exchange holds. */
void sv_routes_end(sv_exchange *self);

/* ---- route_*.c ---- */

void sv_route_page(sv_exchange *self);
void sv_route_script(sv_exchange *self);
void sv_route_agent_script(sv_exchange *self);
void sv_route_charts_script(sv_exchange *self);
void sv_route_style(sv_exchange *self);
void sv_route_openapi(sv_exchange *self);
void sv_route_health(sv_exchange *self);
void sv_route_ready(sv_exchange *self);
void sv_route_metrics(sv_exchange *self);
void sv_route_agents(sv_exchange *self);
void sv_route_agent(sv_exchange *self);
void sv_route_put_agent(sv_exchange *self);
void sv_route_delete_agent(sv_exchange *self);
void sv_route_decide(sv_exchange *self);
void sv_route_feedback(sv_exchange *self);
void sv_route_shown(sv_exchange *self);
void sv_route_activate(sv_exchange *self);
void sv_route_history(sv_exchange *self);
void sv_route_log(sv_exchange *self);
void sv_route_get_model(sv_exchange *self);
void sv_route_put_model(sv_exchange *self);
void sv_route_erase(sv_exchange *self);
void sv_route_items(sv_exchange *self);
void sv_route_item(sv_exchange *self);
void sv_route_put_items(sv_exchange *self);
void sv_route_patch_items(sv_exchange *self);
void sv_route_delete_items(sv_exchange *self);
void sv_route_delete_item(sv_exchange *self);
void sv_route_insights(sv_exchange *self);
void sv_route_evaluate(sv_exchange *self);
void sv_route_evaluations(sv_exchange *self);
void sv_route_evaluation(sv_exchange *self);
void sv_route_delete_evaluation(sv_exchange *self);
void sv_route_rank(sv_exchange *self);
void sv_route_reward(sv_exchange *self);
void sv_route_multislot_rank(sv_exchange *self);
void sv_route_multislot_reward(sv_exchange *self);
void sv_route_configuration(sv_exchange *self);
void sv_route_put_configuration(sv_exchange *self);
void sv_route_personalizer_status(sv_exchange *self);
void sv_route_import_model(sv_exchange *self);
void sv_route_reset_model(sv_exchange *self);
void sv_route_model_properties(sv_exchange *self);

#endif
