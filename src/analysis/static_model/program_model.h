#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/static_model/decoder.h"
#include "base/result.h"
#include "records/recorded_program.h"
#include "records/request.h"

/// The model of a user's program: what the adapter recorded in the process, as a Decoder.
namespace profline::static_model {

/// The parameters that the process counted, and those of the closed form.
struct ParameterCheck {
  Count counted;
  Count formula;

  bool agrees() const { return counted == formula; }
  /// Both numbers and their difference, as a sentence.
  std::string to_text() const;
};

/// How requests name a model: by its number in a process.
struct ModelInstance {
  std::int64_t pid = 0;
  std::uint64_t id = 0;

  /// Whether the request used it; one that names no model may have used any.
  bool is_used_by(const profline::Request& request) const;
};

struct ProgramModel {
  std::vector<ModelInstance> instances;  ///< more than one if several processes run the same model
  std::string name;                      ///< its class; empty: only its config is known
  Decoder decoder;
  NumberFormat format;
  std::optional<ParameterCheck> check;  ///< absent: the process recorded no model
  std::vector<std::string> notes;       ///< what the figures assume

  /// Why there must be no floors; empty if there may be.
  std::string floors_withheld() const;
  bool is_used_by(const profline::Request& request) const;
};

/// The Error says why there is no closed form: the model type, its dtype or its quantisation is not
/// known, or a key of its config is missing.
Result<ProgramModel> program_model(const RecordedModel& recorded);

/// The model that the requests used for the most time, or the largest one if they name none. Null
/// if there are no models.
const RecordedModel* most_used_model(std::span<const RecordedModel> models,
                                     std::span<const profline::Request> requests);

/// The same as a ProgramModel. `config` is the user's, which replaces the recorded one, or
/// null. An Error with reason `no_model` if nothing is known about the model.
Result<ProgramModel> model_of_program(std::span<const RecordedModel> models,
                                      std::span<const profline::Request> requests,
                                      const Node* config);

/// The shapes of a request. Nothing if its number of tokens is not known, or if its decode steps
/// are not one token per sequence each, as in assisted generation.
std::optional<Request> shapes_of(const profline::Request& request);

/// The shapes that most requests of a model have.
struct CommonShapes {
  Request shapes;
  std::uint64_t requests = 0;  ///< that have them
  std::uint64_t of = 0;        ///< requests in all
};
std::optional<CommonShapes> most_common_shapes(std::span<const profline::Request> requests,
                                               const ProgramModel& model);

}  // namespace profline::static_model
