#include "testing/captures/planted_ranks.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace profline::testing {
namespace {

constexpr std::int64_t kBaseNs = 1'790'857'026'000'000'000;
constexpr std::int64_t kLaunchNs = 5'000;

/// Writes one rank's events in its own time.
class RankTrace {
 public:
  RankTrace(const PlantedRanks& options, int rank, const RankSink& sink)
      : options_(options), rank_(rank), sink_(sink) {
    const auto number = static_cast<std::size_t>(rank);
    if (number < options.ahead_ns.size()) ahead_ns_ = options.ahead_ns[number];
    if (number < options.rate_ppm.size()) rate_ = options.rate_ppm[number] * 1e-6;
    if (number < options.missing_at_start.size()) {
      missing_ = options.missing_at_start[number];
    }
    text_ = fmt::format("{{\"schemaVersion\": 1, \"baseTimeNanoseconds\": {},\n", kBaseNs);
    if (options.states_rank) {
      text_ += fmt::format(
          "\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n",
          rank, options.ranks);
    }
    text_ += "\"traceEvents\": [\n";
  }

  /// Work ahead of a collective: operators, each with a launch, and one kernel.
  void compute(std::int64_t begin_ns, std::int64_t end_ns) {
    if (is_missing()) return;
    for (int i = 0; i < options_.operators_per_kernel; ++i) {
      ++external_id_;
      event(
          "cpu_op", "aten::mm", begin_ns - 2 * kLaunchNs, 2 * kLaunchNs, host_lane(),
          fmt::format("\"External id\": {}, \"Ev Idx\": {}, \"Input Dims\": [[4096, 4096], [4096, "
                      "4096]], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"]",
                      external_id_, external_id_));
    }
    launch(begin_ns - kLaunchNs);
    kernel("nvjet_sm90_tst_128x64_64x10_2x1_v_bz_coopA_TNT", begin_ns, end_ns, 7, "");
  }

  void collective(int number, std::int64_t begin_ns, std::int64_t end_ns) {
    if (missing_ > 0) {
      --missing_;
      return;
    }
    std::string about =
        "\"Collective name\": \"allreduce\", \"In msg nelems\": 4194304, \"Out msg nelems\": "
        "4194304, \"dtype\": \"BFloat16\"";
    if (options_.names_groups) {
      about += fmt::format(
          ", \"Group size\": {}, \"Process Group Name\": \"0\", \"Process Group Description\": "
          "\"default_pg\", \"Process Group Ranks\": \"[0, ..., {}]\"",
          options_.ranks, options_.ranks - 1);
    }
    if (options_.numbers) about += fmt::format(", \"Seq\": {}", number);
    ++external_id_;
    event("cpu_op", "record_param_comms", begin_ns - 3 * kLaunchNs, 3 * kLaunchNs, host_lane(),
          fmt::format("\"External id\": {}, {}", external_id_, about));
    launch(begin_ns - kLaunchNs);
    kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", begin_ns,
           end_ns, 20, fmt::format(", \"External id\": {}, {}", external_id_, about));
  }

  void range(const char* name, std::int64_t begin_ns, std::int64_t end_ns) {
    if (!is_missing()) event("user_annotation", name, begin_ns, end_ns - begin_ns, host_lane(), "");
  }

  std::string finish() {
    text_ +=
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": "
        "\"python\"}}\n]}";
    flush(0);
    return std::move(text_);
  }

 private:
  bool is_missing() const { return missing_ > 0; }
  std::string host_lane() const { return fmt::format("\"pid\": {0}, \"tid\": {0}", 1000 + rank_); }

  std::int64_t own_ns(std::int64_t true_ns) const {
    return true_ns + ahead_ns_ + std::llround(rate_ * static_cast<double>(true_ns));
  }

  void launch(std::int64_t begin_ns) {
    event("cuda_runtime", "cudaLaunchKernelExC", begin_ns, kLaunchNs, host_lane(),
          fmt::format("\"correlation\": {}", ++correlation_));
  }

  void kernel(const char* name, std::int64_t begin_ns, std::int64_t end_ns, int stream,
              const std::string& more) {
    event("kernel", name, begin_ns, end_ns - begin_ns,
          fmt::format("\"pid\": 0, \"tid\": {}", stream),
          fmt::format("\"device\": 0, \"stream\": {}, \"correlation\": {}, \"grid\": [128, 1, 1], "
                      "\"block\": [384, 1, 1]{}",
                      stream, correlation_, more));
  }

  void event(const char* category, const char* name, std::int64_t begin_ns, std::int64_t ns,
             const std::string& lane, const std::string& args) {
    const std::int64_t own = own_ns(begin_ns);
    const std::int64_t length = own_ns(begin_ns + ns) - own;
    fmt::format_to(std::back_inserter(text_),
                   "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", {}, \"ts\": {}.{:03}, "
                   "\"dur\": {}.{:03}, \"args\": {{{}}}}},\n",
                   category, name, lane, own / 1000, own % 1000, length / 1000, length % 1000,
                   args);
    constexpr std::size_t kMost = std::size_t{1} << 20U;
    flush(kMost);
  }

  void flush(std::size_t most) {
    if (!sink_ || text_.size() <= most) return;
    sink_(rank_, text_);
    text_.clear();
  }

  const PlantedRanks& options_;
  int rank_;
  const RankSink& sink_;
  std::int64_t ahead_ns_ = 0;
  double rate_ = 0;
  int missing_ = 0;
  std::uint64_t external_id_ = 0;
  std::uint64_t correlation_ = 0;
  std::string text_;
};

