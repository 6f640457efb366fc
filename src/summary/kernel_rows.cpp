
#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/kernels/classify.h"
#include "analysis/kernels/join.h"
#include "analysis/timeline/group_kernels.h"
#include "base/figures.h"
#include "records/range_use.h"
#include "summary/internal/parts.h"
#include "summary/torch_trace.h"

namespace profline::summary {
namespace {

constexpr std::size_t kMostApart = 20;

/// The rows of one tool, grouped by the name it prints and the launch shape: the input of join().
struct Table {
  kernels::KernelTable table;
  std::vector<std::vector<std::size_t>> members;  ///< rows of the tool's file, by row above
};

Table table_of(std::string tool, const std::vector<KernelUse>& uses) {
  Table result;
  result.table.tool = std::move(tool);
  using timeline::KernelKeys;
  const KernelKeys keys{.spelling = true, .shape = KernelKeys::Shape::GridAndBlock};
  for (timeline::KernelGroup& group : timeline::group_kernels(uses, keys)) {
    result.table.rows.push_back(std::move(group.all));
    result.members.push_back(std::move(group.members));
  }
  return result;
}

/// The rows of ncu in the form that join() needs. Ranges keep their place in the file but have a
/// name that no kernel can have.
KernelUse use_of(const NcuKernel& kernel) {
  KernelUse use;
  if (!kernel.is_range) use.printed_name = kernel.printed_name;
  use.grid = kernel.grid;
  use.block = kernel.block;
  use.launches = kernel.launches;
  return use;
}

/// `times` has the fields of a KernelUse.
template <typename Times>
void add_part(std::vector<SummaryKernelPart>& parts, const std::string& name, const Times& times) {
  auto part = std::find_if(parts.begin(), parts.end(),
                           [&](const SummaryKernelPart& known) { return known.name == name; });
  if (part == parts.end()) part = parts.insert(parts.end(), {.name = name});
  part->launches += times.launches;
  part->total_ns += static_cast<double>(times.total_ns);
  part->exclusive_ns += static_cast<double>(times.exclusive_ns);
}

void sort_parts(std::vector<SummaryKernelPart>& parts) {
  std::sort(parts.begin(), parts.end(), [](const SummaryKernelPart& a, const SummaryKernelPart& b) {
    return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name);
  });
}

void widen(SummaryKernelTime& time, const KernelUse& by) {
  const auto min_ns = static_cast<double>(by.min_ns);
  time.min_ns = time.launches == 0 ? min_ns : std::min(time.min_ns, min_ns);
  time.max_ns = std::max(time.max_ns, static_cast<double>(by.max_ns));
  time.launches += by.launches;
  time.total_ns += static_cast<double>(by.total_ns);
  time.exclusive_ns += static_cast<double>(by.exclusive_ns);
  time.alone_ns += static_cast<double>(by.alone_ns);
}

/// The phases that the workload runs before it measures: loading and warm-up.
bool is_unmeasured(const std::string& phase) {
  return phase.empty() || phase == kWarmUpRange;
}

class Rows {
 public:
  Rows(const run::Run& run, const requests::PhaseTree& tree) : run_(run), tree_(tree) {}
  KernelRows make();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void find_nsys_rows();
  bool leaves_out_the_unmeasured() const;
  void find_tables();
  void add(const kernels::JoinedKernel& joined);
  void add_apart(const kernels::JoinedKernel& joined);
  SummaryKernel row_of(const kernels::JoinedKernel& joined,
                       const std::vector<std::vector<std::size_t>>& rows) const;
  std::string class_of(const std::string& kernel) const;
  void add_nsys(SummaryKernel& kernel, const std::vector<std::size_t>& rows) const;
  void add_ncu(SummaryKernel& kernel, const std::vector<std::size_t>& rows) const;
  void add_torch(SummaryKernel& kernel, const std::vector<std::size_t>& rows) const;
  std::string what_lacks(const SummaryKernel& kernel) const;
  void sort();
  void add_up();
  void find_shares();
  void note_apart(std::string text);
  bool has(std::size_t table) const { return table != kNone; }
  /// The table that times come from.
  bool time_is_nsys() const { return has(nsys_); }

