#include "process.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static double resident(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    bool read = file && fscanf(file, "%*u %llu", &pages) == 1;
    if (file) fclose(file);
    return read ? (double)pages * (double)sysconf(_SC_PAGESIZE) : NAN;
}

static double count_descriptors(void) {
    double count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return NAN;
    for (struct dirent *each; (each = readdir(folder));) count += each->d_name[0] != '.';
    closedir(folder);
    return count - 1; /* the one that this was read with */
}

static double size_of(DIR *folder, const char *name) {
    struct stat about;
    if (fstatat(dirfd(folder), name, &about, 0)) return NAN;
    return S_ISREG(about.st_mode) ? (double)about.st_size : 0;
}

static void look_at_files(const char *path, sv_process_facts *out) {
    DIR *folder = opendir(path);
    out->journal_bytes = out->log_bytes = out->folder_bytes = NAN;
    if (!folder) return;
    out->journal_bytes = size_of(folder, "journal.db");
    out->log_bytes = size_of(folder, "journal.db-wal");
    if (isnan(out->log_bytes)) out->log_bytes = 0; /* there is none */
    out->folder_bytes = 0;
    for (struct dirent *each; (each = readdir(folder));) {
        double size = each->d_name[0] == '.' ? 0 : size_of(folder, each->d_name);
        if (!isnan(size)) out->folder_bytes += size; /* else it has just been removed */
    }
    closedir(folder);
}

void sv_process_look(const char *folder, sv_process_facts *out) {
    struct statvfs disk;
    struct rlimit most;
    bool there = statvfs(folder, &disk) == 0, limited = getrlimit(RLIMIT_NOFILE, &most) == 0;
    out->resident_bytes = resident();
    out->descriptors = count_descriptors();
    out->descriptors_most = limited ? (double)most.rlim_cur : NAN;
    out->free_bytes = there ? (double)disk.f_bavail * (double)disk.f_frsize : NAN;
    out->disk_bytes = there ? (double)disk.f_blocks * (double)disk.f_frsize : NAN;
    look_at_files(folder, out);
}
