#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/nsys/internal/import.h"

/// NCCL's description of its calls: ranges of the NVTX domain NCCL with extended payloads, which
/// contain the size of the message and the communicator.
namespace profline::nsys::internal {

/// The relevant fields of a payload, if present.
struct NcclPayload {
  std::optional<std::uint64_t> communicator;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> ranks;
};

/// Knows where the fields are, from the tables that nsys writes next to NVTX_EVENTS.
class NcclSchemas {
 public:
  explicit NcclSchemas(Import& import);

  bool empty() const { return fields_.empty(); }
  /// Decodes NVTX_EVENTS.binaryData; nothing if it is not a payload with one of the fields.
  std::optional<NcclPayload> decode(std::string_view bytes) const;

 private:
  enum class Field : std::uint8_t { Communicator, Bytes, Ranks };
  struct Place {
    Field field;
    std::uint64_t offset;
    std::uint64_t size;
    auto operator<=>(const Place&) const = default;
  };
  // By domain and schema. Several processes register the same ones.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Place>> fields_;

  static std::optional<Field> field_of(std::string_view name);
  static std::uint64_t size_of_type(std::int64_t type);
};

/// Collects NCCL's calls for Timeline::collectives.
class NcclCalls {
 public:
  /// Adds a range that is a call of NCCL, with its payload if it has one.
  void add(const Range& range, const Names& names, const std::optional<NcclPayload>& payload);
  /// Makes rows, and links the kernels that a call launched to it. Call after reading work and
  /// calls.
  void finish(Timeline& timeline);

 private:
  struct Call {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    RowIndex thread = kNoRow;
    Names::Id name = 0;
    std::uint64_t communicator = 0;
    std::uint64_t bytes = 0;
    RowIndex row = kNoRow;  // in Timeline::collectives
  };
  struct GroupEnd {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  struct OfThread {
    std::vector<Call> calls;
    std::vector<GroupEnd> group_ends;
  };

  Collective collective(const Call& call, Names& names) const;
  static void put_in_order(std::vector<Call>& calls, const Names& names);
  static void link(Timeline& timeline, const std::vector<OfThread>& threads);

  std::vector<Call> calls_;
  std::map<RowIndex, std::vector<GroupEnd>> group_ends_;  // by thread
  std::map<std::uint64_t, std::uint64_t> ranks_;          // by communicator
};

}  // namespace profline::nsys::internal
