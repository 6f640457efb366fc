#pragma once

#include <filesystem>

namespace profline::testing {

/// The test's own folder, removed with its content at the end.
class TempDir {
 public:
  TempDir();
  /// In the given folder instead of the system's for temporary files.
  explicit TempDir(const std::filesystem::path& parent);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace profline::testing
