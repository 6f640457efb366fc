#include "testing/captures/generated_trace.h"

#include <array>
#include <cstdio>
#include <random>

namespace profline::testing {
namespace {

constexpr auto kKernels = std::to_array<std::string_view>({
    "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT",
    "nvjet_sm90_tst_128x64_64x10_2x1_v_bz_coopA_TNT",
    "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::"
    "silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#6}::"
    "operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, at::native::"
    "(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() "
    "const::{lambda()#6}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>)",
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bfloat16, "
    "false, float, __nv_bfloat16, __nv_bfloat16, true, false, false, false>(cublasLt::"
    "cublasSplitKParams<float>, float const*, __nv_bfloat16 const*, float*, __nv_bfloat16*)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
    "float, float, float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, at::native::"
    "MeanOps<float, float, float, float>, unsigned int, float, 4, 4>)",
    "void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, "
    "false, cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 4, cutlass::bfloat16_t> >, "
    "false, false, false, false, true, false, false, false>(pytorch_flash::Flash_fwd_params)",
    "triton_red_fused_add_mean_mul_pow_rsqrt_3",
});

/// An operator in an operator, and what the inner one launches.
constexpr int kEventsPerLaunch = 6;

class Generator {
 public:
  explicit Generator(const std::function<Result<void>(std::string_view)>& sink) : sink_(sink) {}

  Result<GeneratedTrace> run(std::uint64_t events) {
    text_ = R"(
  {
    "schemaVersion": 1,
    "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320,
      "computeMajor": 9, "computeMinor": 0, "numSms": 132
    }
    ],
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
)";
    while (made_.events < events) {
      launch();
      if (text_.size() > kFlushBytes) PL_TRY(flush());
    }
    text_ += "\n  ],\n  \"traceName\": \"/tmp/trace.json\"\n}";
    PL_TRY(flush());
    return made_;
  }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 20U;
  static constexpr std::int64_t kOriginNs = 3'869'040'068'636'722;

  Result<void> flush() {
    made_.bytes += text_.size();
    auto done = sink_(text_);
    text_.clear();
    return done;
  }

  /// `"ts": 3869040068636.722, "dur": 5.792`
  std::string times(std::int64_t start_ns, std::int64_t duration_ns) const {
    std::array<char, 96> text{};
    const std::int64_t at = kOriginNs + start_ns;
    std::snprintf(text.data(), text.size(), "\"ts\": %lld.%03lld, \"dur\": %lld.%03lld",
                  static_cast<long long>(at / 1000), static_cast<long long>(at % 1000),
                  static_cast<long long>(duration_ns / 1000),
                  static_cast<long long>(duration_ns % 1000));
    return text.data();
  }

  void begin_event() {
    if (made_.events++ > 0) text_ += ",\n";
  }

  void operator_event(std::string_view name, std::int64_t start_ns, std::int64_t duration_ns) {
    begin_event();
    ++made_.operators;
    const std::string rows = std::to_string(1 + random_() % 8);
    text_ += R"(  {
    "ph": "X", "cat": "cpu_op", "name": ")";
    text_ += name;
    text_ += "\", \"pid\": 884, \"tid\": 884,\n    " + times(start_ns, duration_ns);
    text_ += ",\n    \"args\": {\n      \"External id\": " + std::to_string(made_.operators);
    text_ += R"(,"Record function id": 0, "Concrete Inputs": ["", ""], "Input type": )"
             R"(["c10::BFloat16", "c10::BFloat16"], "Input Strides": [[1280, 1], [6848, 1]], )"
             R"("Input Dims": [[)";
    text_ += rows + ", 1280], [1280, 6848]], \"Ev Idx\": " + std::to_string(made_.operators);
    text_ += "\n    }\n  }";
  }

  void call_event(std::int64_t start_ns, std::int64_t duration_ns, const std::string& correlation) {
    begin_event();
    ++made_.calls;
    text_ += R"(  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 884, "tid": 884,
    )";
    text_ += times(start_ns, duration_ns) + ",\n    \"args\": {\n      \"External id\": ";
    text_ += std::to_string(made_.operators) + ", \"cbid\": 211, \"correlation\": " + correlation;
    text_ += "\n    }\n  }";
  }

  void flow_event(char phase, std::string_view lane, std::int64_t at_ns, const std::string& id) {
    begin_event();
    ++made_.flows;
    text_ += "  {\n    \"ph\": \"";
    text_ += phase;
    text_ += "\", \"id\": " + id + ", ";
    text_ += lane;
    const std::string time = times(at_ns, 0);
    text_ += ", " + time.substr(0, time.find(", \"dur\"")) + ",\n    \"cat\": \"ac2g\", ";
    text_ += "\"name\": \"ac2g\"\n  }";
  }

  void kernel_event(std::int64_t start_ns, std::int64_t duration_ns,
                    const std::string& correlation) {
    begin_event();
    ++made_.kernels;
    made_.kernel_ns += duration_ns;
    text_ += "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"";
    text_ += kKernels[random_() % kKernels.size()];
    text_ += "\", \"pid\": 0, \"tid\": 7,\n    " + times(start_ns, duration_ns);
    text_ += ",\n    \"args\": {\n      \"External id\": " + std::to_string(made_.operators);
    text_ += R"(,
      "queued": 0, "device": 0, "context": 1,
      "stream": 7, "correlation": )";
    text_ += correlation;
    text_ += R"(,
      "registers per thread": 168,
      "shared memory": 164308,
      "blocks per SM": 0.818182,
      "warps per SM": 9.818182,
      "grid": [4, )";
    text_ += std::to_string(1 + random_() % 64);
    text_ += R"(, 1],
      "block": [384, 1, 1],
      "est. achieved occupancy %": 0
    }
  })";
  }

  void launch() {
    static_assert(kEventsPerLaunch == 6);
    const std::string correlation = std::to_string(made_.calls * 2 + 14);
    const auto host_ns = static_cast<std::int64_t>(8'000 + random_() % 4'000);
    const auto gpu_ns = static_cast<std::int64_t>(2'000 + random_() % 5'000);
    operator_event("aten::linear", now_ns_, host_ns);
    operator_event("aten::mm", now_ns_ + 900, host_ns - 1'000);
    kernel_event(now_ns_ + 9'000, gpu_ns, correlation);
    flow_event('f', "\"pid\": 0, \"tid\": 7", now_ns_ + 9'000, correlation);
    call_event(now_ns_ + 2'000, 4'321, correlation);
    flow_event('s', "\"pid\": 884, \"tid\": 884", now_ns_ + 2'000, correlation);
    now_ns_ += host_ns + 100;
  }

  const std::function<Result<void>(std::string_view)>& sink_;
  std::mt19937_64 random_{1};
  std::string text_;
  GeneratedTrace made_;
  std::int64_t now_ns_ = 0;
};

}  // namespace

Result<GeneratedTrace> generate_trace(std::uint64_t events,
                                      const std::function<Result<void>(std::string_view)>& sink) {
  return Generator(sink).run(events);
}

}  // namespace profline::testing
