#include "past/history_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/reals.h"
#include "past/history_head.h"

enum {
    HEAD = 65536,  /* bytes; blocks begin at multiples of it, whatever the size of a page */
    FIRST = 16384, /* rows of the first segment: times any whole number of 4 bytes a multiple of HEAD */
    STEP = 4096,   /* rows that disk space is asked for at a time */
    COLUMNS = 5    /* contexts, scores, starts, positions, discounts */
};

struct sa_history_file {
    char *path;
    int file;
    sa_history_head *head; /* mapped */
    size_t size[COLUMNS];  /* bytes of a row's element; 0: there is no such column */
    size_t row;            /* their sum */
    size_t capacity;       /* rows mapped: 0, or FIRST times a power of 2 */
    size_t allocated;      /* rows that there is disk space for */
    char *column[COLUMNS]; /* mapped */
    sa_history_mark mark;  /* that was given out last */
    uint64_t saved;        /* the mark of the agent as it was last saved or loaded; 0: never */
    size_t saved_count;    /* and its observations */
    bool writes;           /* has it, since it was opened? */
};

_Static_assert(sizeof(sa_history_head) <= HEAD, "the head is too small");

/* ---- where things are ---- */

static size_t before(size_t capacity) {
    return capacity == FIRST ? 0 : capacity / 2;
} /* rows before its last segment */

static size_t end_of(const sa_history_file *self, size_t capacity) { return HEAD + capacity * self->row; }

/* Where in the file row `row` of a column is, in the last segment of `capacity`. */
static size_t place(const sa_history_file *self, size_t column, size_t capacity, size_t row) {
    size_t first = before(capacity), at = HEAD + first * self->row;
    for (size_t c = 0; c < column; c++) at += (capacity - first) * self->size[c];
    return at + (row - first) * self->size[column];
}

static size_t capacity_for(size_t rows) {
    size_t capacity = FIRST;
    while (capacity < rows) capacity *= 2;
    return capacity;
}

/* ---- mapping ---- */

static void unmap_columns(const sa_history_file *self, char *const *column, size_t capacity) {
    for (size_t c = 0; c < COLUMNS; c++)
        if (column[c]) munmap(column[c], capacity * self->size[c]);
}

