#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

/// What can be told from the files of a database before SQLite opens them.
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

/// Whether there is a database at `path` that we may open for writing; false when there is no such
/// file. An Error for a folder, a link (what it points to may be another program's), anything else
/// that is not a plain file, and for a -journal that names a second journal: SQLite would remove
/// the file of that name, wherever it lies, and no journal of ours ever does.
Result<bool> may_be_written(const std::filesystem::path& path, const std::string& name);

/// `file:` URI with every byte escaped that could be taken for syntax.
std::string uri(const std::filesystem::path& absolute, std::string_view query);

}  // namespace profline::sqlite::internal
