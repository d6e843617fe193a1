/* Any bytes as a YAML spec: whole pairs come out, and a sentence that names the file if anything is wrong. */
#include <stdlib.h>

#include "base/yaml.h"
#include "fuzz_memory_file.h"

static sa_status look(void *user, const char *label, const char *key, const char *value) {
    if (!key || !value) abort();
    *(size_t *)user += (label ? strlen(label) : 0) + strlen(key) + strlen(value);
    return strcmp(key, "refused") ? SA_OK : sa_fail(SA_INVALID, "--refused is not an option");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t characters = 0;
    sa_status status = sa_yaml_parse((const char *)data, size, "fuzz.yaml", look, &characters);
    if (status != SA_OK && strncmp(sa_last_error(), "fuzz.yaml", 9)) abort();
    return 0;
}
