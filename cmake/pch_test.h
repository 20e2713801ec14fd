// What test sources include on top of pch.h, precompiled once for all test executables.
#pragma once

#include <gtest/gtest.h>

#include "pch.h"