/* Room for a whole column first, then the block of each segment into its place. */
static sa_status map_column(const sa_history_file *self, size_t c, size_t capacity, char **out) {
    char *base =
        mmap(NULL, capacity * self->size[c], PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return sa_fail_errno("mapped", self->path);
    *out = base;
    for (size_t part = FIRST; part <= capacity; part *= 2) {
        size_t first = before(part), bytes = (part - first) * self->size[c];
        if (mmap(base + first * self->size[c], bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 self->file, (off_t)place(self, c, part, first)) == MAP_FAILED)
            return sa_fail_errno("mapped", self->path);
    }
    return SA_OK;
}

static sa_status map_columns(sa_history_file *self, size_t capacity) {
    char *column[COLUMNS] = {NULL};
    for (size_t c = 0; c < COLUMNS; c++) {
        if (self->size[c] == 0) continue;
        sa_status status = map_column(self, c, capacity, &column[c]);
        if (status == SA_OK) continue;
        unmap_columns(self, column, capacity);
        return status;
    }
    unmap_columns(self, self->column, self->capacity);
    memcpy(self->column, column, sizeof column);
    self->capacity = capacity;
    return SA_OK;
}

static void hand_out(sa_history *history) {
    const sa_history_file *self = history->file;
    history->contexts = self->column[0];
    history->scores = (double *)(void *)self->column[1];
    history->start = (int64_t *)(void *)self->column[2];
    history->position = (int64_t *)(void *)self->column[3];
    history->psi = (double *)(void *)self->column[4];
    history->capacity = history->answered_capacity = self->capacity;
}

/* ---- growing ---- */

static sa_status allocate(sa_history_file *self, size_t rows) {
    while (self->allocated < rows) {
        size_t first = self->allocated, capacity = capacity_for(first + 1);
        for (size_t c = 0; c < COLUMNS; c++) {
            if (self->size[c] == 0) continue;
            errno = sa_reserve_file(self->file, (off_t)place(self, c, capacity, first),
                                    (off_t)(STEP * self->size[c]));
            if (errno) return sa_fail_errno("made longer", self->path);
        }
        self->allocated += STEP; /* which segments are whole numbers of */
    }
    return SA_OK;
}

void sa_history_file_go_on(const sa_history *history) {
    sa_history_file *self = history->file;
    sa_history_head *head = self->head;
    if (self->writes) return;
    self->writes = true;
    head->mark =
        /* a save that was cut short may have left two agents: the other is refused from now on */
        self->saved;
    if (head->issued != head->mark) head->issued++;
    sa_history_file_note(history);
}

sa_status sa_history_file_reserve(sa_history *history, size_t rows) {
    sa_history_file *self = history->file;
    size_t capacity = capacity_for(rows);
    if (capacity > self->capacity) {
        struct stat now;
        if (fstat(self->file, &now) != 0) return sa_fail_errno("looked at", self->path);
        if ((size_t)now.st_size < end_of(self, capacity) &&
            ftruncate(self->file, (off_t)end_of(self, capacity)) != 0)
            return sa_fail_errno("made longer", self->path);
        SA_TRY(map_columns(self, capacity));
        hand_out(history);
    }
    return allocate(self, rows);
}

void sa_history_file_note(const sa_history *history) {
    sa_history_head *head = history->file->head;
    __atomic_store_n(&head->answered, history->answered, __ATOMIC_RELEASE); /* after the rows */
    __atomic_store_n(&head->count, history->count, __ATOMIC_RELEASE);
}

/* ---- life ---- */

static sa_status take(const sa_history *history, const char *path, int file, sa_history_file **out) {
    sa_history_file *self;
    sa_status status = sa_alloc_array(1, sizeof *self, &self);
    if (status == SA_OK) status = sa_copy_text(path, &self->path);
    if (status != SA_OK) {
        sa_free(self);
        close(file);
        return status;
    }
    self->file = file;
    self->size[0] = history->dim * sa_precision_bytes(history->precision);
    self->size[1] = sizeof(double);
    self->size[2] = sizeof(int64_t);
    self->size[3] = history->positions ? sizeof(int64_t) : 0;
    self->size[4] = history->discounted ? sizeof(double) : 0;
    for (size_t c = 0; c < COLUMNS; c++) self->row += self->size[c];
    *out = self;
    return SA_OK;
}

void sa_history_file_close(sa_history_file *file) {
    if (!file) return;
    unmap_columns(file, file->column, file->capacity);
    if (file->head) munmap(file->head, HEAD);
    close(file->file); /* and the lock with it */
    sa_free(file->path);
    sa_free(file);
}

static sa_status lock(const sa_history_file *self) {
    if (flock(self->file, LOCK_EX | LOCK_NB) == 0) return SA_OK;
    if (errno == EWOULDBLOCK)
        return sa_fail(SA_FILE, "the history %s is in use by another agent", self->path);
    return sa_fail_errno("locked", self->path);
}

static sa_status map_head(sa_history_file *self) {
    void *mapped = mmap(NULL, HEAD, PROT_READ | PROT_WRITE, MAP_SHARED, self->file, 0);
    if (mapped == MAP_FAILED) return sa_fail_errno("mapped", self->path);
    self->head = mapped;
    return SA_OK;
}

static sa_status write_head(const sa_history *history, sa_history_file *self) {
    errno = sa_reserve_file(self->file, 0, HEAD);
    if (errno) return sa_fail_errno("written", self->path);
    SA_TRY(map_head(self));
    return sa_history_head_fill(self->head, history, self->path);
}

sa_status sa_history_file_create(sa_history *history, const char *path) {
    const sa_history empty = *history;
    sa_history_file *self;
    sa_status status;
    SA_TRY(sa_history_check_name(path));
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST)
        return sa_fail(SA_FILE,
                       "--history %s exists: load its agent, give another name, or remove it if its agent "
                       "was never saved",
                       path);
    if (file < 0) return sa_fail_errno("written", path);
    SA_TRY_OR_FAIL(take(history, path, file, &self));
    history->file = self;
    SA_TRY_OR_FAIL(lock(self));
    SA_TRY_OR_FAIL(write_head(history, self));
    SA_TRY_OR_FAIL(sa_history_file_reserve(history, 1));
    return SA_OK;
fail:
    sa_history_file_close(history->file);
    *history = empty;
    unlink(path);
    return status;
}

