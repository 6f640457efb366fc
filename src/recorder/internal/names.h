#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/internal/lanes.h"
#include "recorder/internal/session.h"

/// Names become numbers: each is written into the file once.
namespace profline::recorder {

/// Reserves the memory of the table. False: the system has no more.
bool open_names(NameTable& names);

/// The number of a name; a null pointer is the empty name.
std::uint32_t name_of(const Entry& entry, const char* text);
std::uint32_t name_of(const Entry& entry, const wchar_t* text);

/// The number of a name that has a handle; null is the empty name.
std::uint32_t name_of(const Entry& entry, Name* handle);

/// The handle of a name, for registered strings and domains: never null.
Name* handle_of(const Entry& entry, const char* text);
Name* handle_of(const Entry& entry, const wchar_t* text);

}  // namespace profline::recorder
