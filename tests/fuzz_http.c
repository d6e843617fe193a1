/* Any bytes as a request: a head is whole, unfinished or refused with a sentence, whatever came behind it,
 * and what is whole has all its texts inside. What follows is read as chunks, which give the same data
 * however they are cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http_chunks.h"
#include "http_head.h"

static void expect(bool holds) {
    if (!holds) abort();
}

static char *copy(const uint8_t *data, size_t size) {
    char *made = malloc(size + 1);
    expect(made != NULL);
    if (size) memcpy(made, data, size);
    return made;
}

static void expect_inside(const char *text, const char *bytes, size_t size) {
    expect(!text || (text > bytes - 1 && text + strlen(text) < bytes + size));
}

/* All of it, in parts of `step` bytes; the data into `out`. */
static size_t read_chunks(const char *bytes, size_t size, size_t step, char *out, sv_chunk_place *end) {
    sv_http_chunks self = {0};
    size_t written = 0, at = 0;
    while (at < size && self.place != CHUNK_END && self.place != CHUNK_WRONG) {
        const char *data = NULL;
        size_t part = size - at < step ? size - at : step, data_size = 0;
        size_t used = sv_http_chunks_take(&self, bytes + at, part, &data, &data_size);
        expect(used > 0 && used <= part && data_size <= used);
        if (data_size) memcpy(out + written, data, data_size);
        written += data_size;
        at += used;
    }
    *end = self.place;
    return written;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sv_http_head head;
    sv_refusal why = {0};
    char *bytes = copy(data, size);
    sv_head_result result = sv_http_head_read(bytes, size, &head, &why);
    if (result == HEAD_UNFINISHED) expect(!memcmp(bytes, data, size));
    if (result == HEAD_REFUSED) expect(why.status >= 400 && strlen(why.message) > 8);
    if (result == HEAD_WHOLE) {
        expect(head.size <= size && !(head.chunked && head.has_length));
        const char *texts[] = {head.method, head.path, head.query, head.type, head.authorization, head.host};
        for (size_t i = 0; i < 6; i++) expect_inside(texts[i], bytes, head.size);
        expect(head.method && *head.path == '/');
        char *shorter = copy(data, head.size - 1); /* one byte less is never whole */
        sv_http_head again;
        expect(sv_http_head_read(shorter, head.size - 1, &again, &why) != HEAD_WHOLE);
        free(shorter);
    }
    size_t begin = result == HEAD_WHOLE ? head.size : 0;
    char *one = malloc(size + 1), *other = malloc(size + 1);
    sv_chunk_place ends[2];
    expect(one && other);
    size_t first = read_chunks(bytes + begin, size - begin, size + 1, one, &ends[0]);
    size_t second = read_chunks(bytes + begin, size - begin, 3, other, &ends[1]);
    /* short pieces count as overhead sooner: that is the only way in which they differ */
    expect(ends[0] == ends[1] ? first == second && !memcmp(one, other, first) : ends[1] == CHUNK_WRONG);
    free(one);
    free(other);
    free(bytes);
    return 0;
}
