/* One line of VW's dsjson, of a contextual bandit (cb) or a conditional one (ccb, several slots), as a
 * decision.
 *
 *   c without _multi and _slots   context, with names joined: {"GUser": {"id": "a"}} becomes {"GUser.id":
 *                                 "a"}
 *   c._multi                      items, likewise; all of the form {"x": [numbers]}: contexts
 *   a (from 1), p                 cb: the slate is the action taken, its probability the propensity; feedback
 *                                 is -_label_cost
 *   _outcomes: _a (from 0), _p    ccb: an arm a slot; probabilities are conditional on the slots before, so
 *                                 that prefixes have
 *                                 their running product; positions' are not known
 *   EventId, Timestamp            event, time; everything else stays as it is */
#ifndef SA_CONVERT_VW_LINE_H
#define SA_CONVERT_VW_LINE_H

#include "convert/convert.h"

/* Memory that is used again from line to line. */
typedef struct sa_vw_line {
    sa_json json, made; /* the line; the items that were made of it */
    sa_ids ids;
    sa_log_entry entry;
    sa_buffer context, items, extra;
    char *event, *time;
    size_t event_room, time_room;
    double *contexts, *feedback, *prefix;
    size_t contexts_room, feedback_room, prefix_room;
    size_t *arms;
    size_t arms_room;
} sa_vw_line;

/* SA_FORMAT with what is wrong; line->json.cut_off says whether it only stops too early. line->entry is the
 * answer. */
sa_status sa_vw_line_parse(sa_vw_line *line, const char *text, size_t size);
void sa_vw_line_clear(sa_vw_line *line);

#endif
