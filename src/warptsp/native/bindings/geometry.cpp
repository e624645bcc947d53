#include "common.h"

void bind_geometry(nb::module_ &) {}
