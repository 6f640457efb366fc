#include "workload/profiler/static_trace.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <torch/library.h>

#include "workload/model/deepseek_ocr.h"
#include "workload/model/torch_compat.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

using Inputs = c10::ArrayRef<const c10::IValue>;

/// [m, k] times [k, n], for each of a batch: the left one's elements times n.
std::int64_t product(const at::Tensor& left, const at::Tensor& right) {
  return 2 * left.numel() * right.size(-1);
}

template <std::size_t left>
std::int64_t product_at(Inputs inputs) {
  return product(inputs[left].toTensor(), inputs[left + 1].toTensor());
}

/// [.., k] times a vector [k].
template <std::size_t matrix>
std::int64_t vector_product_at(Inputs inputs) {
  return 2 * inputs[matrix].toTensor().numel();
}

/// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups.
std::int64_t convolution(Inputs inputs) {
  const at::Tensor& input = inputs[0].toTensor();
  const at::Tensor& weight = inputs[1].toTensor();  // [out, in / groups, ...] unless transposed
  const bool transposed = inputs[6].toBool();
  const auto stride = inputs[3].toIntVector();
  const auto padding = inputs[4].toIntVector();
  const auto dilation = inputs[5].toIntVector();
  const auto of = [](const std::vector<std::int64_t>& values, std::size_t i) {
    return values[values.size() == 1 ? 0 : i];
  };
  // Each output (transposed: each input) element takes a product with a whole filter.
  std::int64_t positions = input.size(0);
  const std::int64_t filter = weight.numel() / weight.size(0);
  if (transposed) return 2 * input.numel() * filter;
  for (std::int64_t i = 2; i < input.dim(); ++i) {
    const auto d = static_cast<std::size_t>(i - 2);
    const std::int64_t reach = of(dilation, d) * (weight.size(i) - 1) + 1;
    positions *= (input.size(i) + 2 * of(padding, d) - reach) / of(stride, d) + 1;
  }
  return 2 * positions * weight.size(0) * filter;
}

/// q [.., Q, d], k [.., N, d], v [.., N, e].
std::int64_t attention(Inputs inputs) {
  const at::Tensor& q = inputs[0].toTensor();
  const at::Tensor& k = inputs[1].toTensor();
  const at::Tensor& v = inputs[2].toTensor();
  const std::int64_t rows = q.numel() / q.size(-1);
  return 2 * rows * k.size(-2) * (q.size(-1) + v.size(-1));
}

struct Rule {
  std::string_view name;
  std::int64_t (*flops)(Inputs inputs);
};
constexpr std::array kRules = {
    Rule{"aten::mm", product_at<0>},
    Rule{"aten::bmm", product_at<0>},
    Rule{"aten::addmm", product_at<1>},
    Rule{"aten::baddbmm", product_at<1>},
    Rule{"aten::mv", vector_product_at<0>},
    Rule{"aten::addmv", vector_product_at<1>},
    Rule{"aten::dot", vector_product_at<0>},
    Rule{"aten::convolution", convolution},
    Rule{"aten::_scaled_dot_product_attention", attention},
    Rule{"aten::scaled_dot_product_attention", attention},
};

/// The FLOPs of one call from the shapes of its inputs, a multiply-add being 2; nothing for an
/// operator other than a product, convolution or attention. Causal attention counts the full
/// square.
std::optional<std::int64_t> operator_flops(std::string_view name, Inputs inputs) {
  for (const Rule& rule : kRules) {
    if (rule.name == name) return rule.flops(inputs);
  }
  return std::nullopt;
}

/// One thread's open calls.
class Counter {
 public:
  void enter(const at::RecordFunction& function) {
    if (!open_.empty()) open_.back().is_leaf = false;
    Open call{function.name()};
    // The parts of a counted operator are counted with it.
    if (counted_depth_ == 0) call.flops = operator_flops(call.name, function.inputs());
    if (call.flops) ++counted_depth_;
    open_.push_back(std::move(call));
  }
  void leave() {
    const Open call = std::move(open_.back());
    open_.pop_back();
    if (call.flops) --counted_depth_;
    if (!call.flops && !(call.is_leaf && counted_depth_ == 0)) return;
    TracedOperator& row = rows_[call.name];
    row.name = call.name;
    ++row.calls;
    row.flops += call.flops.value_or(0);
  }

  OperatorCounts counts() const {
    OperatorCounts counts;
    for (const auto& [name, row] : rows_) counts.operators.push_back(row);
    std::stable_sort(
        counts.operators.begin(), counts.operators.end(),
        [](const TracedOperator& a, const TracedOperator& b) { return a.flops > b.flops; });
    return counts;
  }

 private:
  struct Open {
    std::string name;
    bool is_leaf = true;
    std::optional<std::int64_t> flops{};
  };
  std::vector<Open> open_;
  int counted_depth_ = 0;
  std::map<std::string, TracedOperator> rows_;
};

