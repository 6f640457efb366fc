#include "analysis/static_model/program_model.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace profline::static_model {
namespace {

constexpr const char* kModelAttribute = "model";
constexpr const char* kCachedAttribute = "cached_tokens";
constexpr const char* kProcessAttribute = "pid";  // only if several processes have requests

struct Sizes {
  Count parameters;
  Count buffers;
  Count linear;
};

Sizes sizes_of(const Decoder& decoder) {
  Sizes sizes;
  for (const ParameterGroup& group : parameter_groups(decoder)) {
    (group.is_buffer ? sizes.buffers : sizes.parameters) += group.parameters;
    sizes.linear += group.linear;
  }
  return sizes;
}

/// The elements that a process may count as parameters of this model.
std::vector<Count> possible_counts(const Decoder& decoder) {
  const Sizes sizes = sizes_of(decoder);
  // Releases differ in whether the routers' biases are parameters.
  std::vector<Count> counts = {sizes.parameters};
  if (sizes.buffers > Count()) counts.push_back(sizes.parameters + sizes.buffers);
  if (decoder.quantization && decoder.quantization->in_buffers) {
    counts.emplace_back(sizes.parameters.value() - sizes.linear.value());
  }
  return counts;
}

/// Scales of quantised weights may be parameters; they are fp32 next to weights that are not.
std::uint64_t counted_weights(const RecordedModel& recorded, const Decoder& decoder) {
  const std::uint64_t count = recorded.parameters.count;
  if (!decoder.quantization || recorded.dtype == "float32") return count;
  const auto scales = recorded.parameters.by_dtype.find("float32");
  return scales == recorded.parameters.by_dtype.end() || scales->second > count
             ? count
             : count - scales->second;
}

ParameterCheck check_of(const RecordedModel& recorded, const Decoder& decoder) {
  const Count counted = counted_weights(recorded, decoder);
  const std::vector<Count> possible = possible_counts(decoder);
  const auto same = std::find(possible.begin(), possible.end(), counted);
  return {counted, same == possible.end() ? possible.front() : *same};
}

/// Bytes per quantised weight as the process stores them, scales included. Nothing if the recorded
/// size does not allow a conclusion.
std::optional<double> recorded_bytes_per_weight(const RecordedModel& recorded,
                                                const Decoder& decoder,
                                                const NumberFormat& format) {
  const Sizes sizes = sizes_of(decoder);
  if (decoder.quantization->in_buffers || sizes.linear == Count()) return std::nullopt;
  const double others = static_cast<double>(sizes.parameters.value() - sizes.linear.value()) *
                        static_cast<double>(format.bytes);
  const double each =
      (static_cast<double>(recorded.parameters.bytes) - others) / sizes.linear.as_double();
  constexpr double kLeast = 0.25;  // two bits
  if (each < kLeast || each >= static_cast<double>(format.bytes)) return std::nullopt;
  return each;
}

/// Adds what the process recorded about the weights to what their method implies.
Result<void> complete(const RecordedModel& recorded, const NumberFormat& format, Decoder& decoder) {
  Quantization& quantization = *decoder.quantization;
  const auto each = recorded_bytes_per_weight(recorded, decoder, format);
  if (!quantization.weights && !each) {
    return Error(ErrorKind::Config, "its weights are quantised (" + quantization.method +
                                        "), and how they are stored is not known");
  }
  if (!quantization.weights) quantization.weights = QuantizedWeights{quantization.method, *each};
  if (each) quantization.weights->bytes_per_weight = *each;
  return {};
}

}  // namespace

std::string ParameterCheck::to_text() const {
  const bool is_more = counted > formula;
  const std::uint64_t difference =
      is_more ? counted.value() - formula.value() : formula.value() - counted.value();
  return "the process counted " + std::to_string(counted.value()) +
         " parameters, the closed form " + std::to_string(formula.value()) + ": " +
         std::to_string(difference) + (is_more ? " more" : " fewer");
}

bool ModelInstance::is_used_by(const profline::Request& request) const {
  const auto model = request.integer(kModelAttribute);
  const auto process = request.integer(kProcessAttribute);
  return (!model || *model == static_cast<std::int64_t>(id)) && (!process || *process == pid);
}

bool ProgramModel::is_used_by(const profline::Request& request) const {
  return std::any_of(instances.begin(), instances.end(),
                     [&](const ModelInstance& instance) { return instance.is_used_by(request); });
}

std::string ProgramModel::floors_withheld() const {
  return !check || check->agrees() ? std::string() : check->to_text();
}