  const run::Run& run_;
  const run::Artifact<settings::Root>& settings_ = run_.get(run::kSettings);
  const run::Artifact<Timeline>& trace_ = run_.get(run::kTorchTrace);
  const run::Artifact<NsysKernels>& nsys_kernels_ = run_.get(run::kNsysKernels);
  const run::Artifact<NcuKernels>& ncu_kernels_ = run_.get(run::kNcuKernels);
  const requests::PhaseTree& tree_;
  const run::Artifact<kernels::Classifier>& own_classes_ = run_.get(kClassifier);
  const Result<kernels::Classifier> shipped_classes_ = kernels::shipped_classifier();
  std::vector<KernelUse> nsys_rows_;
  std::vector<TracedKernel> traced_;
  std::vector<Table> tables_;
  std::size_t nsys_ = kNone;
  std::size_t ncu_ = kNone;
  std::size_t torch_ = kNone;
  KernelRows result_;
  std::size_t apart_left_out_ = 0;
};

/// True for the built-in workload, unless unmeasured work is all there is.
bool Rows::leaves_out_the_unmeasured() const {
  if (settings_ && settings_->pipeline.workload.user_command()) return false;
  const std::vector<KernelUse>& all = nsys_kernels_->kernels;
  return std::any_of(all.begin(), all.end(), [this](const KernelUse& row) {
    return !is_unmeasured(tree_.phase_of(row.ranges));
  });
}

/// For each phase, the rows of the capture that shows it best.
void Rows::find_nsys_rows() {
  if (!nsys_kernels_) return;
  std::map<std::string, std::string> best;  // gate by phase
  for (const KernelUse& row : nsys_kernels_->kernels) {
    const std::string phase = tree_.phase_of(row.ranges);
    const std::string gate = gate_of(run_, row.capture);
    const auto [known, is_new] = best.try_emplace(phase, gate);
    if (!is_new && gate_rank(tree_, gate, phase) < gate_rank(tree_, known->second, phase))
      known->second = gate;
  }
  const bool leaves_out = leaves_out_the_unmeasured();
  for (const KernelUse& row : nsys_kernels_->kernels) {
    const std::string phase = tree_.phase_of(row.ranges);
    if (gate_of(run_, row.capture) != best[phase]) continue;
    if (leaves_out && is_unmeasured(phase)) {
      result_.join.outside_launches += row.launches;
      result_.join.outside_ns += static_cast<double>(row.total_ns);
    } else {
      nsys_rows_.push_back(row);
    }
  }
}

void Rows::find_tables() {
  find_nsys_rows();
  if (!nsys_rows_.empty()) {
    nsys_ = tables_.size();
    tables_.push_back(table_of("nsys", nsys_rows_));
  }
  if (trace_) traced_ = traced_kernels(*trace_, tree_);
  if (!traced_.empty()) {
    std::vector<KernelUse> uses;
    for (const TracedKernel& traced : traced_) uses.push_back(traced.use);
    torch_ = tables_.size();
    tables_.push_back(table_of("the torch profiler", uses));
  }
  if (!ncu_kernels_) return;
  const auto& rows = ncu_kernels_->kernels;
  const bool any = std::any_of(rows.begin(), rows.end(),
                               [](const NcuKernel& kernel) { return !kernel.is_range; });
  if (!any) return;
  std::vector<KernelUse> uses;
  for (const NcuKernel& kernel : rows) uses.push_back(use_of(kernel));
  ncu_ = tables_.size();
  tables_.push_back(table_of("ncu", uses));
}

void Rows::add_nsys(SummaryKernel& kernel, const std::vector<std::size_t>& rows) const {
  SummaryKernelTime time;
  time.source = nsys_kernels_.file;
  for (const std::size_t row : rows) {
    for (const std::size_t i : tables_[nsys_].members[row]) {
      const KernelUse& given = nsys_rows_[i];
      kernel.kernel_class = given.kernel_class;
      widen(time, given);
      add_part(kernel.phases, tree_.phase_of(given.ranges), given);
    }
  }
  if (time.launches > 0) kernel.time = time;
}

void Rows::add_torch(SummaryKernel& kernel, const std::vector<std::size_t>& rows) const {
  SummaryKernelTime time;
  time.source = trace_.file;
  double flops = 0;
  std::uint64_t with_flops = 0;
  std::vector<SummaryKernelPart> phases;
  for (const std::size_t row : rows) {
    for (const std::size_t i : tables_[torch_].members[row]) {
      const TracedKernel& given = traced_[i];
      widen(time, given.use);
      for (const auto& [name, part] : given.operators) {
        add_part(kernel.operators, name, part);
      }
      for (const auto& [name, part] : given.phases) {
        add_part(phases, name, part);
      }
      flops += given.flops;
      with_flops += given.launches_with_flops;
    }
  }
  if (time.launches == 0) return;
  if (with_flops == time.launches) kernel.model_flops = flops / static_cast<double>(with_flops);
  if (time_is_nsys()) return;
  kernel.time = time;
  kernel.phases = std::move(phases);
}

void Rows::add_ncu(SummaryKernel& kernel, const std::vector<std::size_t>& rows) const {
  const NcuKernel* most = nullptr;
  std::uint64_t launches = 0;
  for (const std::size_t row : rows) {
    for (const std::size_t i : tables_[ncu_].members[row]) {
      const NcuKernel& given = ncu_kernels_->kernels[i];
      if (given.is_range) continue;
      launches += given.launches;
      if (most == nullptr || given.launches > most->launches) most = &given;
    }
  }
  if (most == nullptr) return;
  if (kernel.kernel_class.empty()) kernel.kernel_class = most->kernel_class;
  kernel.counters =
      SummaryKernelCounters{launches,           most->duration_ns, most->roofline,   most->bound,
                            most->margin_class, most->evidence,    ncu_kernels_.file};
}

std::string Rows::class_of(const std::string& kernel) const {
  const kernels::CanonicalName name = kernels::canonical_name(kernel);
  if (own_classes_) return own_classes_->class_of(name);
  return shipped_classes_ ? shipped_classes_->class_of(name) : "";
}

SummaryKernel Rows::row_of(const kernels::JoinedKernel& joined,
                           const std::vector<std::vector<std::size_t>>& rows) const {
  SummaryKernel kernel;
  kernel.name = joined.name;
  kernel.short_name = joined.short_name;
  kernel.grid = joined.grid;
  kernel.block = joined.block;
  if (has(nsys_)) add_nsys(kernel, rows[nsys_]);
  if (has(torch_)) add_torch(kernel, rows[torch_]);
  if (has(ncu_)) add_ncu(kernel, rows[ncu_]);
  if (kernel.kernel_class.empty()) kernel.kernel_class = class_of(kernel.name);
  sort_parts(kernel.phases);
  sort_parts(kernel.operators);
  return kernel;
}

std::string Rows::what_lacks(const SummaryKernel& kernel) const {
  std::vector<std::string> lacks;
  if (!kernel.time) lacks.push_back(has(nsys_) ? "not in nsys' capture" : "no time");
  if (has(ncu_) && !kernel.counters) lacks.emplace_back("not profiled by ncu");
  if (has(torch_) && kernel.operators.empty()) {
    lacks.emplace_back("not in the torch profiler's trace");
  }
  std::string text;
  for (const std::string& lack : lacks) text += (text.empty() ? "" : "; ") + lack;
  return text;
}

void Rows::note_apart(std::string text) {
  if (result_.join.apart.size() < kMostApart) {
    result_.join.apart.push_back(std::move(text));
  } else {
    ++apart_left_out_;
  }
}

/// Rows that could not be matched unambiguously stay as each tool has them.
void Rows::add_apart(const kernels::JoinedKernel& joined) {
  note_apart(joined.short_name + ": " + joined.reason);
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    // Torch's rows repeat the times that nsys' rows have.
    if (table == torch_ && time_is_nsys() && !joined.rows[nsys_].empty()) continue;
    for (const std::size_t row : joined.rows[table]) {
      std::vector<std::vector<std::size_t>> alone(tables_.size());
      alone[table] = {row};
      SummaryKernel kernel = row_of(joined, alone);
      kernel.grid = tables_[table].table.rows[row].grid;
      kernel.block = tables_[table].table.rows[row].block;
      kernel.lacks = joined.reason;
      result_.kernels.push_back(std::move(kernel));
    }
  }
}

