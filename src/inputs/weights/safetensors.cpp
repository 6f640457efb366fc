#include "inputs/weights/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/node.h"
#include "schema/docs.h"

namespace profline::weights {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name;
  std::uint64_t bits;
};

// In the order of the enumeration.
constexpr std::array kRows = {
    Row{Dtype::Bool, "BOOL", 8},
    Row{Dtype::F4, "F4", 4},
    Row{Dtype::F6E2M3, "F6_E2M3", 6},
    Row{Dtype::F6E3M2, "F6_E3M2", 6},
    Row{Dtype::U8, "U8", 8},
    Row{Dtype::I8, "I8", 8},
    Row{Dtype::F8E5M2, "F8_E5M2", 8},
    Row{Dtype::F8E4M3, "F8_E4M3", 8},
    Row{Dtype::F8E8M0, "F8_E8M0", 8},
    Row{Dtype::F8E4M3Fnuz, "F8_E4M3FNUZ", 8},
    Row{Dtype::F8E5M2Fnuz, "F8_E5M2FNUZ", 8},
    Row{Dtype::I16, "I16", 16},
    Row{Dtype::U16, "U16", 16},
    Row{Dtype::F16, "F16", 16},
    Row{Dtype::BF16, "BF16", 16},
    Row{Dtype::I32, "I32", 32},
    Row{Dtype::U32, "U32", 32},
    Row{Dtype::F32, "F32", 32},
    Row{Dtype::C64, "C64", 64},
    Row{Dtype::F64, "F64", 64},
    Row{Dtype::I64, "I64", 64},
    Row{Dtype::U64, "U64", 64},
};

const Row& row_of(Dtype dtype) {
  const Row& row = kRows.at(static_cast<std::size_t>(dtype));
  PL_ASSERT(row.dtype == dtype, "the table is in the order of the enumeration");
  return row;
}

}  // namespace

std::string_view name(Dtype dtype) {
  return row_of(dtype).name;
}

std::optional<Dtype> dtype_named(std::string_view name) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& one) { return one.name == name; });
  return row == kRows.end() ? std::nullopt : std::optional(row->dtype);
}

