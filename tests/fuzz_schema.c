/* Any bytes as a schema and, behind a 0 byte, a request: a schema that its own text gives again, contexts
 * that are finite; or a sentence. */
#include <math.h>

#include <superarm/schema.h>

#include "fuzz_memory_file.h"

static void encode(const sa_schema *schema, const char *json, size_t size) {
    sa_encoding *encoding = sa_encoding_new();
    if (encoding && sa_schema_encode(schema, json, size, encoding) == SA_OK)
        for (size_t i = 0; i < sa_encoding_arms(encoding) * sa_schema_dim(schema); i++)
            if (!isfinite(sa_encoding_contexts(encoding)[i])) abort();
    sa_encoding_destroy(encoding);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *stop = size ? memchr(text, 0, size) : NULL;
    size_t first = stop ? (size_t)(stop - text) : size;
    sa_schema *schema, *again;
    if (sa_schema_parse(text, first, "fuzz.yaml", &schema) != SA_OK) {
        if (strncmp(sa_last_error(), "fuzz.yaml", 9) && !strstr(sa_last_error(), "memory")) abort();
        return 0;
    }
    const char *own = sa_schema_text(schema);
    if (sa_schema_parse(own, strlen(own), "own", &again) != SA_OK || strcmp(sa_schema_text(again), own))
        abort();
    if (stop && sa_schema_dim(schema) < 100000) encode(schema, stop + 1, size - first - 1);
    sa_schema_release(again);
    sa_schema_release(schema);
    return 0;
}
