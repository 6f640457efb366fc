#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inputs/weights/mapped_file.h"
#include "inputs/weights/tensor.h"

/// The safetensors format: a little-endian u64 with the header's length, a JSON header
/// (`name -> {dtype, shape, data_offsets}`, optional `__metadata__`), the tensors' bytes.
namespace profline::weights {

/// The official limit.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

/// What a header says, found to be true of the file.
struct Header {
  struct Entry {
    std::string name;
    Dtype dtype = Dtype::F32;
    Shape shape;
    std::uint64_t begin = 0;  ///< from the start of the data
    std::uint64_t end = 0;
  };
  std::vector<Entry> entries;                   ///< in the order of their data
  std::map<std::string, std::string> metadata;  ///< of `__metadata__`
  std::uint64_t data_begin = 0;                 ///< from the start of the file
};

/// Reads and checks the header of a whole file's bytes. As the official reader: the length is at
/// most kMaxHeaderBytes and inside the file, the header is UTF-8 and a JSON object without
/// duplicate names, each dtype is known, each size is that of shape and dtype (without overflow),
/// and the data covers the rest of the file without holes or overlap, whatever the order of names.
/// Nothing is allocated that the bytes present do not justify. `source` is the file's name in
/// messages.
Result<Header> read_header(std::string_view file, const std::string& source);

/// A safetensors file, mapped read-only. It must not be shortened while it is open.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  /// In the order of their data.
  std::span<const Tensor> tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  SafetensorsFile(MappedFile file, Header header);

  MappedFile file_;
  std::vector<Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace profline::weights
