/* Any bytes as a line of VW's dsjson: a decision that our log takes, or a sentence. */
#include "convert/vw_line.h"
#include "fuzz_memory_file.h"
#include "logs/line.h"
#include "logs/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sa_vw_line line = {0};
    sa_log_line read = {0};
    sa_buffer text = {0};
    if (sa_vw_line_parse(&line, (const char *)data, size) == SA_OK) {
        sa_log_line_write(&text, &line.entry, 17);
        if (text.status != SA_OK || sa_log_line_parse(&read, text.text, text.size - 1) != SA_OK) abort();
        if (read.entry.slate != line.entry.slate || read.entry.candidates != line.entry.candidates) abort();
    } else if (!*sa_last_error()) {
        abort();
    }
    sa_buffer_clear(&text);
    sa_log_line_clear(&read);
    sa_vw_line_clear(&line);
    return 0;
}
