/* Published curves: a CSV file with the columns figure,score,d,algorithm,round,mean_regret,sd_regret,runs
 * and, where there is a ninth, regret: realised or expected. Without it they are of realised regret, as
 * those of the paper are. The rounds of a curve increase. Fields are not quoted, since none needs it. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"

static const char *const COLUMNS[] = {"figure",      "score",     "d",    "algorithm", "round",
                                      "mean_regret", "sd_regret", "runs", "regret"};
enum { FIGURE, SCORE, DIM, ALGORITHM, ROUND, MEAN, SD, RUNS, REGRET, COLUMN_COUNT };

typedef struct reading {
    sa_published *published;
    size_t count, capacity;
    size_t columns;        /* of the file */
    size_t point_capacity; /* of the last curve */
} reading;

void sa_reference_clear(sa_published *published, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sa_curve_clear(&published[i].curve);
        sa_free(published[i].figure);
        sa_free(published[i].score);
        sa_free(published[i].algorithm);
    }
    sa_free(published);
}

bool sa_published_end(const sa_report_panel *panel, const sa_published *published, size_t *index) {
    bool found = false;
    for (size_t i = 0; i < published->curve.count && published->curve.round[i] <= panel->rounds; i++) {
        *index = i;
        found = true;
    }
    return found;
}

/* ---- one line ---- */

/* Changes the line; false when it has another number of fields. */
static bool split(char *line, size_t columns, char *fields[COLUMN_COUNT]) {
    for (size_t i = 0; i < columns; i++) {
        char *comma = strchr(line, ',');
        fields[i] = line;
        if ((i + 1 < columns) != (comma != NULL)) return false;
        if (comma) {
            *comma = 0;
            line = comma + 1;
        }
    }
    return true;
}

static sa_status take_count(char *const *fields, int column, size_t *out) {
    int64_t number;
    char shown[SA_PRINTABLE];
    if (!sa_text_to_integer(fields[column], &number, NULL) || number < 1 || number > 1000000000)
        return sa_fail(SA_FORMAT, "%s %s is not a whole number from 1 to 1000000000", COLUMNS[column],
                       sa_printable(fields[column], shown));
    *out = (size_t)number;
    return SA_OK;
}

static sa_status take_number(char *const *fields, int column, double *out) {
    char shown[SA_PRINTABLE];
    if (!sa_text_to_number(fields[column], out) || !isfinite(*out))
        return sa_fail(SA_FORMAT, "%s %s is not a number", COLUMNS[column],
                       sa_printable(fields[column], shown));
    if (column == SD && *out < 0) return sa_fail(SA_FORMAT, "sd_regret %s is negative", fields[column]);
    return SA_OK;
}

static sa_status take_regret(const reading *self, char *const *fields, int *out) {
    static const char *const names[] = {[SA_REGRET_EXPECTED] = "expected", [SA_REGRET_REALISED] = "realised"};
    char shown[SA_PRINTABLE];
    *out = SA_REGRET_REALISED;
    if (self->columns <= REGRET) return SA_OK;
    for (*out = 0; *out < sa_regret_count; ++*out)
        if (!strcmp(fields[REGRET], names[*out])) return SA_OK;
    return sa_fail(SA_FORMAT, "regret %s is neither realised nor expected",
                   sa_printable(fields[REGRET], shown));
}

/* The curve of this line; begins one when there is none. */
static sa_status find_curve(reading *self, char *const *fields, size_t dim, sa_published **out) {
    for (size_t i = 0; i < self->count; i++) {
        sa_published *one = &self->published[i];
        if (strcmp(one->figure, fields[FIGURE]) || strcmp(one->score, fields[SCORE]) || one->dim != dim ||
            strcmp(one->algorithm, fields[ALGORITHM]))
            continue;
        if (i + 1 < self->count)
            return sa_fail(SA_FORMAT, "the curve of %s in %s is in two pieces", one->algorithm, one->figure);
        *out = one;
        return SA_OK;
    }
    SA_TRY(sa_grow_array(&self->published, &self->capacity, self->count + 1, sizeof *self->published));
    sa_published *fresh = &self->published[self->count++];
    *fresh = (sa_published){.dim = dim};
    SA_TRY(sa_copy_text(fields[FIGURE], &fresh->figure));
    SA_TRY(sa_copy_text(fields[SCORE], &fresh->score));
    SA_TRY(sa_copy_text(fields[ALGORITHM], &fresh->algorithm));
    self->point_capacity = 0;
    *out = fresh;
    return SA_OK;
}