void Rows::add(const kernels::JoinedKernel& joined) {
  const bool is_range = joined.name.empty();
  if (is_range) return;
  if (joined.state == kernels::JoinState::Ambiguous) return add_apart(joined);
  SummaryKernel kernel = row_of(joined, joined.rows);
  kernel.lacks = what_lacks(kernel);
  if (!kernel.time) {
    const std::uint64_t launches = kernel.counters ? kernel.counters->launches : 0;
    note_apart(joined.short_name + ": " + kernel.lacks +
               (launches > 0 ? " (ncu profiled " + counted(launches, "launch") + ")" : ""));
  }
  result_.kernels.push_back(std::move(kernel));
}

void Rows::sort() {
  const KernelRanking ranking = result_.join.ranking();
  std::sort(result_.kernels.begin(), result_.kernels.end(),
            [&](const SummaryKernel& a, const SummaryKernel& b) {
              const double of_a = a.time ? ranking.ns(*a.time) : -1;
              const double of_b = b.time ? ranking.ns(*b.time) : -1;
              return std::tie(of_b, a.name, a.grid, a.block) <
                     std::tie(of_a, b.name, b.grid, b.block);
            });
}

void Rows::add_up() {
  SummaryJoin& join = result_.join;
  for (const SummaryKernel& kernel : result_.kernels) {
    if (!kernel.time) continue;
    join.total_ns += kernel.time->total_ns;
    join.exclusive_ns += kernel.time->exclusive_ns;
    join.launches += kernel.time->launches;
  }
}

