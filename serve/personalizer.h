/* Azure Personalizer's routes: its requests become decide and feedback, and the answers take its form. An
 * agent is what a resource was there: /personalizer/v1.0/rank asks the agent `personalizer`, which the first
 * rank makes, and /NAME/personalizer/v1.0/rank the agent NAME. docs/PERSONALIZER.md. */
#ifndef SERVE_PERSONALIZER_H
#define SERVE_PERSONALIZER_H

#include "exchange.h"
#include "personalizer_path.h"

/* The settings of an agent that is made by itself. */
extern const char SV_PERSONALIZER_AGENT[];
/* A rank, translated into the body of a decide, whose answer gets another shape. Where the agent of no
 * name is missing, it is made first. */
typedef bool sv_personalizer_rank(const sa_json *json, sa_buffer *out, sv_refusal *why);
void sv_personalizer_decide(sv_exchange *self, sv_personalizer_rank *translate,
                            void (*shape)(sv_exchange *self));
/* A reward, likewise into feedback. */
typedef bool sv_personalizer_reward(const sv_exchange *self, const sa_json *json, sa_buffer *out,
                                    sv_refusal *why);
void sv_personalizer_feedback(sv_exchange *self, sv_personalizer_reward *translate);

/* Appends "NAME": features, a list or an object; null and absent ones are left out. */
bool sv_personalizer_features(const sa_json *json, size_t object, const char *from, const char *name,
                              sa_buffer *out, sv_refusal *why);
/* Appends "event": the one of a rank, if it has one, and what comes before it. */
bool sv_personalizer_event(const sa_json *json, sa_buffer *out, sv_refusal *why);
/* Appends , "activate": false where a rank has deferActivation. */
bool sv_personalizer_hold(const sa_json *json, sa_buffer *out, sv_refusal *why);
/* Appends , "id": the client's for this request, or a random one: each reward counts. */
bool sv_personalizer_request(const sv_exchange *self, sa_buffer *out, sv_refusal *why);

#endif
