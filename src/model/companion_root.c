#define SA_REAL_BITS 64
#include "model/companion_root.h"

#include <math.h>

#include "base/memory.h"
#include "linalg/triangle.h"
#include "linalg/triangle_file.h"

struct sa_companion_root {
    triangle_f64 factor;
};

sa_status sa_companion_root_create(size_t dim, const sa_companion_root *from, sa_companion_root **out) {
    sa_companion_root *root;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *root, &root));
    if (from) {
        SA_TRY_OR_FAIL(triangle_share_f64(&root->factor, &from->factor));
        SA_TRY_OR_FAIL(triangle_unshare_f64(&root->factor));
    } else {
        SA_TRY_OR_FAIL(triangle_diagonal_f64(&root->factor, dim, 1));
    }
    *out = root;
    return SA_OK;
fail:
    sa_companion_root_destroy(root);
    return status;
}

void sa_companion_root_destroy(sa_companion_root *root) {
    if (!root) return;
    triangle_clear_f64(&root->factor);
    sa_free(root);
}

void sa_companion_root_assign(sa_companion_root *root, size_t dim, const double *factor) {
    triangle_assign_f64(&root->factor, dim, factor);
}

void sa_companion_root_scale(sa_companion_root *root, size_t i, double s) {
    triangle_scale_row_f64(&root->factor, i, s);
}

size_t sa_companion_root_columns(size_t columns) { return sa_padded_columns(columns); }

void sa_companion_root_solve(const sa_companion_root *root, double *b, size_t columns) {
    triangle_solve_f64(&root->factor, b, columns);
}

sa_status sa_companion_root_save(const sa_companion_root *root, sa_npz_writer *writer) {
    return triangle_save_f64(&root->factor, writer, "companion_root");
}

sa_status sa_companion_root_load(sa_companion_root *root, size_t dim, sa_npz *archive) {
    triangle_clear_f64(&root->factor);
    SA_TRY(triangle_load_f64(&root->factor, archive, "companion_root", dim));
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++)
            if (!isfinite(triangle_get_f64(&root->factor, i, j)))
                return sa_fail(SA_FORMAT, "the agent's companion has a root that is not finite");
    return SA_OK;
}
