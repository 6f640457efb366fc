#pragma once

#include <filesystem>

#include "base/result.h"
#include "formats/sqlite.h"

namespace profline::run_index {

/// Opens the index `file` for writing, with exactly our tables in it and nothing else. It is made
/// where it is missing, and made again when it is of another version, altered or damaged. An Error,
/// and the file as it was, when it is a link or was not written by profline (`application_id`).
Result<sqlite::Database> open_index_file(const std::filesystem::path& file);

/// The same tables in memory.
Result<sqlite::Database> index_in_memory();

}  // namespace profline::run_index