static sa_status add_point(reading *self, sa_published *one, size_t round, double mean, double sd) {
    sa_curve *curve = &one->curve;
    size_t capacity = self->point_capacity, same = capacity, last = capacity;
    if (curve->count > 0 && round <= curve->round[curve->count - 1])
        return sa_fail(SA_FORMAT, "round %zu does not come after round %zu", round,
                       curve->round[curve->count - 1]);
    SA_TRY(sa_grow_array(&curve->round, &capacity, curve->count + 1, sizeof *curve->round));
    SA_TRY(sa_grow_array(&curve->mean, &same, curve->count + 1, sizeof *curve->mean));
    SA_TRY(sa_grow_array(&curve->sd, &last, curve->count + 1, sizeof *curve->sd));
    self->point_capacity = capacity;
    curve->round[curve->count] = round;
    curve->mean[curve->count] = mean;
    curve->sd[curve->count++] = sd;
    return SA_OK;
}

static sa_status take_line(reading *self, char *line) {
    char *fields[COLUMN_COUNT];
    size_t dim = 0, round = 0, runs = 0;
    double mean = 0, sd = 0;
    int regret = 0;
    sa_published *one = NULL;
    if (!split(line, self->columns, fields))
        return sa_fail(SA_FORMAT, "this line does not have %zu fields", self->columns);
    if (!*fields[FIGURE] || !*fields[SCORE] || !*fields[ALGORITHM])
        return sa_fail(SA_FORMAT, "figure, score and algorithm must not be empty");
    SA_TRY(take_count(fields, DIM, &dim));
    SA_TRY(take_count(fields, ROUND, &round));
    SA_TRY(take_number(fields, MEAN, &mean));
    SA_TRY(take_number(fields, SD, &sd));
    SA_TRY(take_count(fields, RUNS, &runs));
    SA_TRY(take_regret(self, fields, &regret));
    SA_TRY(find_curve(self, fields, dim, &one));
    if (one->runs > 0 && one->runs != runs)
        return sa_fail(SA_FORMAT, "runs %zu of a curve that had %zu", runs, one->runs);
    if (one->runs > 0 && one->regret != regret)
        return sa_fail(SA_FORMAT, "a curve is of one regret, realised or expected, and this is of both");
    one->runs = runs;
    one->regret = regret;
    return add_point(self, one, round, mean, sd);
}

static sa_status take_header(reading *self, char *line) {
    char *fields[COLUMN_COUNT];
    self->columns = 1;
    for (const char *c = line; *c; c++) self->columns += *c == ',';
    bool right =
        (self->columns == COLUMN_COUNT || self->columns == REGRET) && split(line, self->columns, fields);
    for (size_t i = 0; right && i < self->columns; i++) right = !strcmp(fields[i], COLUMNS[i]);
    return right ? SA_OK
                 : sa_fail(SA_FORMAT,
                           "the columns must be figure,score,d,algorithm,round,mean_regret,sd_regret,runs, "
                           "in this order, and regret may follow");
}

/* ---- the file ---- */

static sa_status take_lines(reading *self, char *text, size_t size, const char *path) {
    size_t number = 1;
    if (size == 0) return sa_fail(SA_FORMAT, "%s is empty", path);
    if (memchr(text, 0, size)) return sa_fail(SA_FORMAT, "%s has a byte 0, so it is not a CSV file", path);
    for (char *line = text, *next; line && *line; line = next, number++) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end) *end = 0;
        size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\r') line[length - 1] = 0;
        sa_status status = number == 1 ? take_header(self, line) : take_line(self, line);
        if (status != SA_OK) return sa_fail_prefix(status, "%.400s:%zu: ", path, number);
    }
    return self->count > 0 ? SA_OK
                           : sa_fail(SA_FORMAT, "%s has no curves, only the names of the columns", path);
}

sa_status sa_reference_read(const char *path, sa_published **out, size_t *count) {
    reading self = {0};
    char *text;
    size_t size;
    SA_TRY(sa_file_read(path, &text, &size));
    sa_status status = take_lines(&self, text, size, path);
    sa_free(text);
    if (status == SA_OK) {
        *out = self.published;
        *count = self.count;
    } else {
        sa_reference_clear(self.published, self.count);
    }
    return status;
}
