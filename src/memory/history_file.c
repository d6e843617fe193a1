#include "agent/history_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/reals.h"
#include "base/file.h"
#include "base/memory.h"
#include <superarm/agent.h>

static const char MAGIC[16] = "superarm history";
static const uint64_t VERSION = 1, BYTE_ORDER_MARK = 0x0102030405060708;
enum {
    HEAD = 65536,     /* bytes; blocks begin at multiples of it, whatever the size of a page */
    FIRST = 16384,    /* rows of the first segment: times any whole number of 4 bytes a multiple of HEAD */
    STEP = 4096,      /* rows that disk space is asked for at a time */
    COLUMNS = 5,      /* contexts, scores, starts, positions, discounts */
    MOST_FORKS = 1000 /* that are remembered */
};

/* From `row` on, the file belongs to `branch` and later ones. */
typedef struct fork_at {
    uint64_t branch, row;
} fork_at;

typedef struct file_head {
    char magic[16];
    uint64_t version, byte_order;
    uint64_t dim, real_bytes, positions, discounted; /* the last two: are there any? */
    uint64_t id[2];
    uint64_t count, answered;
    uint64_t branch;
    uint64_t oldest_branch; /* that forks are still known of */
    uint64_t forks;
    fork_at fork[MOST_FORKS]; /* (forks) rising in both */
    uint64_t of_run;          /* of an experiment, which nobody needs once the run is over */
} file_head;

struct sa_history_file {
    char *path;
    int file;
    file_head *head;       /* mapped */
    size_t size[COLUMNS];  /* bytes of a row's element; 0: there is no such column */
    size_t row;            /* their sum */
    size_t capacity;       /* rows mapped: 0, or FIRST times a power of 2 */
    size_t allocated;      /* rows that there is disk space for */
    char *column[COLUMNS]; /* mapped */
    sa_history_mark mark;  /* as of the last sync */
};

_Static_assert(sizeof(file_head) <= HEAD, "the head is too small");

/* ---- where things are ---- */

