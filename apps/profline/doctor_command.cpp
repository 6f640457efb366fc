#include <algorithm>

#include <fmt/core.h>

#include "base/files.h"
#include "base/strings.h"
#include "doctor/checks.h"
#include "doctor/launchers.h"
#include "formats/json.h"
#include "process/runner.h"
#include "profline_version.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

std::string as_text(const std::vector<doctor::Finding>& findings,
                    const std::vector<std::string>& required) {
  const std::vector<std::string> optional = doctor::optional_launchers(findings, required);
  std::string text = fmt::format("profline {} ({})\n\n", kVersion, kCommit);
  for (const doctor::Finding& finding : findings) {
    if (std::find(optional.begin(), optional.end(), finding.name) != optional.end()) continue;
    text += fmt::format("{:<9} {:<8} {}\n", finding.name, to_text(finding.state), finding.detail);
    if (!finding.fix.empty()) text += fmt::format("{:<18} fix: {}\n", "", finding.fix);
  }
  if (optional.empty()) return text;
  return text + fmt::format(
                    "{:<9} {:<8} only programs of several ranks need a launcher; not usable here: "
                    "{} (--require {} shows the fix)\n",
                    "ranks", "optional", join(optional, ", "), optional.front());
}

Result<std::string> as_json(const std::vector<doctor::Finding>& findings) {
  Node::List list;
  for (const doctor::Finding& finding : findings) {
    NodeMap entry;
    entry.set("name", Node::string(finding.name));
    entry.set("state", Node::string(std::string(to_text(finding.state))));
    entry.set("detail", Node::string(finding.detail));
    entry.set("fix", finding.fix.empty() ? Node() : Node::string(finding.fix));
    list.push_back(Node::map(std::move(entry)));
  }
  NodeMap document;
  document.set("schema", Node::string("profline.doctor/1"));
  document.set("version", Node::string(kVersion));
  document.set("commit", Node::string(kCommit));
  document.set("path", Node::string(own_path()));
  document.set("findings", Node::list(std::move(list)));
  return write_json(Node::map(std::move(document)));
}

/// `profline doctor`: which of GPU, driver, profilers, libtorch and disk are usable here, and the
/// fix for the others.
class DoctorVerb final : public Verb {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view summary() const override {
    return "check GPU, driver, nsys, ncu, libtorch, permissions and disk";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline doctor", "what works here, and how to fix what does not"},
        {"profline doctor --require gpu,nsys", "exit with code 3 if one of them is missing"},
    };
  }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> DoctorVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--nsys", "", Takes::Value, "PROGRAM",
       "the nsys to check [on PATH, or bundled with the ncu on PATH]"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu to check [ncu on PATH]"},
      {"--workload", "", Takes::Value, "PROGRAM",
       "the profline-workload to check [next to profline, then on PATH]"},
      {"--require", "", Takes::Values, "NAMES", "exit with code 3 unless all of these are found",
       doctor::subjects()},
  };
}

Result<ExitCode> DoctorVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  const std::vector<std::string> required = arguments.values("--require");
  const auto findings =
      PL_TRY(doctor::examine({.nsys = arguments.value("--nsys").value_or("nsys"),
                              .ncu = arguments.value("--ncu").value_or("ncu"),
                              .workload = arguments.value("--workload").value_or("")},
                             services.processes, services.interrupt));
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(as_json(findings))
                               : for_terminal(as_text(findings, required));
  PL_TRY(print_result(text));
  return doctor::are_found(required, findings) ? ExitCode::Done : ExitCode::Absent;
}

std::unique_ptr<Verb> doctor_verb() {
  return std::make_unique<DoctorVerb>();
}

}  // namespace profline
