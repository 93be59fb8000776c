/* threads.c - what kernels ask OpenMP, in a program that is compiled without: there is one thread. */

int omp_get_thread_num(void);
int omp_get_num_threads(void);

int omp_get_thread_num(void) {
    return 0;
}

int omp_get_num_threads(void) {
    return 1;
}
