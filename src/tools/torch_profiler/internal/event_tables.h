#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "records/timeline.h"
#include "tools/torch_profiler/internal/trace_event.h"

/// The small tables that rows refer to, each with a fast path for the most recent lookup:
/// neighbours in a trace mostly have the same thread, the same stream and a few names.
namespace profline::torch_profiler::internal {

/// Texts of the trace as ids.
class NameTable {
 public:
  explicit NameTable(Names& names) : names_(names) {}

  /// 0 for anything but a string.
  Names::Id id_of(const RawValue& value);

  std::uint64_t bad_escapes() const { return bad_escapes_; }
  std::uint64_t bad_utf8() const { return bad_utf8_; }  ///< distinct texts

 private:
  struct Slot {
    std::string raw;  // as written in the trace
    Names::Id id = 0;
    bool is_filled = false;
  };
  static constexpr std::size_t kSlots = 2048;
  static constexpr std::size_t kLongestKept = std::size_t{16} << 10U;

  Names::Id first_sight(std::string_view raw);

  Names& names_;
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  std::uint64_t bad_escapes_ = 0;
  std::uint64_t bad_utf8_ = 0;
};

/// Threads by the process and thread in the trace: numbers or any text.
class ThreadTable {
 public:
  explicit ThreadTable(std::vector<Thread>& threads) : threads_(threads) {}

  RowIndex row_of(const RawValue& process, const RawValue& thread);
  /// The name that metadata gives a thread, kept until the thread occurs.
  void set_name(const RawValue& process, const RawValue& thread, Names::Id name);
  /// Gives the threads their names; a thread with a text instead of a number gets that text.
  void apply_names(Names& names);

 private:
  std::vector<Thread>& threads_;
  std::unordered_map<std::string, RowIndex> rows_;
  std::unordered_map<std::string, Names::Id> names_;
  std::vector<std::string> texts_;  // by row: the text of a thread without a number
  std::string last_key_;
  RowIndex last_row_ = kNoRow;
};

class StreamTable {
 public:
  explicit StreamTable(std::vector<Stream>& streams) : streams_(streams) {}
  RowIndex row_of(const Stream& stream);

 private:
  struct Hash {
    std::size_t operator()(const Stream& stream) const;
  };
  std::vector<Stream>& streams_;
  std::unordered_map<Stream, RowIndex, Hash> rows_;
  RowIndex last_ = kNoRow;
};

class ShapeTable {
 public:
  explicit ShapeTable(std::vector<LaunchShape>& shapes) : shapes_(shapes) {}
  /// kNoRow if the event has no grid.
  RowIndex row_of(const RawEvent& event);

 private:
  struct Hash {
    std::size_t operator()(const LaunchShape& shape) const;
  };
  std::vector<LaunchShape>& shapes_;
  std::unordered_map<LaunchShape, RowIndex, Hash> rows_;
  RowIndex last_ = kNoRow;
};

/// What events say about collectives. PyTorch describes one twice: with the operator that starts it
/// (`record_param_comms`) and, since 2.2, with each of its kernels.
class CollectiveTable {
 public:
  CollectiveTable(Timeline& timeline, NameTable& names) : timeline_(timeline), names_(names) {}

  /// The row for a kernel's own description; kNoRow if it has none.
  RowIndex add_kernel(const RawEvent& event);
  /// Keeps an operator's description, if it has one.
  void add_operator(const RawEvent& event);
  /// Call when rows are linked and sorted: makes one row per collective and links its kernels to
  /// it.
  void finish();

 private:
  RowIndex add(const RawEvent& event);
  Names::Id group_of(const RawEvent& event);
  RowIndex row_of(const DeviceWork& work) const;
  void keep_only(const std::vector<bool>& used);

  Timeline& timeline_;
  NameTable& names_;
  std::unordered_map<std::uint64_t, RowIndex> of_operator_;  // by External id
  std::vector<std::uint64_t> external_ids_;                  // by row
  std::vector<bool> is_operator_;                            // by row
};

}  // namespace profline::torch_profiler::internal