class Program {
 public:
  Program(const PlantedRanks& options, const RankSink& sink)
      : options_(options), random_(options.seed) {
    for (int rank = 0; rank < options.ranks; ++rank) ranks_.emplace_back(options, rank, sink);
    // Seconds after the base, so that clocks may be behind.
    now_ns_.assign(static_cast<std::size_t>(options.ranks), 100'000'000'000);
  }

  PlantedTraces run() {
    const int half = std::max(1, options_.collectives_per_step / 2);
    for (int step = 0; step < options_.steps; ++step) {
      std::vector<std::int64_t> begun = now_ns_;
      for (int i = 0; i < options_.collectives_per_step; ++i) {
        one_collective(i >= half);
        const bool is_last = i + 1 == options_.collectives_per_step;
        if (i + 1 != half && !is_last) continue;
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
          // Launches are a little ahead of the work, and ranges contain the launches.
          ranks_[r].range(i + 1 == half ? "forward" : "backward", begun[r] - 5 * kLaunchNs,
                          now_ns_[r] - 5 * kLaunchNs);
        }
        begun = now_ns_;
      }
    }
    for (RankTrace& rank : ranks_) made_.traces.push_back(rank.finish());
    return std::move(made_);
  }

 private:
  std::int64_t normal(std::int64_t deviation_ns) {
    return std::llround(normal_(random_) * static_cast<double>(deviation_ns));
  }

  void one_collective(bool is_backward) {
    PlantedCollective planted;
    std::int64_t transfer_ns = options_.transfer_ns;
    std::int64_t late_ns = 0;
    int late = -1;
    if (options_.random_classes) {
      planted.kind = static_cast<PlantedClass>(random_() % 3);
      late = static_cast<int>(random_() % static_cast<std::uint64_t>(options_.ranks));
      if (planted.kind == PlantedClass::Skew)
        std::tie(late_ns, transfer_ns) = std::pair(1'500'000, 150'000);
      if (planted.kind == PlantedClass::Mixed)
        std::tie(late_ns, transfer_ns) = std::pair(550'000, 600'000);
    }
    if (options_.straggler && is_backward)
      std::tie(late, late_ns) = std::pair(*options_.straggler, options_.late_ns);
    std::vector<std::int64_t> arrivals_ns;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      std::int64_t compute_ns =
          std::max<std::int64_t>(10'000, options_.compute_ns + normal(options_.jitter_ns));
      if (static_cast<int>(r) == late) compute_ns += late_ns;
      if (number_ < options_.hiccups && options_.hiccups_of == static_cast<int>(r)) {
        compute_ns += options_.hiccup_ns;
      }
      ranks_[r].compute(now_ns_[r], now_ns_[r] + compute_ns);
      arrivals_ns.push_back(now_ns_[r] + compute_ns);
    }
    const auto [first, last] = std::minmax_element(arrivals_ns.begin(), arrivals_ns.end());
    planted.last = static_cast<int>(last - arrivals_ns.begin());
    planted.skew_ns = *last - *first;
    planted.length_ns = *last + transfer_ns - *first;
    made_.collectives.push_back(planted);
    const std::int64_t end_ns = *last + transfer_ns;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const std::int64_t own_end_ns = end_ns + std::abs(normal(options_.end_jitter_ns));
      std::int64_t shown_ns = own_end_ns;
      if (r > 0 && std::uniform_real_distribution<double>()(random_) < options_.outliers) {
        shown_ns += static_cast<std::int64_t>(random_() % 20'000'000U);
      }
      std::int64_t begin_ns = arrivals_ns[r];
      if (options_.scattered == static_cast<int>(r)) {
        const auto by_ns = static_cast<std::int64_t>(random_() % 10'000'000U);
        begin_ns += by_ns;
        shown_ns += by_ns;
      }
      ranks_[r].collective(number_, begin_ns, shown_ns);
      now_ns_[r] = own_end_ns + 10'000;
    }
    ++number_;
  }

  const PlantedRanks& options_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<RankTrace> ranks_;
  std::vector<std::int64_t> now_ns_;
  int number_ = 0;
  PlantedTraces made_;
};

}  // namespace

PlantedTraces planted_traces(const PlantedRanks& options, const RankSink& sink) {
  return Program(options, sink).run();
}

PlantedTraces planted_traces(const PlantedRanks& options) {
  return planted_traces(options, RankSink());
}

}  // namespace profline::testing
