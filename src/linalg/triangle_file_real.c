#include "linalg/triangle_file.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const sa_dtype dtype = SA_REAL_BITS == 32 ? SA_FLOAT32 : SA_FLOAT64;

static size_t panels_for(size_t n) { return n / SA_PANEL + (n % SA_PANEL != 0); }

sa_status REAL(triangle_save)(const REAL(triangle) * factor, sa_npz_writer *writer, const char *name) {
    size_t panels = panels_for(factor->n), elements = 0, *bytes;
    SA_TRY(sa_alloc_array(panels, sizeof *bytes, &bytes));
    for (size_t i = 0; i < panels; i++) {
        bytes[i] = sa_panel_elements(i) * sizeof(real);
        elements += sa_panel_elements(i);
    }
    sa_status status = sa_npz_add_pieces(writer, name, dtype, 1, &elements, panels,
                                         (const void *const *)factor->panel, bytes);
    sa_free(bytes);
    return status;
}

sa_status REAL(triangle_load)(REAL(triangle) * factor, sa_npz *archive, const char *name, size_t n) {
    size_t panels = panels_for(n), elements = 0;
    for (size_t i = 0; i < panels; i++) elements += sa_panel_elements(i);
    sa_array array = {0};
    SA_TRY(sa_npz_get_exactly(archive, name, dtype, 1, &elements, &array));
    sa_status status = REAL(triangle_reserve)(factor, n);
    const real *from = array.data;
    for (size_t i = 0; status == SA_OK && i < panels; i++) {
        memcpy(factor->panel[i], from, sa_panel_elements(i) * sizeof *from);
        from += sa_panel_elements(i);
    }
    if (status == SA_OK) factor->n = n;
    for (size_t i = 0; status == SA_OK && i < n; i++)
        if (!(REAL(triangle_get)(factor, i, i) > 0) || !isfinite(REAL(triangle_get)(factor, i, i)))
            status = sa_fail(SA_FORMAT, "'%s' has a diagonal that is not positive, row %zu", name, i);
    sa_array_clear(&array);
    return status;
}
