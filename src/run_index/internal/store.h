#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run_index/indexed_run.h"

/// Where an index keeps its rows.
namespace profline::run_index::internal {

/// A run, and the stamp of the run.json that it was read from.
struct IndexedRow {
  IndexedRun run;
  std::string stamp;
};

/// Rows by folder, of which there is at most one each.
class Store {
 public:
  virtual ~Store() = default;
  /// Makes `changes` while no other program changes the store. If they fail, a store in a file is
  /// as it was before.
  virtual Result<void> change(const std::function<Result<void>()>& changes) = 0;
  /// Adds a row, or replaces the one of this folder.
  virtual Result<void> write(IndexedRow row) = 0;
  /// There may be no such row.
  virtual Result<void> forget(std::string_view folder) = 0;
  virtual Result<void> clear() = 0;
  /// By folder.
  virtual Result<std::map<std::string, std::string>> stamps() = 0;
  /// Newest first.
  virtual Result<std::vector<IndexedRun>> runs() = 0;
};

std::unique_ptr<Store> store_in_memory(std::vector<IndexedRow> rows = {});

/// An SQLite database with exactly our tables in it and nothing else. It is created if it is
/// missing, and created again if it is of another version, altered or damaged. An Error, with the
/// file unchanged, if it is a link or was not written by profline (`application_id`).
Result<std::unique_ptr<Store>> store_in_file(const std::filesystem::path& file);

/// What the store in a file has, without writing to it; nothing if the file is a link or of another
/// version. An Error if it was not written by profline.
Result<std::vector<IndexedRow>> rows_in_file(const std::filesystem::path& file);

}  // namespace profline::run_index::internal
