/* Any bytes as an svmlight file: queries of documents come out, or a sentence that names the file. */
#include <math.h>

#include "env/svmlight_file.h"
#include "fuzz_memory_file.h"

static void use(const sa_svmlight *file) {
    if (file->queries == 0 || file->dim == 0 || file->least == 0 || file->least > file->most) abort();
    if (file->query[0] != 0 || file->query[file->queries] != file->documents) abort();
    if (file->document[0] != 0 || file->document[file->documents] != file->features) abort();
    for (size_t i = 0; i < file->queries; i++)
        if (file->query[i] >= file->query[i + 1]) abort();
    for (size_t i = 0; i < file->documents; i++) {
        if (file->grade[i] > file->largest_grade || file->document[i] > file->document[i + 1]) abort();
        for (size_t j = file->document[i]; j < file->document[i + 1]; j++) {
            if (file->index[j] >= file->dim || !isfinite(file->value[j])) abort();
            if (j > file->document[i] && file->index[j] <= file->index[j - 1]) abort();
        }
    }
    if (file->dim > 100000) return;
    double *features = malloc(file->dim * sizeof *features);
    sa_svmlight_row(file, file->documents - 1, features);
    free(features);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sa_svmlight file;
    if (sa_svmlight_parse((const char *)data, size, "fuzz.txt", &file) == SA_OK)
        use(&file);
    else if (strncmp(sa_last_error(), "fuzz.txt", 8) || file.value)
        abort();
    sa_svmlight_clear(&file);
    return 0;
}
