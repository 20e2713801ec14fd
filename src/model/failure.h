#pragma once

// The value belongs to the public API; the engine stores it as it is.
#include <perdure/failure.h>
