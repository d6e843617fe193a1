/* The table of routes: what is asked, who may ask, who answers. */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "exchange.h"
#include "keys.h"

typedef enum body_kind { BODY_NONE, BODY_JSON, BODY_NPZ } body_kind;

typedef struct route {
    const char *method, *path; /* "/v1/agents/{name}/decide" */
    sv_who who;
    body_kind body;
    bool needs_agent; /* an agent of that name must be there */
    sv_lane lane;
    void (*answer)(sv_exchange *self);
    const char *name; /* in metrics */
} sv_route;

/* The index-th; NULL: there is none. */
const sv_route *route_at(size_t index);
size_t route_count(void);
/* Looks at the request line and headers: finds the route, the agent, and whether this client may. false:
 * it is answered. */
bool routes_admit(sv_exchange *self);
/* Then the body is there: answered, or `later` is set. */
void routes_answer(sv_exchange *self);
/* Frees what the exchange holds. */
void routes_end(sv_exchange *self);

/* ---- route_*.c ---- */

void route_page(sv_exchange *self);
void route_script(sv_exchange *self);
void route_style(sv_exchange *self);
void route_openapi(sv_exchange *self);
void route_health(sv_exchange *self);
void route_ready(sv_exchange *self);
void route_metrics(sv_exchange *self);
void route_agents(sv_exchange *self);
void route_agent(sv_exchange *self);
void route_put_agent(sv_exchange *self);
void route_delete_agent(sv_exchange *self);
void route_decide(sv_exchange *self);
void route_feedback(sv_exchange *self);
void route_log(sv_exchange *self);
void route_get_model(sv_exchange *self);
void route_put_model(sv_exchange *self);
void route_erase(sv_exchange *self);

#endif
