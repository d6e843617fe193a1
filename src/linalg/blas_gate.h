/* BLAS and forks. OpenBLAS takes a lock of its own in every call; a process forked while another thread holds
 * it gets a copy of the lock that nobody will ever release, and hangs at its first product. So a fork waits
 * until no thread is inside of BLAS, and until it is done none may enter. That is of the process, as the lock
 * is: the one thing here that no caller owns. */
#ifndef SA_LINALG_BLAS_GATE_H
#define SA_LINALG_BLAS_GATE_H

void sa_blas_enter(void);
void sa_blas_leave(void);

#define SA_IN_BLAS(call)                                                                                     \
    do {                                                                                                     \
        sa_blas_enter();                                                                                     \
        call;                                                                                                \
        sa_blas_leave();                                                                                     \
    } while (0)

#endif
