/** Everything of libairy. */
#ifndef AIRY_AIRY_H
#define AIRY_AIRY_H

#include "airy/array.h"
#include "airy/background.h"
#include "airy/codec.h"
#include "airy/border.h"
#include "airy/device.h"
#include "airy/dtype.h"
#include "airy/element.h"
#include "airy/filter.h"
#include "airy/frames.h"
#include "airy/geometry.h"
#include "airy/image.h"
#include "airy/integrate.h"
#include "airy/label.h"
#include "airy/oct.h"
#include "airy/oct_calibrate.h"
#include "airy/oct_config.h"
#include "airy/oct_stream.h"
#include "airy/pipeline.h"
#include "airy/random.h"
#include "airy/reduce.h"
#include "airy/ring.h"
#include "airy/sky.h"
#include "airy/sources.h"
#include "airy/stack.h"
#include "airy/status.h"
#include "airy/table.h"
#include "airy/tile.h"
#include "airy/tune.h"

#endif
