/* Feeds files to a fuzz target: its corpus in the normal tests, or the file of a crash in a debugger. */
#include <dirent.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "fuzz_memory_file.h"

static int feed(const char *path) {
    char *text;
    size_t size;
    if (sa_file_read(path, &text, &size) != SA_OK) {
        fprintf(stderr, "%s\n", sa_last_error());
        return 0;
    }
    uint8_t *data = malloc(size ? size : 1); /* of just that size, so that a sanitizer sees a read beyond */
    memcpy(data, text, size);
    sa_free(text);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int feed_folder(const char *path, DIR *folder) {
    int fed = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char *file;
        if (entry->d_name[0] == '.' || sa_format(&file, "%s/%s", path, entry->d_name) != SA_OK) continue;
        fed += feed(file);
        sa_free(file);
    }
    return fed;
}

int main(int count, char **arguments) {
    int fed = 0;
    for (int i = 1; i < count; i++) {
        DIR *folder = opendir(arguments[i]);
        fed += folder ? feed_folder(arguments[i], folder) : feed(arguments[i]);
        if (folder) closedir(folder);
    }
    printf("%d inputs\n", fed);
    return fed ? 0 : 1;
}
