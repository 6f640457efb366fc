#include "summary/torch_trace.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "analysis/operators/operator_table.h"
#include "analysis/timeline/accounting.h"
#include "analysis/timeline/attribution.h"
#include "analysis/timeline/group_kernels.h"

namespace profline::summary {
namespace {

using timeline::Attribution;

class Kernels {
 public:
  Kernels(const Timeline& trace, const requests::PhaseTree& tree)
      : trace_(trace),
        tree_(tree),
        uses_(timeline::group_kernels(
            trace, {.spelling = true, .shape = kShape, .ranges = true, .op = true})) {}

  std::vector<TracedKernel> run() {
    kernel_of_.resize(uses_.rows.size());
    for (timeline::KernelGroup& group :
         timeline::group_kernels(uses_.rows, {.spelling = true, .shape = kShape})) {
      add(std::move(group));
    }
    find_longest();
    for (const auto& [op, longest] : longest_) add_flops(op, longest);
    std::sort(kernels_.begin(), kernels_.end(), [](const TracedKernel& a, const TracedKernel& b) {
      return std::tie(b.use.total_ns, a.use.printed_name, a.use.grid, a.use.block) <
             std::tie(a.use.total_ns, b.use.printed_name, b.use.grid, b.use.block);
    });
    return std::move(kernels_);
  }

 private:
  static constexpr auto kShape = timeline::KernelKeys::Shape::GridAndBlock;
  struct Longest {
    std::int64_t duration_ns = -1;
    std::size_t kernel = 0;
  };

  void add(timeline::KernelGroup group) {
    TracedKernel kernel;
    for (const std::size_t row : group.members) {
      const KernelUse& use = uses_.rows[row];
      count(kernel.phases[tree_.phase_of(use.ranges)], use);
      if (!use.op.empty()) count(kernel.operators[use.op], use);
      kernel_of_[row] = kernels_.size();
    }
    kernel.use = std::move(group.all);
    kernels_.push_back(std::move(kernel));
  }

  static void count(TracedKernel::Part& part, const KernelUse& use) {
    part.launches += use.launches;
    part.total_ns += use.total_ns;
    part.exclusive_ns += use.exclusive_ns;
  }

  void find_longest() {
    for (RowIndex i = 0; i < trace_.work.size(); ++i) {
      const DeviceWork& work = trace_.work[i];
      if (uses_.row_of[i] == kNoRow || work.launch == kNoRow) continue;
      const RowIndex op = trace_.calls[work.launch].op;
      if (op == kNoRow) continue;
      Longest& longest = longest_[op];
      if (work.duration_ns() <= longest.duration_ns) continue;
      longest = {work.duration_ns(), kernel_of_[uses_.row_of[i]]};
    }
  }

  void add_flops(RowIndex op, const Longest& longest) {
    const Operator& call = trace_.operators[op];
    const auto [known, is_new] = flops_.try_emplace(std::pair(call.name, call.input_shapes));
    if (is_new) {
      known->second =
          operator_flops(trace_.names.text(call.name), trace_.names.text(call.input_shapes));
    }
    if (!known->second) return;
    kernels_[longest.kernel].flops += *known->second;
    ++kernels_[longest.kernel].launches_with_flops;
  }

  const Timeline& trace_;
  const requests::PhaseTree& tree_;
  timeline::KernelUses uses_;  // by everything that is known about a kernel
  std::vector<TracedKernel> kernels_;
  std::vector<std::size_t> kernel_of_;   // by row of uses_
  std::map<RowIndex, Longest> longest_;  // by operator, in order: sums are the same each time
  std::map<std::pair<Names::Id, Names::Id>, std::optional<double>> flops_;
};

using Sizes = std::vector<std::int64_t>;

class ShapeParser {
 public:
  explicit ShapeParser(std::string_view text) : text_(text) {}

