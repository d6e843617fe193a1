/* Any bytes as a line of a decision log: an entry that holds together comes out, which is written and read
 * again, or a sentence. */
#include <math.h>

#include "fuzz_memory_file.h"
#include "logs/line.h"
#include "logs/writer.h"

static void use(const sa_log_entry *entry) {
    if (entry->candidates == 0 || entry->slate > entry->candidates || (!entry->items && !entry->contexts))
        abort();
    for (size_t i = 0; entry->contexts && i < entry->candidates * entry->dim; i++)
        if (!isfinite(entry->contexts[i])) abort();
    for (size_t i = 0; i < entry->slate; i++) {
        if (entry->arms[i] >= entry->candidates || (entry->feedback && isinf(entry->feedback[i]))) abort();
        for (size_t j = 0; j < i; j++)
            if (entry->arms[i] == entry->arms[j]) abort();
    }
    for (size_t i = 0; entry->ids && i < entry->candidates; i++)
        if (!*entry->ids[i] || strlen(entry->ids[i]) > SA_LONGEST_ID) abort();
    if (entry->propensity <= 0 || entry->propensity > 1.1) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sa_log_line line = {0}, again = {0};
    sa_buffer text = {0};
    if (sa_log_line_parse(&line, (const char *)data, size) == SA_OK) {
        use(&line.entry);
        sa_log_line_write(&text, &line.entry, 17);
        if (text.status != SA_OK || sa_log_line_parse(&again, text.text, text.size - 1) != SA_OK) abort();
        if (again.entry.slate != line.entry.slate || again.entry.candidates != line.entry.candidates) abort();
    } else if (!*sa_last_error()) {
        abort();
    }
    sa_buffer_clear(&text);
    sa_log_line_clear(&line);
    sa_log_line_clear(&again);
    return 0;
}