std::uint64_t bits(Dtype dtype) {
  return row_of(dtype).bits;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

bool Tensor::is_aligned() const {
  const std::uint64_t element = bits(dtype) / 8;
  return element <= 1 || reinterpret_cast<std::uintptr_t>(bytes.data()) % element == 0;
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  PL_TRY(profline::internal::check_path("read", path));
  // Non-blocking: a pipe without a writer must be refused, not waited for.
  const FileDescriptor file = open_descriptor(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (!file.is_open()) return os_error("read", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return os_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) return os_error("read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return os_error("read", path, ErrorKind::NotFound, "it is not a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) return os_error("map", path, errno);
  return MappedFile(start, size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  start_ = std::exchange(other.start_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

MappedFile::~MappedFile() {
  unmap();
}

void MappedFile::unmap() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

Error malformed(std::string message, const Node& at) {
  return Error(ErrorKind::Parse, std::move(message), at.position());
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

/// The text of the header, which must be inside the file.
Result<std::string_view> header_text(std::string_view file, const std::string& source) {
  const auto refuse = [&source](std::string message) {
    return Error(ErrorKind::Parse, std::move(message), Position{source});
  };
  if (file.size() < kLengthBytes) {
    return refuse("not a safetensors file: " + std::to_string(file.size()) +
                  " bytes, and the header's length alone takes 8");
  }
  const std::uint64_t length = little_endian(file);
  if (length > kMaxHeaderBytes) {
    return refuse(
        "not a safetensors file, or a damaged one: the first 8 bytes say that the header has " +
        std::to_string(length) + " bytes; at most " + std::to_string(kMaxHeaderBytes) +
        " are allowed");
  }
  if (length > file.size() - kLengthBytes) {
    return refuse("the header has " + std::to_string(length) + " bytes, but only " +
                  std::to_string(file.size() - kLengthBytes) +
                  " follow its length: the file is truncated");
  }
  return file.substr(kLengthBytes, static_cast<std::size_t>(length));
}

Result<std::map<std::string, std::string>> read_metadata(const Node& node) {
  if (!node.is_map()) {
    return malformed("__metadata__: must be a map of strings, not " + schema::shown_with_kind(node),
                     node);
  }
  std::map<std::string, std::string> metadata;
  for (const NodeMap::Entry& entry : node.as_map()) {
    if (!entry.value.is_string()) {
      return malformed("__metadata__." + entry.key.as_string() + ": must be a string, not " +
                           schema::shown_with_kind(entry.value),
                       entry.value);
    }
    metadata.emplace(entry.key.as_string(), entry.value.as_string());
  }
  return metadata;
}

/// One tensor's part of the header; its values must still be checked against the file.
class EntryReader {
 public:
  explicit EntryReader(const NodeMap::Entry& entry) : entry_(entry) {}

  Result<Header::Entry> read() const {
    if (!entry_.value.is_map()) {
      return wrong("must be a map with dtype, shape and data_offsets, not " +
                       schema::shown_with_kind(entry_.value),
                   entry_.value);
    }
    Header::Entry out;
    out.name = entry_.key.as_string();
    out.dtype = PL_TRY(dtype());
    out.shape = PL_TRY(shape());
    const Node& offsets = *PL_TRY(member("data_offsets"));
    const std::vector<std::int64_t> numbers = PL_TRY(whole_numbers("data_offsets", offsets));
    if (numbers.size() != 2 || numbers[0] > numbers[1]) {
      return wrong("data_offsets: must be the begin and the end of its bytes, not " +
                       schema::value_text(offsets),
                   offsets);
    }
    out.begin = static_cast<std::uint64_t>(numbers[0]);
    out.end = static_cast<std::uint64_t>(numbers[1]);
    PL_TRY(check_size(out, offsets));
    return out;
  }

 private:
  Error wrong(const std::string& message, const Node& at) const {
    return malformed("tensor " + schema::shown(entry_.key) + ": " + message, at);
  }

  Result<const Node*> member(std::string_view key) const {
    const Node* node = entry_.value.find(key);
    if (node == nullptr) return wrong("missing key '" + std::string(key) + "'", entry_.value);
    return node;
  }

  Result<Dtype> dtype() const {
    const Node& node = *PL_TRY(member("dtype"));
    const auto dtype = node.is_string() ? dtype_named(node.as_string()) : std::nullopt;
    if (!dtype) {
      return wrong("dtype: must be one that the format knows, such as BF16, F16, F32 or I64, not " +
                       schema::shown(node),
                   node);
    }
    return *dtype;
  }

  Result<Shape> shape() const {
    const Node& node = *PL_TRY(member("shape"));
    return whole_numbers("shape", node);
  }

  Result<std::vector<std::int64_t>> whole_numbers(const std::string& key, const Node& node) const {
    if (!node.is_list()) {
      return wrong(key + ": must be a list of integers, not " + schema::shown_with_kind(node),
                   node);
    }
    std::vector<std::int64_t> numbers;
    numbers.reserve(node.as_list().size());
    for (const Node& item : node.as_list()) {
      if (!item.is_int() || item.as_int() < 0) {
        return wrong(key + ": must be a list of integers from 0 to " +
                         std::to_string(std::numeric_limits<std::int64_t>::max()) +
                         "; one of them is " + schema::shown_with_kind(item),
                     item);
      }
      numbers.push_back(item.as_int());
    }
    return numbers;
  }

  Result<void> check_size(const Header::Entry& entry, const Node& offsets) const {
    const std::string what = std::string(name(entry.dtype)) + " " + to_string(entry.shape);
    const auto size = bit_size(entry.dtype, entry.shape);
    if (!size) return wrong(what + " has more bits than 64 bits can count", entry_.value);
    if (*size % 8 != 0) return wrong(what + " is not a whole number of bytes", entry_.value);
    if (entry.end - entry.begin != *size / 8) {
      return wrong("data_offsets: " + what + " takes " + std::to_string(*size / 8) +
                       " bytes, not " + std::to_string(entry.end - entry.begin),
                   offsets);
    }
    return {};
  }

  const NodeMap::Entry& entry_;
};

/// Checks that the data of all tensors, in order, covers the bytes after the header: no overlap, no
/// holes.
Result<void> check_coverage(const std::vector<Header::Entry>& entries, std::uint64_t data_bytes,
                            const std::string& source) {
  const auto refuse = [&source](const std::string& message) {
    return Error(ErrorKind::Parse, message, Position{source});
  };
  const auto shown = [](const Header::Entry& entry) {
    return schema::shown(Node::string(entry.name));
  };
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Header::Entry& entry = entries[i];
    if (entry.begin < covered) {
      return refuse("tensor " + shown(entry) + " begins at byte " + std::to_string(entry.begin) +
                    " of the data, inside tensor " + shown(entries[i - 1]) + " that ends at " +
                    std::to_string(covered));
    }
    if (entry.begin > covered) {
      return refuse("tensor " + shown(entry) + " begins at byte " + std::to_string(entry.begin) +
                    " of the data, and bytes " + std::to_string(covered) + " to " +
                    std::to_string(entry.begin) + " before it belong to no tensor");
    }
    covered = entry.end;
  }
  if (covered == data_bytes) return {};
  return refuse("the header describes " + std::to_string(covered) + " bytes of data and " +
                std::to_string(data_bytes) + " follow it: " +
                (covered > data_bytes ? "the file is truncated" : "the file has extra data"));
}

}  // namespace

Result<Header> read_header(std::string_view file, const std::string& source) {
  const std::string_view text = PL_TRY(header_text(file, source));
  const Node tree = PL_TRY(parse_json(text, source + ", header"));
  if (!tree.is_map()) {
    return malformed("must be a map of tensors, not " + schema::shown_with_kind(tree), tree);
  }
  Header header;
  header.data_begin = kLengthBytes + text.size();
  header.entries.reserve(tree.as_map().size());
  for (const NodeMap::Entry& entry : tree.as_map()) {
    if (entry.key.as_string() == kMetadataKey) {
      header.metadata = PL_TRY(read_metadata(entry.value));
    } else {
      header.entries.push_back(PL_TRY(EntryReader(entry).read()));
    }
  }
  std::sort(header.entries.begin(), header.entries.end(),
            [](const Header::Entry& a, const Header::Entry& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  PL_TRY(check_coverage(header.entries, file.size() - header.data_begin, source));
  return header;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  MappedFile file = PL_TRY(MappedFile::open(path));
  Header header = PL_TRY(read_header(file.bytes(), path.string()));
  return SafetensorsFile(std::move(file), std::move(header));
}

SafetensorsFile::SafetensorsFile(MappedFile file, Header header)
    : file_(std::move(file)), metadata_(std::move(header.metadata)) {
  const auto data = std::as_bytes(std::span(file_.bytes())).subspan(header.data_begin);
  tensors_.reserve(header.entries.size());
  for (Header::Entry& entry : header.entries) {
    tensors_.push_back({.name = std::move(entry.name),
                        .dtype = entry.dtype,
                        .shape = std::move(entry.shape),
                        .bytes = data.subspan(entry.begin, entry.end - entry.begin)});
  }
}

}  // namespace profline::weights
