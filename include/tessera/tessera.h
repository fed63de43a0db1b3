/** Every public header of Tessera. */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "tessera/api.h"
#include "tessera/axpy.h"
#include "tessera/device.h"
#include "tessera/generic.h"
#include "tessera/grayscale.h"
#include "tessera/histogram.h"
#include "tessera/matmul.h"
#include "tessera/matvec.h"
#include "tessera/reduce.h"
#include "tessera/run.h"
#include "tessera/scan.h"
#include "tessera/segsort.h"
#include "tessera/select.h"
#include "tessera/session.h"
#include "tessera/sort.h"
#include "tessera/status.h"
#include "tessera/topk.h"
#include "tessera/transpose.h"
#include "tessera/types.h"

#endif