/* ---- a file from before ---- */

static sa_status check_size(const sa_history_file *self, size_t least) {
    struct stat now;
    if (fstat(self->file, &now) != 0) return sa_fail_errno("looked at", self->path);
    if ((size_t)now.st_size >= least) return SA_OK;
    return sa_fail(SA_FORMAT, "the history %s is truncated: it has %lld bytes, and the agent's need %zu",
                   self->path, (long long)now.st_size, least);
}

static sa_status open_file(sa_history *history, sa_history_file *self, const sa_history_mark *mark) {
    if (mark->answered > mark->count || mark->count > SIZE_MAX / 4 / self->row)
        return sa_fail(SA_FORMAT, "the agent's count of its history is not sound");
    SA_TRY(lock(self));
    SA_TRY(check_size(self, HEAD));
    SA_TRY(map_head(self));
    SA_TRY(sa_history_head_check(self->head, history, mark, self->path));
    size_t capacity = capacity_for((size_t)mark->count);
    SA_TRY(check_size(self, end_of(self, capacity)));
    SA_TRY(map_columns(self, capacity));
    self->allocated = (size_t)mark->count / STEP * STEP;
    self->saved = mark->number;
    self->saved_count = (size_t)mark->count;
    return SA_OK;
}

sa_status sa_history_file_open(sa_history *history, const char *path, const sa_history_mark *mark) {
    sa_history_file *self;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return sa_fail_errno("opened, and the agent's history is there", path);
    SA_TRY(take(history, path, file, &self));
    sa_status status = open_file(history, self, mark);
    if (status != SA_OK) {
        sa_history_file_close(self);
        return status;
    }
    history->file = self;
    history->count = (size_t)mark->count;
    history->answered = (size_t)mark->answered;
    hand_out(history);
    return SA_OK;
}

sa_status sa_history_file_check_save(const sa_history_file *file, const char *path) {
    struct stat ours;
    if (fstat(file->file, &ours) != 0) return sa_fail_errno("looked at", file->path);
    if (sa_leads_to(path, &ours))
        return sa_fail(SA_INVALID,
                       "%s is the agent's history, which a saved agent needs: save it under another name",
                       path);
    if (sa_leads_to(file->path, &ours)) return SA_OK;
    return sa_fail(SA_FILE,
                   "the history %s was removed, moved or replaced while the agent uses it (or the program "
                   "has changed its "
                   "folder): an agent that is saved now could not be loaded",
                   file->path);
}

sa_status sa_history_file_sync(const sa_history *history, const sa_history_mark **mark) {
    sa_history_file *self = history->file;
    sa_history_head *head = self->head;
    bool is_new = self->saved == 0 || self->saved != head->mark || self->saved_count != history->count;
    if (is_new) head->issued++;
    self->mark = (sa_history_mark){.id = {head->id[0], head->id[1]},
                                   .number = is_new ? head->issued : head->mark,
                                   .count = history->count,
                                   .answered = history->answered};
    if (sa_sync_file(self->file) != 0)
        return sa_fail_errno("written", self->path); /* what is mapped included */
    *mark = &self->mark;
    return SA_OK;
}

void sa_history_file_saved(const sa_history *history) {
    sa_history_file *self = history->file;
    self->head->mark = self->saved = self->mark.number;
    self->saved_count = (size_t)self->mark.count;
}
