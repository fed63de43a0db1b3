/** A GPU that plans are made for: OpenCL 1.2 without any feature. */
#ifndef UNIT_MADE_UP_GPU_H
#define UNIT_MADE_UP_GPU_H

#include "device/facts.h"

static const device_facts made_up_gpu = {.kind = DEVICE_GPU,
                                         .cl_version = 120,
                                         .clc_version = 120,
                                         .compute_units = 100,
                                         .max_work_group = 1024,
                                         .max_work_item = {1024, 1024, 1024},
                                         .local_memory = 48 << 10,
                                         .denormals_f32 = true};

#endif
