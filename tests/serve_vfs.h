/* A VFS under SQLite that behaves as a disk with a write cache: what was not synced is kept in memory and
 * never reaches the file. A process that dies is then a power cut. It can also fail: the n-th sync, or
 * every write, as a full disk does.
 *
 * Every open file of one name shares its cache, as connections of one process share the system's. The
 * log's index in shared memory goes to the system's VFS: it is made again after a crash anyway. */
#ifndef TESTS_SERVE_VFS_H
#define TESTS_SERVE_VFS_H

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { VFS_PAGE = 512, VFS_PAGES = 1 << 18, VFS_FILES = 16 };

typedef struct vfs_cache { /* of one file */
    char name[512];
    unsigned char *pages[VFS_PAGES]; /* not synced; NULL: as in the file */
    sqlite3_int64 size;              /* -1: as the file's */
    size_t dirty;
} vfs_cache;

typedef struct vfs_file {
    sqlite3_file base;
    vfs_cache *cache; /* NULL: goes straight through */
    sqlite3_file *real;
    bool database;
} vfs_file;

static struct {
    sqlite3_vfs vfs, *system;
    sqlite3_io_methods methods;
    vfs_cache *caches[VFS_FILES];
    size_t count;
    pthread_mutex_t lock;
    bool discards;                   /* keeps what is not synced in memory */
    volatile bool full, fails_syncs; /* every write is refused; every sync is */
    volatile bool fails_foldings;    /* every sync of a database is, and none of a log */
    volatile bool quota;             /* every write is, as where a quota is full */
    volatile long syncs, writes;
} vfs = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define VFS_REAL(file) (((vfs_file *)(file))->real)
#define VFS_LOCKED(expression)                                                                               \
    pthread_mutex_lock(&vfs.lock);                                                                           \
    int result = (expression);                                                                               \
    pthread_mutex_unlock(&vfs.lock);                                                                         \
    return result

static vfs_cache *vfs_cache_of(const char *name) {
    for (size_t i = 0; i < vfs.count; i++)
        if (!strcmp(vfs.caches[i]->name, name)) return vfs.caches[i];
    if (vfs.count == VFS_FILES) abort();
    vfs_cache *made = calloc(1, sizeof *made);
    if (!made) abort();
    strncpy(made->name, name, sizeof made->name - 1);
    made->size = -1;
    return vfs.caches[vfs.count++] = made;
}

static void vfs_forget(vfs_cache *cache) {
    for (size_t i = 0; i < VFS_PAGES; i++) {
        free(cache->pages[i]);
        cache->pages[i] = NULL;
    }
    cache->size = -1;
    cache->dirty = 0;
}

static int vfs_size_now(vfs_file *f, sqlite3_int64 *size) {
    if (f->cache && f->cache->size >= 0) {
        *size = f->cache->size;
        return SQLITE_OK;
    }
    return f->real->pMethods->xFileSize(f->real, size);
}

/* The page as it is seen now: of the file, with what was not synced over it. */
static int vfs_page(vfs_file *f, size_t number, unsigned char out[VFS_PAGE]) {
    sqlite3_int64 size, at = (sqlite3_int64)number * VFS_PAGE;
    memset(out, 0, VFS_PAGE);
    if (f->cache->pages[number]) {
        memcpy(out, f->cache->pages[number], VFS_PAGE);
        return SQLITE_OK;
    }
    int result = f->real->pMethods->xFileSize(f->real, &size);
    if (result != SQLITE_OK || at >= size) return result;
    result = f->real->pMethods->xRead(f->real, out, VFS_PAGE, at);
    return result == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : result;
}

