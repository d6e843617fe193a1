/* src/linalg in double precision. */
#define SA_REAL_BITS 64
#include "test_linalg.inc"