/// A callback is a plain function and can only access what is here.
Counter*& current_counter() {
  static thread_local Counter* counter = nullptr;
  return counter;
}

/// Counts this thread's operators while it lives.
class Counting {
 public:
  explicit Counting(Counter& counter) {
    current_counter() = &counter;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
              current_counter()->enter(function);
              return nullptr;
            },
            [](const at::RecordFunction&, at::ObserverContext*) { current_counter()->leave(); })
            .needsInputs(true)
            .scopes({at::RecordScope::FUNCTION}));
  }
  ~Counting() {
    at::removeCallback(handle_);
    current_counter() = nullptr;
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  at::CallbackHandle handle_;
};

/// Adds the rows of `more` to those of `sum`.
void add(OperatorCounts& sum, OperatorCounts more) {
  for (TracedOperator& row : more.operators) {
    bool found = false;
    for (TracedOperator& present : sum.operators) {
      if (present.name != row.name) continue;
      present.calls += row.calls;
      present.flops += row.flops;
      found = true;
    }
    if (!found) sum.operators.push_back(std::move(row));
  }
}

Result<void> trace_views(const DeepseekOcr& model, const at::Tensor& views, ModelTrace& trace) {
  at::Tensor features;
  at::Tensor tokens;
  add(trace.sam, PL_TRY(count_operators([&]() -> Result<void> {
        features = model.sam(views);
        return {};
      })));
  add(trace.clip, PL_TRY(count_operators([&]() -> Result<void> {
        tokens = model.clip(features);
        return {};
      })));
  add(trace.projector, PL_TRY(count_operators([&]() -> Result<void> {
        model.project(tokens, features);
        return {};
      })));
  return {};
}

/// A prompt of text only: the content of its slots does not change the work.
at::Tensor run_prompt(const DeepseekOcr& model, std::int64_t tokens, KvCache& cache) {
  const std::vector<std::int64_t> ids(static_cast<std::size_t>(tokens), 0);
  const std::vector<std::uint8_t> no_image(ids.size(), 0);
  return model.prefill(ids, no_image, {}, cache);
}

Result<void> trace_language(const DeepseekOcr& model, const TraceShape& shape, ModelTrace& trace) {
  KvCache cache = model.new_cache(std::max(shape.prompt_tokens, shape.context));
  trace.prefill = PL_TRY(count_operators([&]() -> Result<void> {
    run_prompt(model, shape.prompt_tokens, cache);
    return {};
  }));
  cache.clear();
  run_prompt(model, shape.context - 1, cache);
  const at::Tensor token = at::empty({1}, at::TensorOptions(at::kLong).device(at::kMeta));
  trace.decode = PL_TRY(count_operators([&]() -> Result<void> {
    model.decode(token, cache);
    return {};
  }));
  return {};
}

at::Tensor views_of(std::int64_t count, std::int64_t side) {
  return at::empty({count, 3, side, side}, at::TensorOptions(at::kFloat).device(at::kMeta));
}

using Ints = c10::IntArrayRef;

/// Only the shape matters.
at::Tensor meta_convolution(const at::Tensor& input, const at::Tensor& weight,
                            const c10::optional<at::Tensor>& /*bias*/, Ints stride, Ints padding,
                            Ints dilation, bool transposed, Ints /*output_padding*/,
                            std::int64_t /*groups*/) {
  TORCH_CHECK(!transposed, "transposed convolutions have no shapes here");
  std::vector<std::int64_t> shape = {input.size(0), weight.size(0)};
  for (std::int64_t i = 2; i < input.dim(); ++i) {
    const auto d = static_cast<std::size_t>(i - 2);
    const std::int64_t reach = dilation[d] * (weight.size(i) - 1) + 1;
    shape.push_back((input.size(i) + 2 * padding[d] - reach) / stride[d] + 1);
  }
  return at::empty(shape, input.options());
}

at::Tensor& logical_not(const at::Tensor& self, at::Tensor& out) {
  out.resize_(self.sizes());
  return out;
}

at::Tensor index_select(const at::Tensor& self, std::int64_t dim, const at::Tensor& index) {
  std::vector<std::int64_t> shape = self.sizes().vec();
  shape[static_cast<std::size_t>(c10::maybe_wrap_dim(dim, self.dim()))] = index.numel();
  return at::empty(shape, self.options());
}