static int vfs_read_cached(vfs_file *f, char *to, int count, sqlite3_int64 at) {
    sqlite3_int64 size;
    unsigned char page[VFS_PAGE];
    int result = vfs_size_now(f, &size);
    for (int done = 0; result == SQLITE_OK && done < count;) {
        size_t number = (size_t)((at + done) / VFS_PAGE), offset = (size_t)((at + done) % VFS_PAGE);
        int part = (int)(VFS_PAGE - offset) < count - done ? (int)(VFS_PAGE - offset) : count - done;
        if (number >= VFS_PAGES) return SQLITE_IOERR_READ;
        result = vfs_page(f, number, page);
        memcpy(to + done, page + offset, (size_t)part);
        done += part;
    }
    if (result != SQLITE_OK || at + count <= size) return result;
    sqlite3_int64 there = at >= size ? 0 : size - at;
    memset(to + there, 0, (size_t)(count - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int vfs_write_cached(vfs_file *f, const char *from, int count, sqlite3_int64 at) {
    sqlite3_int64 size;
    unsigned char page[VFS_PAGE];
    int result = vfs_size_now(f, &size);
    for (int done = 0; result == SQLITE_OK && done < count;) {
        size_t number = (size_t)((at + done) / VFS_PAGE), offset = (size_t)((at + done) % VFS_PAGE);
        int part = (int)(VFS_PAGE - offset) < count - done ? (int)(VFS_PAGE - offset) : count - done;
        if (number >= VFS_PAGES) return SQLITE_FULL;
        result = vfs_page(f, number, page);
        memcpy(page + offset, from + done, (size_t)part);
        if (!f->cache->pages[number] && !(f->cache->pages[number] = malloc(VFS_PAGE))) abort();
        memcpy(f->cache->pages[number], page, VFS_PAGE);
        f->cache->dirty++;
        done += part;
    }
    if (result == SQLITE_OK) f->cache->size = at + count > size ? at + count : size;
    return result;
}

static int vfs_flush(vfs_file *f) {
    vfs_cache *cache = f->cache;
    int result = SQLITE_OK;
    if (cache->size >= 0) result = f->real->pMethods->xTruncate(f->real, cache->size);
    for (size_t i = 0; result == SQLITE_OK && cache->dirty && i < VFS_PAGES; i++) {
        sqlite3_int64 at = (sqlite3_int64)i * VFS_PAGE;
        if (!cache->pages[i] || at >= cache->size) continue;
        int part = cache->size - at < VFS_PAGE ? (int)(cache->size - at) : VFS_PAGE;
        result = f->real->pMethods->xWrite(f->real, cache->pages[i], part, at);
    }
    if (result == SQLITE_OK) vfs_forget(cache);
    return result;
}

static int vfs_x_close(sqlite3_file *f) { return VFS_REAL(f)->pMethods->xClose(VFS_REAL(f)); }
static int vfs_x_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at) {
    if (!((vfs_file *)f)->cache) return VFS_REAL(f)->pMethods->xRead(VFS_REAL(f), to, n, at);
    VFS_LOCKED(vfs_read_cached((vfs_file *)f, to, n, at));
}
static int vfs_x_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at) {
    vfs.writes++;
    if (vfs.full) return SQLITE_FULL;
    if (vfs.quota) return SQLITE_IOERR_WRITE;
    if (!((vfs_file *)f)->cache) return VFS_REAL(f)->pMethods->xWrite(VFS_REAL(f), from, n, at);
    VFS_LOCKED(vfs_write_cached((vfs_file *)f, from, n, at));
}
static int vfs_cut(vfs_file *f, sqlite3_int64 size) {
    f->cache->size = size;
    f->cache->dirty++;
    return SQLITE_OK;
}
static int vfs_x_truncate(sqlite3_file *f, sqlite3_int64 size) {
    if (!((vfs_file *)f)->cache) return VFS_REAL(f)->pMethods->xTruncate(VFS_REAL(f), size);
    VFS_LOCKED(vfs_cut((vfs_file *)f, size));
}
static int vfs_x_sync(sqlite3_file *f, int flags) {
    vfs.syncs++;
    if (vfs.fails_syncs || (vfs.fails_foldings && ((vfs_file *)f)->database)) return SQLITE_IOERR_FSYNC;
    if (!((vfs_file *)f)->cache) return VFS_REAL(f)->pMethods->xSync(VFS_REAL(f), flags);
    VFS_LOCKED(vfs_flush((vfs_file *)f));
}
static int vfs_x_size(sqlite3_file *f, sqlite3_int64 *size) { VFS_LOCKED(vfs_size_now((vfs_file *)f, size)); }
static int vfs_x_lock(sqlite3_file *f, int kind) { return VFS_REAL(f)->pMethods->xLock(VFS_REAL(f), kind); }
static int vfs_x_unlock(sqlite3_file *f, int kind) {
    return VFS_REAL(f)->pMethods->xUnlock(VFS_REAL(f), kind);
}
static int vfs_x_check(sqlite3_file *f, int *out) {
    return VFS_REAL(f)->pMethods->xCheckReservedLock(VFS_REAL(f), out);
}
static int vfs_x_control(sqlite3_file *f, int op, void *arg) {
    if (vfs.quota && op == SQLITE_FCNTL_LAST_ERRNO) return *(int *)arg = EDQUOT, SQLITE_OK;
    return VFS_REAL(f)->pMethods->xFileControl(VFS_REAL(f), op, arg);
}
static int vfs_x_sector(sqlite3_file *f) { return VFS_REAL(f)->pMethods->xSectorSize(VFS_REAL(f)); }
static int vfs_x_traits(sqlite3_file *f) {
    return VFS_REAL(f)->pMethods->xDeviceCharacteristics(VFS_REAL(f));
}
static int vfs_x_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return VFS_REAL(f)->pMethods->xShmMap(VFS_REAL(f), page, size, extend, out);
}
static int vfs_x_shm_lock(sqlite3_file *f, int at, int n, int flags) {
    return VFS_REAL(f)->pMethods->xShmLock(VFS_REAL(f), at, n, flags);
}
static void vfs_x_barrier(sqlite3_file *f) { VFS_REAL(f)->pMethods->xShmBarrier(VFS_REAL(f)); }
static int vfs_x_unmap(sqlite3_file *f, int remove) {
    return VFS_REAL(f)->pMethods->xShmUnmap(VFS_REAL(f), remove);
}

