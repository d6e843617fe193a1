#include "compact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"

enum { MARK = 2, RUNS = 255, WIDEST = 24 };
enum {
    KNOWN = 1,
    PREFIXES = 2,
    POSITIONS = 4,
    PREFIXES_ONE = 8,
    POSITIONS_ONE = 16,
    LAST_PREFIX = 32,
    TAIL = 6
};
/* Ends of answers that most have: 1 + which is in the flags, from bit TAIL on. */
static const char *const TAILS[] = {", \"side\": \"agent\"", ", \"side\": \"agent\", \"explored\": true",
                                    ", \"side\": \"control\""};

/* ---- writing ---- */

static void put_byte(sa_buffer *out, unsigned byte) {
    char c = (char)byte;
    sa_buffer_bytes(out, &c, 1);
}

static void put_whole(sa_buffer *out, uint64_t number) {
    for (; number > 127; number >>= 7) put_byte(out, (unsigned)(number & 127) | 128);
    put_byte(out, (unsigned)number);
}

static uint64_t gap_at(const sv_compact *self, size_t i) {
    return i ? self->numbers[i] - self->numbers[i - 1] - 1 : self->numbers[0];
}

static void put_runs(const sv_compact *self, sa_buffer *out) {
    for (size_t i = 0; i < self->count;) {
        size_t length = 1;
        while (i + length < self->count && gap_at(self, i + length) == 0) length++;
        put_whole(out, gap_at(self, i));
        put_whole(out, length - 1);
        i += length;
    }
}

typedef struct bits {
    sa_buffer *out;
    unsigned byte, used;
} bits;

static void put_bit(bits *self, unsigned bit) {
    self->byte |= bit << self->used++;
    if (self->used < 8) return;
    put_byte(self->out, self->byte);
    self->byte = self->used = 0;
}

static void put_rice(const sv_compact *self, unsigned k, sa_buffer *out) {
    bits to = {out, 0, 0};
    for (size_t i = 0; i < self->count; i++) {
        uint64_t gap = gap_at(self, i);
        for (uint64_t ones = gap >> k; ones; ones--) put_bit(&to, 1);
        put_bit(&to, 0);
        for (unsigned bit = 0; bit < k; bit++) put_bit(&to, gap >> bit & 1);
    }
    while (to.used) put_bit(&to, 0);
}

static unsigned best_width(const sv_compact *self, uint64_t *least) {
    unsigned best = 0;
    *least = UINT64_MAX;
    for (unsigned k = 0; k <= WIDEST; k++) {
        uint64_t size = self->count * (k + 1);
        for (size_t i = 0; i < self->count; i++) size += gap_at(self, i) >> k;
        if (size >= *least) continue;
        *least = size;
        best = k;
    }
    return best;
}

static void put_numbers(const sv_compact *self, sa_buffer *out) {
    sa_buffer runs = {0};
    uint64_t size;
    unsigned k = best_width(self, &size);
    put_runs(self, &runs);
    put_byte(out, runs.size <= (size + 7) / 8 ? RUNS : k);
    if (runs.size <= (size + 7) / 8)
        sa_buffer_bytes(out, runs.text, runs.size);
    else
        put_rice(self, k, out);
    if (runs.status) out->status = runs.status;
    sa_buffer_clear(&runs);
}

static bool is_one(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (values[i] != 1) return false;
    return true;
}

static void put_doubles(sa_buffer *out, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &values[i], 8);
        for (int byte = 0; byte < 8; byte++) put_byte(out, (unsigned)(word >> 8 * byte) & 255);
    }
}

static unsigned usual_tail(const sv_compact *self) {
    for (unsigned i = 0; i < sizeof TAILS / sizeof *TAILS; i++)
        if (self->tail_size == strlen(TAILS[i]) && !memcmp(self->tail, TAILS[i], self->tail_size))
            return i + 1;
    return 0;
}

static void put_probabilities(const sv_compact *self, sa_buffer *out) {
    unsigned flags = 0;
    size_t length = self->length;
    if (!isnan(self->propensity)) flags |= KNOWN;
    if (self->prefixes) flags |= PREFIXES | (is_one(self->prefixes, length) ? PREFIXES_ONE : 0);
    if (self->positions) flags |= POSITIONS | (is_one(self->positions, length) ? POSITIONS_ONE : 0);
    if (self->prefixes && length && self->prefixes[length - 1] == self->propensity) flags |= LAST_PREFIX;
    flags |= usual_tail(self) << TAIL;
    put_byte(out, flags);
    put_whole(out, length);
    if ((flags & KNOWN) && !(flags & LAST_PREFIX)) put_doubles(out, &self->propensity, 1);
    if ((flags & PREFIXES) && !(flags & PREFIXES_ONE)) put_doubles(out, self->prefixes, length);
    if ((flags & POSITIONS) && !(flags & POSITIONS_ONE)) put_doubles(out, self->positions, length);
}