  std::optional<std::vector<Sizes>> run() {
    if (!take('[')) return std::nullopt;
    std::vector<Sizes> shapes;
    if (take(']')) return at_end() ? std::optional(shapes) : std::nullopt;
    do {
      auto sizes = list();
      if (!sizes) return std::nullopt;
      shapes.push_back(std::move(*sizes));
    } while (take(','));
    if (!take(']') || !at_end()) return std::nullopt;
    return shapes;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  /// `[1, 64]`; for a list of lists only the fact that it is one.
  std::optional<Sizes> list() {
    if (!take('[')) return std::nullopt;
    Sizes sizes;
    if (take(']')) return sizes;
    bool is_nested = false;
    do {
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '[') {
        is_nested = true;
        if (!pass_list()) return std::nullopt;
        continue;
      }
      std::int64_t size = 0;
      const auto [end, failure] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (failure != std::errc()) return std::nullopt;
      at_ = static_cast<std::size_t>(end - text_.data());
      sizes.push_back(size);
    } while (take(','));
    if (!take(']')) return std::nullopt;
    return is_nested ? Sizes() : sizes;
  }
  bool pass_list() {
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) return false;
    at_ = end + 1;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Twice the product of (..., m, k) and (..., k, n).
std::optional<double> product_flops(const std::vector<Sizes>& shapes, std::size_t first,
                                    std::size_t dimensions) {
  if (shapes.size() < first + 2) return std::nullopt;
  const Sizes& a = shapes[first];
  const Sizes& b = shapes[first + 1];
  if (a.size() != dimensions || b.size() != dimensions || a.back() != b[dimensions - 2]) {
    return std::nullopt;
  }
  double flops = 2 * static_cast<double>(b.back());
  for (const std::int64_t size : a) flops *= static_cast<double>(size);
  return flops;
}

/// Scores and values of (batch, heads, queries, size) and (batch, heads, keys, size).
std::optional<double> attention_flops(const std::vector<Sizes>& shapes) {
  if (shapes.size() < 3 || shapes[0].size() != 4 || shapes[1].size() != 4 ||
      shapes[2].size() != 4) {
    return std::nullopt;
  }
  const Sizes& q = shapes[0];
  const auto real = [](std::int64_t size) { return static_cast<double>(size); };
  return 2 * real(q[0]) * real(q[1]) * real(q[2]) * real(shapes[1][2]) *
         (real(q[3]) + real(shapes[2][3]));
}

}  // namespace

std::vector<TracedKernel> traced_kernels(const Timeline& trace, const requests::PhaseTree& tree) {
  return Kernels(trace, tree).run();
}

std::vector<RangeUse> traced_ranges(const Timeline& trace) {
  const timeline::Accounting accounting = timeline::account(trace, Attribution::of(trace));
  std::vector<RangeUse> rows;
  for (const timeline::RangeAccount& range : accounting.ranges) {
    RangeUse row;
    row.name = range.label;
    row.domain = trace.names.text(range.domain);
    row.instances = range.instances;
    row.still_open = range.still_open;
    row.wall_ns = range.wall_ns;
    row.launch.launches = range.launch.launches;
    row.launch.copy_calls = range.launch.copy_calls;
    row.launch.gaps = range.launch.gap.count;
    row.launch.gap_sum_ns = range.launch.gap.sum_ns;
    row.work = range.work.count;
    row.work_sum_ns = range.work.sum_ns;
    for (std::size_t i = 0; i < range.time.size(); ++i) {
      row.devices.push_back(timeline::device_account(accounting.devices[i], range.time[i],
                                                     range.wall_ns, range.own[i]));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

RangeOperators range_operators(const Timeline& trace, const std::string& range, double short_ns) {
  const operators::OperatorTable table = operators::operator_table(trace, {.inside = range});
  RangeOperators result;
  result.calls = table.calls;
  if (table.self_ns <= 0 || table.rows.empty()) return result;
  const auto all = static_cast<double>(table.self_ns);
  for (const operators::OperatorRow& row : table.rows) {
    const auto self = static_cast<double>(row.self_ns);
    if (self < short_ns * static_cast<double>(row.calls)) result.short_share += self / all;
  }
  result.largest = trace.names.text(table.rows.front().name);
  result.largest_share = static_cast<double>(table.rows.front().self_ns) / all;
  return result;
}

std::optional<std::vector<Sizes>> parse_shapes(std::string_view text) {
  return ShapeParser(text).run();
}

std::optional<double> operator_flops(std::string_view name, std::string_view shapes) {
  struct Product {
    std::string_view name;
    std::size_t first;  // of the two matrices among the inputs
    std::size_t dimensions;
  };
  constexpr Product kProducts[] = {
      {"aten::mm", 0, 2}, {"aten::addmm", 1, 2}, {"aten::bmm", 0, 3}, {"aten::baddbmm", 1, 3}};
  const bool is_attention = name.starts_with("aten::_scaled_dot_product_");
  const Product* product = nullptr;
  for (const Product& known : kProducts) {
    if (known.name == name) product = &known;
  }
  if (product == nullptr && !is_attention) return std::nullopt;
  const auto sizes = parse_shapes(shapes);
  if (!sizes) return std::nullopt;
  return is_attention ? attention_flops(*sizes)
                      : product_flops(*sizes, product->first, product->dimensions);
}

}  // namespace profline::summary