void Rows::find_shares() {
  SummaryJoin& join = result_.join;
  const KernelRanking ranking = join.ranking();
  const double all_ns = ranking.ns(join);
  if (all_ns <= 0) return;
  double with_counters = 0;
  double with_operators = 0;
  double with_flops = 0;
  for (SummaryKernel& kernel : result_.kernels) {
    if (!kernel.time) continue;
    const double ns = ranking.ns(*kernel.time);
    kernel.time->share = ns / all_ns;
    if (kernel.counters) with_counters += ns;
    if (!kernel.operators.empty()) with_operators += ns;
    if (kernel.model_flops) with_flops += ns;
  }
  if (has(ncu_)) join.with_counters = with_counters / all_ns;
  if (!has(torch_)) return;
  join.with_operators = with_operators / all_ns;
  join.with_flops = with_flops / all_ns;
}

KernelRows Rows::make() {
  find_tables();
  std::vector<kernels::KernelTable> tables;
  tables.reserve(tables_.size());
  for (const Table& table : tables_) tables.push_back(table.table);
  if (tables.empty()) return {};
  for (const kernels::JoinedKernel& joined : kernels::join(tables).kernels) add(joined);
  add_up();
  sort();
  find_shares();
  if (time_is_nsys()) {
    result_.join.time_source = nsys_kernels_.file;
  } else if (has(torch_)) {
    result_.join.time_source = trace_.file;
  }
  if (apart_left_out_ > 0) {
    result_.join.apart.push_back("and " + std::to_string(apart_left_out_) + " more");
  }
  return std::move(result_);
}

double& time_of(judgement::KernelBounds& bounds, std::string_view bound) {
  if (bound == "compute") return bounds.compute_ns;
  if (bound == "memory") return bounds.memory_ns;
  return bound == "latency" ? bounds.latency_ns : bounds.other_ns;
}

}  // namespace

Result<kernels::Classifier> internal::read_classifier(const run::Run& run,
                                                      const std::filesystem::path& /*file*/) {
  const run::Artifact<settings::KernelClasses>& rules = run.get(run::kKernelClasses);
  if (!rules) return Error(ErrorKind::Parse, rules.why_not);
  return kernels::classifier_with(*rules);
}

KernelRows kernel_rows(const run::Run& run, const requests::PhaseTree& tree) {
  return Rows(run, tree).make();
}

std::optional<judgement::KernelBounds> bounds_of(const KernelRows& rows, std::string_view phase) {
  judgement::KernelBounds bounds;
  bool any = false;
  for (const SummaryKernel& kernel : rows.kernels) {
    for (const SummaryKernelPart& part : kernel.phases) {
      if (part.name != phase) continue;
      // Of kernels that ran at the same time, only the exclusive times add up to what they took.
      const double ns = part.exclusive_ns > 0 ? part.exclusive_ns : part.total_ns;
      bounds.all_ns += ns;
      if (!kernel.counters) continue;
      any = true;
      bounds.source = kernel.counters->source + ", " + rows.join.time_source;
      time_of(bounds, kernel.counters->bound) += ns;
      const NcuRoofline& roof = kernel.counters->roofline;
      bounds.compute_floor_ns += ns * roof.compute_share.value_or(0);
      bounds.memory_floor_ns += ns * roof.memory_share.value_or(0);
    }
  }
  if (!any) return std::nullopt;
  return bounds;
}

}  // namespace profline::summary
