#include "cpu/cpu_convolve.h"
#include "cpu/cpu_rank.h"

const struct airy_filter_fns airy_filter_cpu = {.direct = airy_cpu_convolve_direct,
                                                .separable = airy_cpu_convolve_separable,
                                                .fft_work = airy_cpu_fft_work,
                                                .fft = airy_cpu_fft,
                                                .rank = airy_cpu_rank,
                                                .hampel = airy_cpu_hampel};
