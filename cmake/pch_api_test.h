// What tests of the public API include, precompiled once: nlohmann costs seconds per file.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <perdure/perdure.h>

#include "pch.h"
