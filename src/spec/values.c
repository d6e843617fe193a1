#include "spec/values.h"

#include <string.h>

sa_status sa_options_take(sa_options *to, const sa_options *from, const char *name) {
    char value[SA_VALUE_SIZE];
    SA_TRY(sa_options_get(from, name, value, sizeof value));
    return sa_options_set(to, name, value);
}

sa_status sa_options_compare(const sa_options *one, const sa_options *two, const char *name, char *value,
                             char *other, bool *same) {
    SA_TRY(sa_options_get(one, name, value, SA_VALUE_SIZE));
    SA_TRY(sa_options_get(two, name, other, SA_VALUE_SIZE));
    *same = strcmp(value, other) == 0;
    return SA_OK;
}