static int vfs_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out) {
    vfs_file *f = (vfs_file *)file;
    (void)self;
    f->real = (sqlite3_file *)(f + 1);
    f->base.pMethods = NULL;
    f->database = flags & SQLITE_OPEN_MAIN_DB;
    int result = vfs.system->xOpen(vfs.system, name, f->real, flags, out);
    if (f->real->pMethods) f->base.pMethods = &vfs.methods;
    pthread_mutex_lock(&vfs.lock);
    f->cache =
        vfs.discards && name && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) ? vfs_cache_of(name) : NULL;
    pthread_mutex_unlock(&vfs.lock);
    return result;
}
static int vfs_delete(sqlite3_vfs *self, const char *name, int sync) {
    return (void)self, vfs.system->xDelete(vfs.system, name, sync);
}
static int vfs_access(sqlite3_vfs *self, const char *name, int flags, int *out) {
    return (void)self, vfs.system->xAccess(vfs.system, name, flags, out);
}
static int vfs_full_name(sqlite3_vfs *self, const char *name, int size, char *out) {
    return (void)self, vfs.system->xFullPathname(vfs.system, name, size, out);
}

/* From here on SQLite uses it; before the first database is opened. */
static void vfs_register(bool discards) {
    vfs.system = sqlite3_vfs_find(NULL);
    vfs.discards = discards;
    vfs.methods = (sqlite3_io_methods){2,
                                       vfs_x_close,
                                       vfs_x_read,
                                       vfs_x_write,
                                       vfs_x_truncate,
                                       vfs_x_sync,
                                       vfs_x_size,
                                       vfs_x_lock,
                                       vfs_x_unlock,
                                       vfs_x_check,
                                       vfs_x_control,
                                       vfs_x_sector,
                                       vfs_x_traits,
                                       vfs_x_map,
                                       vfs_x_shm_lock,
                                       vfs_x_barrier,
                                       vfs_x_unmap,
                                       NULL,
                                       NULL};
    vfs.vfs = *vfs.system;
    vfs.vfs.pNext = NULL;
    vfs.vfs.zName = "cached";
    vfs.vfs.szOsFile = (int)sizeof(vfs_file) + vfs.system->szOsFile;
    vfs.vfs.xOpen = vfs_open;
    vfs.vfs.xDelete = vfs_delete;
    vfs.vfs.xAccess = vfs_access;
    vfs.vfs.xFullPathname = vfs_full_name;
    sqlite3_vfs_register(&vfs.vfs, 1);
}

#endif
