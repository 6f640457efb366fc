// Compiled once for all tests: see profline_precompiled in profline_module.cmake.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "module_headers.h"
