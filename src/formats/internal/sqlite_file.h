#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

/// How a database file that is not ours can be read without writing anything.
namespace profline::sqlite::internal {

enum class ReadOnlyMode {
  Shared,     ///< mode=ro: locks as usual; the side files there may be are read
  Immutable,  ///< immutable=1: no locks, no side files
};

/// Looks at the file before SQLite does. An Error for what is no database, is cut short, or cannot
/// be read without writing; with `damaged_too` not for one cut short. `path` is canonical: side
/// files lie beside what a link points to.
Result<ReadOnlyMode> inspect(const std::filesystem::path& path, const std::string& name,
                             bool damaged_too);

/// `file:` URI with every byte escaped that could be taken for syntax.
std::string uri(const std::filesystem::path& absolute, std::string_view query);

}  // namespace profline::sqlite::internal
