/* src/linalg in single precision. */
#define SA_REAL_BITS 32
#include "test_linalg.inc"
