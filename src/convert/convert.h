/* A conversion is a source of decisions and a sink for them; the decision log's entry is what they have in
 * common. */
#ifndef SA_CONVERT_CONVERT_H
#define SA_CONVERT_CONVERT_H

#include <superarm/convert.h>
#include <superarm/log.h>

#include "base/buffer.h"
#include "base/candidates.h"
#include "base/json.h"

typedef struct sa_source sa_source;
struct sa_source {
    /* The next decision, valid until the next call; NULL after the last. */
    sa_status (*next)(sa_source *source, const sa_log_entry **entry);
    /* What was skipped, as a sentence, or "". */
    const char *(*warning)(sa_source *source);
    void (*close)(sa_source *source);
};

typedef struct sa_sink sa_sink;
struct sa_sink {
    /* Called for all decisions before the first is written; NULL: not needed. */
    sa_status (*survey)(sa_sink *sink, const sa_log_entry *entry);
    /* SA_INVALID: this decision cannot be written, and why. `*left_out`: it was passed over. */
    sa_status (*write)(sa_sink *sink, const sa_log_entry *entry, bool *left_out);
    /* Frees the sink either way. */
    sa_status (*finish)(sa_sink *sink);
    void (*abandon)(sa_sink *sink);
};

sa_status sa_source_log(const sa_conversion *conversion, sa_source **out);
sa_status sa_source_vw(const sa_conversion *conversion, sa_source **out);
sa_status sa_source_obp(const sa_conversion *conversion, sa_source **out);
sa_status sa_source_csv(const sa_conversion *conversion, sa_source **out);
sa_status sa_sink_log(const sa_conversion *conversion, sa_sink **out);
sa_status sa_sink_vw(const sa_conversion *conversion, sa_sink **out);
sa_status sa_sink_obp(const sa_conversion *conversion, sa_sink **out);
sa_status sa_sink_csv(const sa_conversion *conversion, sa_sink **out);

#endif
