#include "base/text_file.h"

enum { MUCH = 1 << 16 }; /* bytes */

sa_status sa_text_file_begin(sa_text_file *out, const char *path) {
    *out = SA_NO_TEXT_FILE;
    return sa_replace_begin(path, &out->file);
}

static sa_status flush(sa_text_file *out) {
    SA_TRY(out->buffer.status);
    sa_status status = sa_replace_write(&out->file, out->buffer.text, out->buffer.size);
    out->buffer.size = 0;
    return status;
}

sa_status sa_text_file_line(sa_text_file *out) {
    return out->buffer.size >= MUCH || out->buffer.status != SA_OK ? flush(out) : SA_OK;
}

sa_status sa_text_file_commit(sa_text_file *out) {
    SA_TRY(flush(out));
    return sa_replace_commit(&out->file);
}

void sa_text_file_abandon(sa_text_file *out) {
    sa_replace_abandon(&out->file);
    sa_buffer_clear(&out->buffer);
}
