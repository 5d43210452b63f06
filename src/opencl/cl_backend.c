#include "background/background_fns.h"
#include "core/backend.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_decode.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_queue.h"
#include "element/element_fns.h"
#include "filter/filter_fns.h"
#include "label/label_fns.h"
#include "oct/oct_fns.h"
#include "opencl/cl_tuning.h"
#include "peaks/peaks_fns.h"
#include "reduce/reduce_fns.h"

const struct airy_backend airy_backend_opencl = {
    .name = "opencl",
    .list = airy_cl_list,
    .open = airy_cl_open,
    .close = airy_cl_close,
    .memory_free = airy_cl_memory_free,
    .start = airy_cl_start,
    .tuning = airy_cl_tuning,
    .alloc = airy_cl_alloc,
    .release = airy_cl_release,
    .host_alloc = airy_cl_host_alloc,
    .host_release = airy_cl_host_release,
    .queue_open = airy_cl_queue_open,
    .queue_close = airy_cl_queue_close,
    .flush = airy_cl_flush,
    .finish = airy_cl_finish,
    .event_record = airy_cl_event_record,
    .event_enqueue_wait = airy_cl_event_enqueue_wait,
    .event_wait = airy_cl_event_wait,
    .event_is_done = airy_cl_event_is_done,
    .event_close = airy_cl_event_close,
    .profile_settle = airy_cl_profile_settle_all,
    .push = airy_cl_push,
    .pull = airy_cl_pull,
    .copy = airy_cl_copy,
    .fill = airy_cl_fill,
    .codec = &airy_codec_opencl,
    .integrate = &airy_integrate_opencl,
    .reduce = &airy_reduce_opencl,
    .label = &airy_label_opencl,
    .filter = &airy_filter_opencl,
    .element = &airy_element_opencl,
    .background = &airy_background_opencl,
    .oct = &airy_oct_opencl,
    .peaks = &airy_peaks_opencl,
};
