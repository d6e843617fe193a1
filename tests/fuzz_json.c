/* Any bytes as JSON: nodes that hold together, and one digest however the text is written, or a sentence; and
 * as a request, with and without a schema. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fuzz_memory_file.h"
#include <superarm/policy.h>

static void check_nodes(const sa_json *json) {
    for (size_t i = 0; i < json->count; i++) {
        const sa_json_node *node = &json->nodes[i];
        if (node->next <= i || node->next > json->count) abort();
        if (node->kind < SA_JSON_ARRAY && node->next != i + 1) abort();
    }
}

/* Without its blanks it says the same. */
static void check_digest(const sa_json *json) {
    uint8_t one[32], other[32];
    sa_json again = {0};
    sa_buffer text = {0};
    sa_status status = sa_json_digest(json, one);
    if (status != sa_json_check_keys(json)) abort();
    sa_buffer_value(&text, json, 0);
    if (text.status != SA_OK || sa_json_parse(&again, text.text, text.size) != SA_OK) abort();
    if (again.count != json->count || sa_json_digest(&again, other) != status) abort();
    if (status == SA_OK && memcmp(one, other, sizeof one)) abort();
    sa_json_clear(&again);
    sa_buffer_clear(&text);
}

static void check_request(const char *text, size_t size) {
    static const char kinds[] =
        "{\"context\": {\"c\": \"hashed 4\"}, \"item\": {\"p\": \"log\", \"t\": \"tags 4\"}}";
    static sa_schema *schema;
    sa_request *request = sa_request_new();
    if (!schema && sa_schema_parse(kinds, strlen(kinds), "schema", &schema) != SA_OK) abort();
    for (int i = 0; request && i < 2; i++) {
        size_t arms, dim;
        sa_status status = sa_request_json(request, i ? schema : NULL, text, size);
        const double *contexts = sa_request_candidates(request, &arms, &dim);
        if ((status == SA_OK) != (contexts && arms && dim)) abort();
        if (status != SA_OK && !*sa_last_error()) abort();
        for (size_t k = 0; status == SA_OK && k < arms * dim; k++)
            if (!isfinite(contexts[k])) abort();
    }
    sa_request_destroy(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sa_json json = {0};
    if (sa_json_parse(&json, (const char *)data, size) == SA_OK) {
        check_nodes(&json);
        check_digest(&json);
        check_request((const char *)data, size);
    } else if (!*sa_last_error()) {
        abort();
    }
    sa_json_clear(&json);
    return 0;
}
