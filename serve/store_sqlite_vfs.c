/* A layer under SQLite that counts and times fsync, which is what a commit waits for, and that writes no
 * leftovers of what was erased. Everything else goes straight through.
 *
 * SQLite overwrites what it frees (secure_delete), but for one case: where it builds a page of a tree again
 * with fewer entries, the bytes between the list of entries and the first of them stay as they were, and can
 * hold a copy of an entry that went to another page long ago. Nobody reads them; they are written as 0. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "store_sqlite.h"

typedef struct counted_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct, in the same block */
    bool database;      /* not a log */
} counted_file;

static sqlite3_vfs counting;
static sqlite3_io_methods methods; /* of a file of the system's VFS, but ours */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint_fast64_t sync_count, sync_nanoseconds, sync_powers[24];

#define REAL(file) (((counted_file *)(file))->real)

static int file_close(sqlite3_file *f) { return REAL(f)->pMethods->xClose(REAL(f)); }
static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at) {
    return REAL(f)->pMethods->xRead(REAL(f), to, n, at);
}

enum { PAGE = 4096, PAGES_OF_A_MAP = PAGE / 5 + 1, FIRST_HEADER = 100 };

static unsigned two_bytes(const unsigned char *at) { return (unsigned)at[0] << 8 | at[1]; }

/* A page of a tree begins with its kind (2, 5, 10, 13), first free block, number of entries and place of the
 * first of them (SQLite's file format, 1.6); entries' places follow, behind 8 bytes, or 12 where it has
 * children. Other pages begin with a page's number, whose first byte is 0 below 2^24 pages, but for the maps
 * of an auto_vacuum database, whose places are known. `copy`: the page without what lies between. */
static bool without_leftovers(const unsigned char *page, sqlite3_int64 number, unsigned char copy[PAGE]) {
    if (number >= 1 << 24 || (number - 2) % PAGES_OF_A_MAP == 0) return false;
    const unsigned char *head = page + (number == 1 ? FIRST_HEADER : 0);
    bool leaf = *head == 10 || *head == 13;
    if (!leaf && *head != 2 && *head != 5) return false;
    unsigned begin = (unsigned)(head - page) + (leaf ? 8 : 12) + 2 * two_bytes(head + 3);
    unsigned end = two_bytes(head + 5);
    if (begin >= end || end > PAGE) return false;
    memcpy(copy, page, PAGE);
    memset(copy + begin, 0, end - begin);
    return true;
}

/* SQLite knows a disk that is full. A quota and a file that may not grow are alike: nothing was written,
 * and there may be room again. */
static bool is_room_missing(sqlite3_file *f) {
    int error = 0;
    return REAL(f)->pMethods->xFileControl(REAL(f), SQLITE_FCNTL_LAST_ERRNO, &error) == SQLITE_OK &&
           (error == EDQUOT || error == EFBIG || error == ENOSPC);
}

static int file_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at) {
    unsigned char copy[PAGE];
    if (((counted_file *)f)->database && n == PAGE && at % PAGE == 0 &&
        without_leftovers(from, at / PAGE + 1, copy))
        from = copy;
    int result = REAL(f)->pMethods->xWrite(REAL(f), from, n, at);
    return result == SQLITE_IOERR_WRITE && is_room_missing(f) ? SQLITE_FULL : result;
}
static int file_truncate(sqlite3_file *f, sqlite3_int64 size) {
    return REAL(f)->pMethods->xTruncate(REAL(f), size);
}
static int file_size(sqlite3_file *f, sqlite3_int64 *size) {
    return REAL(f)->pMethods->xFileSize(REAL(f), size);
}
static int file_lock(sqlite3_file *f, int kind) { return REAL(f)->pMethods->xLock(REAL(f), kind); }
static int file_unlock(sqlite3_file *f, int kind) { return REAL(f)->pMethods->xUnlock(REAL(f), kind); }
static int file_check(sqlite3_file *f, int *out) {
    return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out);
}
static int file_control(sqlite3_file *f, int op, void *arg) {
    return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}
static int file_sector(sqlite3_file *f) { return REAL(f)->pMethods->xSectorSize(REAL(f)); }
static int file_traits(sqlite3_file *f) { return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f)); }
static int shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, out);
}
static int shm_lock(sqlite3_file *f, int at, int n, int flags) {
    return REAL(f)->pMethods->xShmLock(REAL(f), at, n, flags);
}
static void shm_barrier(sqlite3_file *f) { REAL(f)->pMethods->xShmBarrier(REAL(f)); }
static int shm_unmap(sqlite3_file *f, int remove) { return REAL(f)->pMethods->xShmUnmap(REAL(f), remove); }

static int file_sync(sqlite3_file *f, int flags) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    int result = REAL(f)->pMethods->xSync(REAL(f), flags);
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t spent = (uint64_t)((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec);
    int power = 0;
    while (power < 23 && spent / 1000 >> power) power++;
    atomic_fetch_add(&sync_count, 1);
    atomic_fetch_add(&sync_nanoseconds, spent);
    atomic_fetch_add(&sync_powers[power], 1);
    return result;
}

static sqlite3_vfs *system_vfs(void) { return counting.pAppData; }

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)self;
    counted_file *counted = (counted_file *)file;
    counted->real = (sqlite3_file *)(counted + 1);
    counted->base.pMethods = NULL;
    counted->database = flags & SQLITE_OPEN_MAIN_DB;
    int result = system_vfs()->xOpen(system_vfs(), name, counted->real, flags, out);
    if (counted->real->pMethods) counted->base.pMethods = &methods;
    return result;
}

static int remove_file(sqlite3_vfs *v, const char *name, int sync) {
    return (void)v, system_vfs()->xDelete(system_vfs(), name, sync);
}
static int access_file(sqlite3_vfs *v, const char *name, int flags, int *out) {
    return (void)v, system_vfs()->xAccess(system_vfs(), name, flags, out);
}
static int full_name(sqlite3_vfs *v, const char *name, int size, char *out) {
    return (void)v, system_vfs()->xFullPathname(system_vfs(), name, size, out);
}

static void make(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS,
                   0); /* or all connections share one lock for each block of memory */
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (!system) return;
    methods = (sqlite3_io_methods){
        2,         file_close,  file_read,  file_write,   file_truncate, file_sync,   file_size,
        file_lock, file_unlock, file_check, file_control, file_sector,   file_traits, shm_map,
        shm_lock,  shm_barrier, shm_unmap,  NULL,         NULL};
    counting = *system; /* randomness, time and the rest do not look at which VFS they are called with */
    counting.pAppData = system;
    counting.pNext = NULL;
    counting.zName = "superarm";
    counting.szOsFile = (int)sizeof(counted_file) + system->szOsFile;
    counting.xOpen = open_file;
    counting.xDelete = remove_file;
    counting.xAccess = access_file;
    counting.xFullPathname = full_name;
    sqlite3_vfs_register(&counting, 0);
}

const char *sv_sqlite_vfs(void) {
    pthread_once(&once, make);
    return counting.zName;
}

void sv_store_syncs_read(sv_store_syncs *out) {
    out->count = atomic_load(&sync_count);
    out->seconds = (double)atomic_load(&sync_nanoseconds) / 1e9;
    for (int i = 0; i < 24; i++) out->by_power[i] = atomic_load(&sync_powers[i]);
}