static size_t before(size_t capacity) { return capacity == FIRST ? 0 : capacity / 2; } /* rows before its last segment */

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
    char *base = mmap(NULL, capacity * self->size[c], PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return sa_fail_errno("mapped", self->path);
    *out = base;
    for (size_t part = FIRST; part <= capacity; part *= 2) {
        size_t first = before(part), bytes = (part - first) * self->size[c];
        if (mmap(base + first * self->size[c], bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, self->file,
                 (off_t)place(self, c, part, first)) == MAP_FAILED)
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
    history->discount = (double *)(void *)self->column[4];
    history->capacity = history->answered_capacity = self->capacity;
}

/* ---- growing ---- */

static sa_status allocate(sa_history_file *self, size_t rows) {
    while (self->allocated < rows) {
        size_t first = self->allocated, capacity = capacity_for(first + 1);
        for (size_t c = 0; c < COLUMNS; c++) {
            if (self->size[c] == 0) continue;
            errno = posix_fallocate(self->file, (off_t)place(self, c, capacity, first), (off_t)(STEP * self->size[c]));
            if (errno) return sa_fail_errno("made longer", self->path);
        }
        self->allocated += STEP; /* which segments are whole numbers of */
    }
    return SA_OK;
}

void sa_history_file_go_on(const sa_history *history) {
    file_head *head = history->file->head;
    if (head->count <= history->count) return;
    while (head->forks && head->fork[head->forks - 1].row >= history->count) head->forks--;
    if (head->forks == MOST_FORKS) {
        head->oldest_branch = head->fork[0].branch;
        memmove(head->fork, head->fork + 1, --head->forks * sizeof *head->fork);
    }
    head->branch++;
    head->fork[head->forks++] = (fork_at){head->branch, history->count};
    sa_history_file_note(history);
}

sa_status sa_history_file_reserve(sa_history *history, size_t rows) {
    sa_history_file *self = history->file;
    size_t capacity = capacity_for(rows);
    if (capacity > self->capacity) {
        struct stat now;
        if (fstat(self->file, &now) != 0) return sa_fail_errno("looked at", self->path);
        if ((size_t)now.st_size < end_of(self, capacity) && ftruncate(self->file, (off_t)end_of(self, capacity)) != 0)
            return sa_fail_errno("made longer", self->path);
        SA_TRY(map_columns(self, capacity));
        hand_out(history);
    }
    return allocate(self, rows);
}

void sa_history_file_note(const sa_history *history) {
    file_head *head = history->file->head;
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
    if (errno == EWOULDBLOCK) return sa_fail(SA_FILE, "the history %s is in use by another agent", self->path);
    return sa_fail_errno("locked", self->path);
}

static sa_status map_head(sa_history_file *self) {
    void *mapped = mmap(NULL, HEAD, PROT_READ | PROT_WRITE, MAP_SHARED, self->file, 0);
    if (mapped == MAP_FAILED) return sa_fail_errno("mapped", self->path);
    self->head = mapped;
    return SA_OK;
}

static sa_status write_head(const sa_history *history, sa_history_file *self) {
    errno = posix_fallocate(self->file, 0, HEAD);
    if (errno) return sa_fail_errno("written", self->path);
    SA_TRY(map_head(self));
    file_head *head = self->head;
    memcpy(head->magic, MAGIC, sizeof head->magic);
    head->version = VERSION;
    head->byte_order = BYTE_ORDER_MARK;
    head->dim = history->dim;
    head->real_bytes = sa_precision_bytes(history->precision);
    head->positions = history->positions > 0;
    head->discounted = history->discounted;
    head->of_run = history->of_run;
    if (getrandom(head->id, sizeof head->id, 0) != (ssize_t)sizeof head->id) return sa_fail_errno("named", self->path);
    return SA_OK;
}

static sa_status check_name(const char *path) {
    return strchr(path, '\n') ? sa_fail(SA_INVALID, "--history: a name must not have a line break") : SA_OK;
}

sa_status sa_history_file_create(sa_history *history, const char *path) {
    sa_history_file *self;
    sa_status status;
    SA_TRY(check_name(path));
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST)
        return sa_fail(SA_FILE, "--history %s exists: load the agent that it belongs to, or give another name", path);
    if (file < 0) return sa_fail_errno("written", path);
    SA_TRY_OR_FAIL(take(history, path, file, &self));
    history->file = self;
    SA_TRY_OR_FAIL(lock(self));
    SA_TRY_OR_FAIL(write_head(history, self));
    SA_TRY_OR_FAIL(sa_history_file_reserve(history, 1));
    return SA_OK;
fail:
    sa_history_file_close(history->file);
    *history = (sa_history){.precision = history->precision,
                            .dim = history->dim,
                            .positions = history->positions,
                            .discounted = history->discounted,
                            .of_run = history->of_run};
    unlink(path);
    return status;
}

/* ---- a file from before ---- */

static sa_status check_branch(const sa_history_file *self, const sa_history_mark *mark) {
    const file_head *head = self->head;
    uint64_t shared = head->count;
    for (uint64_t i = head->forks; i-- > 0 && head->fork[i].branch > mark->branch;) shared = head->fork[i].row;
    if (mark->branch < head->oldest_branch || mark->branch > head->branch || mark->count > shared)
        return sa_fail(
            SA_FORMAT,
            "the history %s has %llu observations of this saved agent's %llu: it went on with another copy of the "
            "agent, or has lost what came last",
            self->path, (unsigned long long)shared, (unsigned long long)mark->count);
    return SA_OK;
}

static sa_status check_head(const sa_history *history, const sa_history_file *self, const sa_history_mark *mark) {
    const file_head *head = self->head;
    if (head->version > VERSION)
        return sa_fail(SA_NEWER, "the history %s is of format %llu, newer than %llu, the newest that this version reads",
                       self->path, (unsigned long long)head->version, (unsigned long long)VERSION);
    if (head->byte_order != BYTE_ORDER_MARK || head->version == 0)
        return sa_fail(SA_FORMAT, "the history %s is damaged, or of a machine with another order of bytes", self->path);
    if (memcmp(head->id, mark->id, sizeof head->id) != 0)
        return sa_fail(SA_FORMAT, "the history %s belongs to another agent", self->path);
    if (head->dim != history->dim || head->real_bytes != sa_precision_bytes(history->precision) ||
        head->positions != (history->positions > 0) || head->discounted != history->discounted || head->forks > MOST_FORKS)
        return sa_fail(SA_FORMAT, "the history %s is damaged: its observations are of another shape", self->path);
    return check_branch(self, mark);
}

