#include "evaluation_files.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 4 << 20 };

static const char *const ENDS[] = {
#define EVALUATION_END(name, end) end,
    EVALUATION_FILES(EVALUATION_END)
#undef EVALUATION_END
};

void sv_evaluation_path(const char *begin, sv_evaluation_file file, sa_buffer *out) {
    out->size = 0;
    sa_buffer_format(out, "%s%s", begin, ENDS[file]);
}

bool sv_evaluation_read(const char *begin, sv_evaluation_file file, sa_buffer *out) {
    sa_buffer path = {0};
    char block[1 << 14];
    size_t size;
    sv_evaluation_path(begin, file, &path);
    FILE *from = path.status ? NULL : fopen(path.text, "rb");
    while (from && out->size < MOST && (size = fread(block, 1, sizeof block, from)))
        sa_buffer_bytes(out, block, size);
    bool good = from && !ferror(from) && !out->status && out->size && out->size < MOST;
    if (from) fclose(from);
    sa_buffer_clear(&path);
    return good;
}

bool sv_evaluation_write(const char *begin, sv_evaluation_file file, const sa_buffer *text) {
    sa_buffer path = {0};
    sv_evaluation_path(begin, file, &path);
    FILE *to = path.status || text->status ? NULL : fopen(path.text, "wb");
    bool good = to && fwrite(text->text, 1, text->size, to) == text->size;
    good = to && !fclose(to) && good;
    sa_buffer_clear(&path);
    return good;
}

/* Also what a helper that was ended left half written. */
void sv_evaluation_remove(const char *begin) {
    const char *slash = strrchr(begin, '/'), *name = slash ? slash + 1 : begin;
    size_t length = strlen(name);
    sa_buffer path = {0};
    sa_buffer_bytes(&path, begin, (size_t)(name - begin));
    sa_buffer_text(&path, ".");
    DIR *folder = path.status ? NULL : opendir(path.text);
    for (struct dirent *each; folder && (each = readdir(folder));)
        if (!strncmp(each->d_name, name, length) && strchr(".-", each->d_name[length]))
            unlinkat(dirfd(folder), each->d_name, 0);
    if (folder) closedir(folder);
    sa_buffer_clear(&path);
}
