#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/figures.h"
#include "base/strings.h"
#include "formats/json.h"
#include "inputs/weights/safetensors.h"

namespace profline::weights {
namespace {

constexpr std::size_t kAlignment = 8;

Error cannot_write(const std::filesystem::path& path, const std::string& cause) {
  return Error(ErrorKind::Config, "cannot write " + path.string() + ": " + cause);
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Node integers(const Shape& numbers) {
  Node::List items;
  items.reserve(numbers.size());
  for (const std::int64_t number : numbers) items.push_back(Node::integer(number));
  return Node::list(std::move(items));
}

/// What is wrong with a tensor's name or size; empty if nothing is.
std::string problem_with(const TensorLayout& tensor, std::set<std::string_view>& names) {
  if (first_invalid_utf8(tensor.name)) return "a tensor's name is not UTF-8";
  if (tensor.name == "__metadata__") return "no tensor may be called '__metadata__'";
  if (!names.insert(tensor.name).second) return "two tensors are called '" + tensor.name + "'";
  const auto size = bit_size(tensor.dtype, tensor.shape);
  if (!size || *size % 8 != 0) {
    return "tensor '" + tensor.name + "': " + std::string(name(tensor.dtype)) + " " +
           to_string(tensor.shape) + " is not a whole number of bytes";
  }
  return "";
}

struct HeaderText {
  std::string text;
  std::uint64_t data_bytes = 0;
};

Result<HeaderText> header_of(const std::filesystem::path& path,
                             std::span<const TensorLayout> tensors, const Metadata& metadata) {
  NodeMap tree;
  if (!metadata.empty()) {
    NodeMap entries;
    for (const auto& [key, value] : metadata) entries.set(key, Node::string(value));
    tree.set("__metadata__", Node::map(std::move(entries)));
  }
  std::set<std::string_view> names;
  HeaderText out;
  for (const TensorLayout& tensor : tensors) {
    if (std::string problem = problem_with(tensor, names); !problem.empty()) {
      return cannot_write(path, problem);
    }
    const std::uint64_t end = out.data_bytes + tensor.byte_count();
    NodeMap entry;
    entry.set("dtype", Node::string(std::string(name(tensor.dtype))));
    entry.set("shape", integers(tensor.shape));
    entry.set("data_offsets", integers({static_cast<std::int64_t>(out.data_bytes),
                                        static_cast<std::int64_t>(end)}));
    tree.set(tensor.name, Node::map(std::move(entry)));
    out.data_bytes = end;
  }
  out.text = PL_TRY(write_json(Node::map(std::move(tree)), {.indent = 0}));
  out.text.resize((out.text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (out.text.size() > kMaxHeaderBytes) {
    return cannot_write(path, "its header would have " + std::to_string(out.text.size()) +
                                  " bytes; at most " + std::to_string(kMaxHeaderBytes) +
                                  " are allowed");
  }
  return out;
}

std::array<char, 8> little_endian(std::uint64_t value) {
  std::array<char, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  return bytes;
}

}  // namespace

std::uint64_t TensorLayout::byte_count() const {
  const auto size = bit_size(dtype, shape);
  PL_ASSERT(size, "create() has refused sizes beyond 64 bits");
  return *size / 8;
}

SafetensorsWriter::SafetensorsWriter(AtomicFile file, std::string path, std::uint64_t data_bytes)
    : file_(std::move(file)), path_(std::move(path)), missing_bytes_(data_bytes) {}

Result<SafetensorsWriter> SafetensorsWriter::create(const std::filesystem::path& path,
                                                    std::span<const TensorLayout> tensors,
                                                    const Metadata& metadata) {
  const HeaderText header = PL_TRY(header_of(path, tensors, metadata));
  AtomicFile file = PL_TRY(AtomicFile::create(path));
  const auto length = little_endian(header.text.size());
  PL_TRY(file.append({length.data(), length.size()}));
  PL_TRY(file.append(header.text));
  return SafetensorsWriter(std::move(file), path.string(), header.data_bytes);
}

Result<void> SafetensorsWriter::append(std::span<const std::byte> bytes) {
  if (bytes.size() > missing_bytes_) {
    return cannot_write(
        path_, counted(bytes.size() - missing_bytes_, "byte") + " more than its header describes");
  }
  missing_bytes_ -= bytes.size();
  return file_.append(as_text(bytes));
}

Result<void> SafetensorsWriter::commit() {
  if (missing_bytes_ > 0) {
    return cannot_write(path_, counted(missing_bytes_, "byte") + " less than its header describes");
  }
  return file_.commit();
}

Result<void> write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                               const Metadata& metadata) {
  std::vector<const Tensor*> order;
  order.reserve(tensors.size());
  for (const Tensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return bits(a->dtype) > bits(b->dtype);
  });
  std::vector<TensorLayout> layout;
  layout.reserve(order.size());
  for (const Tensor* tensor : order) layout.push_back({tensor->name, tensor->dtype, tensor->shape});
  auto writer = PL_TRY(SafetensorsWriter::create(path, layout, metadata));
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i]->bytes.size() != layout[i].byte_count()) {
      return cannot_write(path, "tensor '" + layout[i].name +
                                    "': " + std::string(name(layout[i].dtype)) + " " +
                                    to_string(layout[i].shape) + " takes " +
                                    std::to_string(layout[i].byte_count()) + " bytes, not " +
                                    std::to_string(order[i]->bytes.size()));
    }
    PL_TRY(writer.append(order[i]->bytes));
  }
  return writer.commit();
}

}  // namespace profline::weights