at::Tensor flip(const at::Tensor& self, Ints /*dims*/) {
  return at::empty(self.sizes(), self.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm(
    const at::Tensor& input, Ints normalized_shape, const c10::optional<at::Tensor>& /*weight*/,
    const c10::optional<at::Tensor>& /*bias*/, double /*eps*/) {
  std::vector<std::int64_t> rows = input.sizes().vec();
  for (std::size_t i = 0; i < normalized_shape.size(); ++i) rows[rows.size() - 1 - i] = 1;
  return {at::empty(input.sizes(), input.options()), at::empty(rows, input.options()),
          at::empty(rows, input.options())};
}

#if !PL_TORCH_AT_LEAST(2, 0)  // newer versions do not ask for values
at::Tensor repeat_interleave(const at::Tensor& self, std::int64_t repeats,
                             c10::optional<std::int64_t> dim,
                             c10::optional<std::int64_t> /*output_size*/) {
  std::vector<std::int64_t> shape = dim ? self.sizes().vec() : std::vector{self.numel()};
  const std::int64_t rank = static_cast<std::int64_t>(shape.size());
  shape[static_cast<std::size_t>(c10::maybe_wrap_dim(dim.value_or(0), rank))] *= repeats;
  return at::empty(shape, self.options());
}
#endif

bool is_there(const char* name, const char* overload) {
  const auto found = c10::Dispatcher::singleton().findSchema({name, overload});
  return found && found->hasKernelForDispatchKey(c10::DispatchKey::Meta);
}

}  // namespace

std::int64_t OperatorCounts::flops() const {
  std::int64_t sum = 0;
  for (const TracedOperator& row : operators) sum += row.flops;
  return sum;
}

Result<OperatorCounts> count_operators(const std::function<Result<void>()>& work) {
  Counter counter;
  const Counting counting(counter);
  try {
    PL_TRY(work());
  } catch (const c10::Error& thrown) {
    return torch_error(thrown).during("tracing operators");
  }
  return counter.counts();
}

Node to_node(const OperatorCounts& counts) {
  NodeMap map;
  map.set("flops", Node::integer(counts.flops()));
  Node rows = Node::list();
  for (const TracedOperator& row : counts.operators) {
    NodeMap entry;
    entry.set("name", Node::string(row.name));
    entry.set("calls", Node::integer(static_cast<std::int64_t>(row.calls)));
    entry.set("flops", Node::integer(row.flops));
    rows.as_list().push_back(Node::map(std::move(entry)));
  }
  map.set("operators", std::move(rows));
  return Node::map(std::move(map));
}

Result<ModelTrace> trace_model(const DeepseekOcrConfig& config, at::ScalarType dtype,
                               const TraceShape& shape) {
  const MetaKernels kernels;
  NoWeights weights;
  const ModelOptions options{.device = at::kMeta, .dtype = dtype, .fused_attention = false};
  const DeepseekOcr model = PL_TRY(DeepseekOcr::load(config, weights, options));
  ModelTrace trace;
  const std::int64_t tiles = shape.grid.columns * shape.grid.rows;
  if (shape.page_side > 0) PL_TRY(trace_views(model, views_of(1, shape.page_side), trace));
  if (shape.page_side > 0 && tiles > 1) {
    PL_TRY(trace_views(model, views_of(tiles, shape.tile_side), trace));
  }
  PL_TRY(trace_language(model, shape, trace));
  return trace;
}

Node static_trace_document(const ModelTrace& trace, const TraceShape& shape) {
  NodeMap input;
  input.set("page_side", Node::integer(shape.page_side));
  input.set("tile_side", Node::integer(shape.tile_side));
  input.set("tile_columns", Node::integer(shape.grid.columns));
  input.set("tile_rows", Node::integer(shape.grid.rows));
  input.set("prompt_tokens", Node::integer(shape.prompt_tokens));
  input.set("decode_context", Node::integer(shape.context));
  NodeMap stages;
  stages.set("sam", to_node(trace.sam));
  stages.set("clip", to_node(trace.clip));
  stages.set("projector", to_node(trace.projector));
  stages.set("prefill", to_node(trace.prefill));
  stages.set("decode", to_node(trace.decode));
  NodeMap map;
  map.set("schema", Node::string("profline.static_trace/1"));
  map.set("how", Node::string("the module graph, run on libtorch's meta device"));
  map.set("input", Node::map(std::move(input)));
  map.set("stages", Node::map(std::move(stages)));
  return Node::map(std::move(map));
}

struct MetaKernels::Registrations {
  torch::Library library{torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__};
};

MetaKernels::MetaKernels() : registrations_(std::make_unique<Registrations>()) {
  torch::Library& library = registrations_->library;
  if (!is_there("aten::convolution_overrideable", "")) {
    library.impl("convolution_overrideable", meta_convolution);
  }
  if (!is_there("aten::index_select", "")) library.impl("index_select", index_select);
  if (!is_there("aten::flip", "")) library.impl("flip", flip);
  if (!is_there("aten::native_layer_norm", "")) {
    library.impl("native_layer_norm", native_layer_norm);
  }
#if !PL_TORCH_AT_LEAST(2, 0)
  library.impl("repeat_interleave.self_int", repeat_interleave);
#endif
  if (!is_there("aten::logical_not", "out")) library.impl("logical_not.out", logical_not);
}

MetaKernels::~MetaKernels() = default;

}  // namespace profline::workload
