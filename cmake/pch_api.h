// What programs of users include, precompiled once for the examples.
#pragma once

#include <nlohmann/json.hpp>

#include <perdure/perdure.h>

#include "pch.h"
