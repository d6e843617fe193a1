#include "convert/convert.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static const struct {
    const char *name;
    sa_status (*source)(const sa_conversion *conversion, sa_source **out);
    sa_status (*sink)(const sa_conversion *conversion, sa_sink **out);
} FORMS[] = {{"log", sa_source_log, sa_sink_log},
             {"vw", sa_source_vw, sa_sink_vw},
             {"obp", sa_source_obp, sa_sink_obp},
             {"csv", sa_source_csv, sa_sink_csv}};
enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };

static sa_status find(const char *option, const char *name, size_t *out) {
    char shown[SA_PRINTABLE];
    for (size_t i = 0; name && i < FORM_COUNT; i++)
        if (!strcmp(FORMS[i].name, name)) {
            *out = i;
            return SA_OK;
        }
    if (!name) return sa_fail(SA_INVALID, "--%s is missing: log, vw, obp or csv", option);
    return sa_fail(SA_INVALID, "--%s %s is not one of log, vw, obp, csv", option, sa_printable(name, shown));
}

static sa_status check(const sa_conversion *c, size_t *from, size_t *to) {
    SA_TRY(find("from", c->from, from));
    SA_TRY(find("to", c->to, to));
    if (!c->in || !*c->in) return sa_fail(SA_INVALID, "there is no file to convert");
    if (!c->out || !*c->out) return sa_fail(SA_INVALID, "--out is missing: where does it go?");
    if (c->schema && strcmp(c->to, "obp"))
        return sa_fail(SA_INVALID, "--schema is for --to obp, which holds numbers; %s keeps named fields",
                       c->to);
    const char *const of_csv[] = {c->item,  c->feedback, c->propensity, c->position_propensity,
                                  c->event, c->time,     c->items,      c->per_item};
    for (size_t i = 0; strcmp(c->from, "csv") && i < sizeof of_csv / sizeof *of_csv; i++)
        if (of_csv[i])
            return sa_fail(SA_INVALID, "columns are named for --from csv only, and %s was", of_csv[i]);
    return SA_OK;
}

/* All decisions, to `write`, or before that to `survey`. */
static sa_status pass(const sa_conversion *c, size_t from, sa_sink *sink, bool surveying,
                      sa_converted *converted) {
    sa_source *source;
    const sa_log_entry *entry;
    SA_TRY(FORMS[from].source(c, &source));
    sa_status status;
    for (;;) {
        bool left_out = false;
        status = source->next(source, &entry);
        if (status != SA_OK || !entry) break;
        status = surveying ? sink->survey(sink, entry) : sink->write(sink, entry, &left_out);
        if (status != SA_OK) {
            sa_fail_prefix(status, "%s:%llu: ", c->in, (unsigned long long)entry->line);
            break;
        }
        converted->decisions += !surveying && !left_out;
        converted->left_out += !surveying && left_out;
    }
    if (status == SA_OK && !surveying)
        snprintf(converted->note, sizeof converted->note, "%s", source->warning(source));
    source->close(source);
    return status;
}

sa_status sa_convert(const sa_conversion *conversion, sa_converted *converted) {
    size_t from = 0, to = 0;
    sa_sink *sink;
    sa_converted counts = {0};
    SA_TRY(check(conversion, &from, &to));
    SA_TRY(FORMS[to].sink(conversion, &sink));
    sa_status status = SA_OK;
    if (sink->survey) status = pass(conversion, from, sink, true, &counts);
    if (status == SA_OK) status = pass(conversion, from, sink, false, &counts);
    if (status == SA_OK && counts.decisions == 0)
        status = sa_fail(
            SA_INVALID,
            "none of the %llu decisions of %s can be written as %s: they lack feedback or propensities",
            (unsigned long long)counts.left_out, conversion->in, conversion->to);
    if (status != SA_OK) {
        sink->abandon(sink);
        return status;
    }
    SA_TRY(sink->finish(sink));
    if (converted) *converted = counts;
    return SA_OK;
}