void sv_compact_write(const sv_compact *self, sa_buffer *out) {
    put_byte(out, MARK);
    put_whole(out, self->version);
    put_whole(out, self->count);
    put_numbers(self, out);
    put_probabilities(self, out);
    if (!usual_tail(self)) {
        put_whole(out, self->tail_size);
        sa_buffer_bytes(out, self->tail, self->tail_size);
    }
    sa_buffer_bytes(out, self->rest, self->rest_size);
}

/* ---- reading ---- */

typedef struct reader {
    const unsigned char *at, *end;
    unsigned used; /* bits of *at */
    bool bad;
} reader;

static unsigned get_byte(reader *self) {
    if (self->at == self->end) {
        self->bad = true;
        return 0;
    }
    return *self->at++;
}

static uint64_t get_whole(reader *self) {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        unsigned byte = get_byte(self);
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return number;
    }
    self->bad = true;
    return 0;
}

static unsigned get_bit(reader *self) {
    if (self->at == self->end) {
        self->bad = true;
        return 0;
    }
    unsigned bit = *self->at >> self->used & 1;
    if (++self->used == 8) {
        self->used = 0;
        self->at++;
    }
    return bit;
}

/* The next number is the gap behind the last. */
static void set_number(sv_compact *out, size_t i, uint64_t gap, reader *from) {
    uint64_t number = gap + (i ? (uint64_t)out->numbers[i - 1] + 1 : 0);
    if (number > UINT32_MAX) from->bad = true;
    out->numbers[i] = (uint32_t)number;
}

static void get_numbers(reader *self, sv_compact *out) {
    unsigned way = get_byte(self);
    for (size_t i = 0; i < out->count && !self->bad;) {
        uint64_t gap = 0, more = 0;
        if (way == RUNS) {
            gap = get_whole(self);
            more = get_whole(self);
        } else if (way <= WIDEST) {
            while (get_bit(self) && !self->bad) gap++;
            gap <<= way;
            for (unsigned bit = 0; bit < way; bit++) gap |= (uint64_t)get_bit(self) << bit;
        } else
            self->bad = true;
        set_number(out, i++, gap, self);
        if (more > out->count - i) self->bad = true;
        for (; more && !self->bad; more--) set_number(out, i++, 0, self);
    }
    if (self->used) self->at++;
    self->used = 0;
}

static double *get_doubles(reader *self, size_t count, bool one) {
    double *values = calloc(count + 1, sizeof *values);
    if (!values || (!one && (size_t)(self->end - self->at) < 8 * count)) self->bad = true;
    for (size_t i = 0; !self->bad && i < count; i++) {
        uint64_t word = 0;
        for (int byte = 0; !one && byte < 8; byte++) word |= (uint64_t)get_byte(self) << 8 * byte;
        if (one)
            values[i] = 1;
        else
            memcpy(&values[i], &word, 8);
    }
    return values;
}

static unsigned get_probabilities(reader *self, sv_compact *out) {
    unsigned flags = get_byte(self);
    uint64_t length = get_whole(self);
    out->propensity = NAN;
    if (length > LIMIT_ITEMS) self->bad = true;
    if (self->bad) return 0;
    out->length = (size_t)length;
    if ((flags & KNOWN) && !(flags & LAST_PREFIX)) {
        double *one = get_doubles(self, 1, false);
        if (one) out->propensity = *one;
        free(one);
    }
    if (flags & PREFIXES) out->prefixes = get_doubles(self, out->length, flags & PREFIXES_ONE);
    if (flags & POSITIONS) out->positions = get_doubles(self, out->length, flags & POSITIONS_ONE);
    if ((flags & LAST_PREFIX) && out->prefixes && length) out->propensity = out->prefixes[length - 1];
    return flags;
}

uint64_t sv_compact_version(const char *body, size_t size) {
    reader from = {(const unsigned char *)body, (const unsigned char *)body + size, 0, false};
    uint64_t version = get_byte(&from) == MARK ? get_whole(&from) : 0;
    return from.bad ? 0 : version;
}

bool sv_compact_read(sv_compact *self, const char *body, size_t size) {
    reader from = {(const unsigned char *)body, (const unsigned char *)body + size, 0, false};
    *self = (sv_compact){0};
    if (get_byte(&from) != MARK) return false;
    self->version = get_whole(&from);
    uint64_t count = get_whole(&from);
    if (from.bad || count > LIMIT_ITEMS) return false;
    self->numbers = calloc(count + 1, sizeof *self->numbers);
    if (!self->numbers) return false;
    self->count = (size_t)count;
    get_numbers(&from, self);
    unsigned usual = get_probabilities(&from, self) >> TAIL;
    uint64_t tail = usual ? 0 : get_whole(&from);
    if (from.bad || tail > (uint64_t)(from.end - from.at)) return false;
    self->tail = usual ? TAILS[usual - 1] : (const char *)from.at;
    self->tail_size = usual ? strlen(TAILS[usual - 1]) : (size_t)tail;
    self->rest = (const char *)from.at + tail;
    self->rest_size = (size_t)(from.end - from.at) - (size_t)tail;
    return true;
}

void sv_compact_free(sv_compact *self) {
    free(self->numbers);
    free(self->prefixes);
    free(self->positions);
    *self = (sv_compact){0};
}