static sa_status check_size(const sa_history_file *self, size_t least) {
    struct stat now;
    if (fstat(self->file, &now) != 0) return sa_fail_errno("looked at", self->path);
    if ((size_t)now.st_size >= least) return SA_OK;
    return sa_fail(SA_FORMAT, "the history %s is truncated: it has %lld bytes, and the agent's need %zu", self->path,
                   (long long)now.st_size, least);
}

static sa_status open_file(sa_history *history, sa_history_file *self, const sa_history_mark *mark) {
    if (mark->answered > mark->count || mark->count > SIZE_MAX / 4 / self->row)
        return sa_fail(SA_FORMAT, "the agent's count of its history is not sound");
    SA_TRY(lock(self));
    SA_TRY(check_size(self, HEAD));
    SA_TRY(map_head(self));
    if (memcmp(self->head->magic, MAGIC, sizeof MAGIC) != 0)
        return sa_fail(SA_FORMAT, "%s is not a history of an agent", self->path);
    SA_TRY(check_head(history, self, mark));
    size_t capacity = capacity_for((size_t)mark->count);
    SA_TRY(check_size(self, end_of(self, capacity)));
    SA_TRY(map_columns(self, capacity));
    self->allocated = (size_t)mark->count / STEP * STEP;
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

static bool leads_to(const char *path, const struct stat *file) {
    struct stat found;
    return stat(path, &found) == 0 && found.st_dev == file->st_dev && found.st_ino == file->st_ino;
}

sa_status sa_history_file_check_save(const sa_history_file *file, const char *path) {
    struct stat ours;
    if (fstat(file->file, &ours) != 0) return sa_fail_errno("looked at", file->path);
    if (leads_to(path, &ours))
        return sa_fail(SA_INVALID, "%s is the agent's history, which a saved agent needs: save it under another name",
                       path);
    if (leads_to(file->path, &ours)) return SA_OK;
    return sa_fail(SA_FILE,
                   "the history %s was removed, moved or replaced while the agent uses it (or the program has changed its "
                   "folder): an agent that is saved now could not be loaded",
                   file->path);
}

sa_status sa_history_file_sync(const sa_history *history, const sa_history_mark **mark) {
    sa_history_file *self = history->file;
    const file_head *head = self->head;
    if (fsync(self->file) != 0) return sa_fail_errno("written", self->path); /* what is mapped included */
    self->mark = (sa_history_mark){
        .id = {head->id[0], head->id[1]}, .branch = head->branch, .count = history->count, .answered = history->answered};
    *mark = &self->mark;
    return SA_OK;
}

bool sa_is_history(const char *path) {
    char magic[sizeof MAGIC];
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return false;
    bool is_one = read(file, magic, sizeof magic) == (ssize_t)sizeof magic && !memcmp(magic, MAGIC, sizeof magic);
    close(file);
    return is_one;
}

/* ---- what a run left ---- */

/* Nothing but histories of runs has the mark; one that is in use is locked, or has just made way for another. */
static sa_status check_left(int file, const char *path, bool alone) {
    char magic[sizeof MAGIC];
    uint64_t of_run = 0;
    struct stat ours;
    if (pread(file, magic, sizeof magic, 0) != (ssize_t)sizeof magic || memcmp(magic, MAGIC, sizeof magic) != 0)
        return sa_fail(SA_FILE, "--history %s exists, and is no history: give another name", path);
    if (pread(file, &of_run, sizeof of_run, offsetof(file_head, of_run)) != (ssize_t)sizeof of_run || of_run != 1)
        return sa_fail(SA_FILE, "--history %s exists, and belongs to an agent: give another name", path);
    bool locked = flock(file, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) return sa_fail_errno("locked", path);
    if (!locked || fstat(file, &ours) != 0 || !leads_to(path, &ours))
        return sa_fail(SA_FILE, "--history %s is in use by another run: wait for its end, or give another name", path);
    return SA_OK;
}

sa_status sa_run_history(const char *path, bool remove) {
    struct stat about;
    SA_TRY(check_name(path));
    if (lstat(path, &about) != 0) return errno == ENOENT ? SA_OK : sa_fail_errno("written", path);
    if (!S_ISREG(about.st_mode))
        return sa_fail(SA_FILE, "--history %s exists, and is no history: give another name", path);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return sa_fail_errno("read", path);
    sa_status status = check_left(file, path, remove);
    if (status == SA_OK && remove && unlink(path) != 0) status = sa_fail_errno("removed", path);
    close(file); /* and the lock with it */
    return status;
}
