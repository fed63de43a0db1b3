/* Copies to local memory that gather, one element a call: what the specification says they are, and
 * what Oclgrind keeps account of (simulator.py).  The stride is in elements. */
#define async_work_group_strided_copy(to, from, count, stride, event)                              \
    ({                                                                                             \
        event_t all_ = (event);                                                                    \
        for (size_t e_ = 0; e_ < (count); e_++)                                                    \
            all_ = async_work_group_copy((to) + e_, (from) + e_ * (stride), 1, all_);              \
        all_;                                                                                      \
    })
