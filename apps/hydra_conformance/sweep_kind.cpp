#include "config/override_parser.h"
#include "config/sweep.h"
#include "encode.h"
#include "kinds.h"

namespace profline::conformance {
namespace {

Result<std::vector<std::string>> texts_of(const Node& input) {
  const Node* overrides = input.find("overrides");
  if (overrides == nullptr || !overrides->is_list()) {
    return Error(ErrorKind::Parse, "the vector has no list of overrides");
  }
  std::vector<std::string> out;
  for (const Node& text : overrides->as_list()) {
    if (!text.is_string()) return Error(ErrorKind::Parse, "an override of the vector is no text");
    out.push_back(text.as_string());
  }
  return out;
}

Result<std::vector<config::Batch>> batches_of(const Node& input) {
  const std::vector<std::string> texts = PL_TRY(texts_of(input));
  const auto overrides = PL_TRY(config::parse_overrides(texts));
  std::optional<std::int64_t> size;
  const Node* given = input.find("max_batch_size");
  if (given != nullptr && given->is_int()) size = given->as_int();
  return config::expand_sweeps(overrides, size, {});
}

Node to_list(const std::vector<std::string>& texts) {
  Node out = Node::list();
  for (const std::string& text : texts) out.as_list().push_back(Node::string(text));
  return out;
}

}  // namespace

Node answer_sweep(const Vector& vector, const std::filesystem::path& /*folder*/) {
  const auto batches = batches_of(vector.input);
  if (!batches) return failure(batches.error());
  Node out = Node::list();
  for (const config::Batch& batch : *batches) {
    Node jobs = Node::list();
    for (const config::Job& job : batch) jobs.as_list().push_back(to_list(job));
    out.as_list().push_back(std::move(jobs));
  }
  return object({{"ok", Node::boolean(true)}, {"batches", std::move(out)}});
}

}  // namespace profline::conformance