Result<ProgramModel> program_model(const RecordedModel& recorded) {
  ProgramModel model;
  model.instances = {{recorded.pid, recorded.id}};
  model.name = recorded.name;
  model.decoder = PL_TRY(read_decoder(recorded.config));
  if (auto quantization = read_quantization(&recorded.quantization)) {
    model.decoder.quantization = std::move(quantization);
  }
  const std::string dtype = recorded.dtype.value_or(model.decoder.dtype);
  const auto format = number_format(dtype);
  if (!format) return Error(ErrorKind::Config, "no figures for dtype '" + dtype + "'");
  model.format = *format;
  if (format->cores == settings::Cores::Vector) {
    model.notes.push_back(format->name +
                          " products at the rate of the vector cores: if the program enables TF32, "
                          "the limit is lower");
  }
  if (model.decoder.quantization) {
    PL_TRY(complete(recorded, model.format, model.decoder));
    model.format = with_quantization(model.format, *model.decoder.quantization, model.notes);
  }
  model.check = check_of(recorded, model.decoder);
  return model;
}

Result<ProgramModel> model_of_program(std::span<const RecordedModel> models,
                                      std::span<const profline::Request> requests,
                                      const Node* config) {
  const RecordedModel* used = most_used_model(models, requests);
  if (used == nullptr && config == nullptr) {
    return Error(ErrorKind::NotFound, "no model was recorded in the program")
        .with_reason("no_model");
  }
  RecordedModel given = used == nullptr ? RecordedModel() : *used;
  if (config != nullptr) given.config = *config;
  ProgramModel model = PL_TRY(program_model(given));
  for (const RecordedModel& other : models) {
    const bool is_same = &other != used && other.config == used->config &&
                         other.parameters == used->parameters && other.dtype == used->dtype;
    if (is_same) model.instances.push_back({other.pid, other.id});
  }
  if (used == nullptr) {
    model.check.reset();
    model.notes.emplace_back(
        "the program's parameters were not counted, so the config could not be checked");
  }
  return model;
}

const RecordedModel* most_used_model(std::span<const RecordedModel> models,
                                     std::span<const profline::Request> requests) {
  const auto time_of = [&](const RecordedModel& model) {
    double ns = 0;
    for (const profline::Request& request : requests) {
      const bool names_it = request.integer(kModelAttribute).has_value() &&
                            ModelInstance{model.pid, model.id}.is_used_by(request);
      if (names_it) ns += static_cast<double>(request.ns);
    }
    return ns;
  };
  const auto best = std::max_element(models.begin(), models.end(),
                                     [&](const RecordedModel& a, const RecordedModel& b) {
                                       return std::pair(time_of(a), a.parameters.count) <
                                              std::pair(time_of(b), b.parameters.count);
                                     });
  return best == models.end() ? nullptr : &*best;
}

std::optional<Request> shapes_of(const profline::Request& request) {
  if (request.prompt_tokens.value_or(0) == 0 || request.new_tokens.value_or(0) == 0) {
    return std::nullopt;
  }
  Request shapes;
  shapes.prompt_tokens = *request.prompt_tokens;
  shapes.new_tokens = *request.new_tokens;
  shapes.batch = std::max<std::uint64_t>(request.batch.value_or(1), 1);
  const auto cached = std::max<std::int64_t>(request.integer(kCachedAttribute).value_or(0), 0);
  shapes.cached_tokens = static_cast<std::uint64_t>(cached);
  if (shapes.cached_tokens >= shapes.prompt_tokens) return std::nullopt;
  for (const Phase& phase : request.phases) {
    const auto names = phase_names(ModelPhase::Decode);
    const bool is_decode =
        std::find(names.begin(), names.end(), last_name(phase.path)) != names.end();
    if (is_decode && phase.steps_ns && phase.steps_ns->size() != shapes.new_tokens - 1) {
      return std::nullopt;
    }
  }
  return shapes;
}

std::optional<CommonShapes> most_common_shapes(std::span<const profline::Request> requests,
                                               const ProgramModel& model) {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  std::map<Key, CommonShapes> all;
  std::uint64_t used = 0;
  for (const profline::Request& request : requests) {
    if (!model.is_used_by(request)) continue;
    ++used;
    const auto shapes = shapes_of(request);
    if (!shapes) continue;
    CommonShapes& common =
        all[{shapes->prompt_tokens, shapes->new_tokens, shapes->batch, shapes->cached_tokens}];
    common.shapes = *shapes;
    ++common.requests;
  }
  const auto most = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second.requests < b.second.requests;
  });
  if (most == all.end()) return std::nullopt;
  most->second.of = used;
  return most->second;
}

}  // namespace profline::static_model
