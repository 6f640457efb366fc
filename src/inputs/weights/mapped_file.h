#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace profline::weights {

/// The bytes of a file, mapped read-only: pages are read when they are touched.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  /// Stays where it is when the MappedFile is moved.
  std::string_view bytes() const { return {static_cast<const char*>(start_), size_}; }

 private:
  MappedFile(void* start, std::size_t size) : start_(start), size_(size) {}
  void unmap();

  void* start_ = nullptr;  // null for an empty file
  std::size_t size_ = 0;
};

}  // namespace profline::weights
