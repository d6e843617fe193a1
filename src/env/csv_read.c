#include "env/csv_read.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "env/data_file.h"

static sa_status read_separator(const char *text, char *out) {
    char shown[SA_PRINTABLE];
    *out = strcmp(text, "tab") ? *text : '\t';
    if (*text && (!text[1] || *out == '\t') && !strchr("\"\r\n #?", *out)) return SA_OK;
    return sa_fail(SA_INVALID, "--separator %s is neither a character that can stand between fields nor tab",
                   sa_printable(text, shown));
}

sa_status sa_csv_read(const sa_options *options, sa_csv_pool *out) {
    sa_csv_format format = {.header = options->header, .label = options->label};
    char *text;
    size_t size;
    SA_TRY(read_separator(options->separator, &format.separator));
    SA_TRY(sa_data_read(options, &text, &size));
    sa_status status = sa_csv_pool_parse(text, size, options->data, &format, out);
    sa_free(text);
    return status;
}
