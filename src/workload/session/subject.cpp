#include "workload/session/subject.h"

#include "workload/session/deepseek_subject.h"
#include "workload/session/dummy_subject.h"

namespace profline::workload {
namespace {

bool is_deepseek(const RunRequest& request) {
  return std::holds_alternative<settings::deepseek_ocr::Subject>(request.settings.subject);
}

}  // namespace

Result<std::unique_ptr<Subject>> open_subject(const RunRequest& request, const Machine& machine,
                                              Progress& progress) {
  return is_deepseek(request) ? open_deepseek_subject(request, machine, progress)
                              : open_dummy_subject(request, machine);
}

Result<Node> trace_subject(const RunRequest& request) {
  if (is_deepseek(request)) return trace_deepseek(request);
  return Error(ErrorKind::Config, "mode static_trace knows the operators of deepseek_ocr only");
}

}  // namespace profline::workload
