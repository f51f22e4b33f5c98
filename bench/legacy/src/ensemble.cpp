#include "ensemble.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void ensemble_mean(const std::vector<double>& members, std::vector<double>& mean, int count)
{
    const int cells = static_cast<int>(mean.size());
    // Takes effect on the department's SMP machine only (icc -openmp): each thread averages its own block of cells.
#pragma omp parallel
    {
        int thread = 0, threads = 1;
#ifdef _OPENMP
        thread = omp_get_thread_num();
        threads = omp_get_num_threads();
#endif
        const int first = cells / threads * thread;
        const int last = thread + 1 == threads ? cells : cells / threads * (thread + 1);
        for (int i = first; i < last; ++i) {
            double sum = 0.0;
            for (int m = 0; m < count; ++m)
                sum += members[m * cells + i];
            mean[i] = sum / count;
        }
    }
}
