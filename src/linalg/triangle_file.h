/* A factor in a file: its panels one after another, as one flat array. */
#ifndef SA_LINALG_TRIANGLE_FILE_H
#define SA_LINALG_TRIANGLE_FILE_H

#include "base/npy.h"
#include "linalg/triangle.h"

/* The factor must live until the file is written. */
sa_status REAL(triangle_save)(const REAL(triangle) * factor, sa_npz_writer *writer, const char *name);
/* Into an empty factor; SA_FORMAT when the array is not a factor with n rows. */
sa_status REAL(triangle_load)(REAL(triangle) * factor, sa_npz *archive, const char *name, size_t n);

#endif
