#include "base/terminal_text.h"
#include "formats/json.h"
#include "session/run_session.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

Node document(const fs::path& run, const report::Written& written) {
  NodeMap map;
  map.set("schema", Node::string("profline.report/1"));
  map.set("run", Node::string(run.string()));
  map.set("verdict", Node::string(written.verdict));
  Node files = Node::list();
  for (const auto& file : written.files) files.as_list().push_back(Node::string(file.string()));
  map.set("files", std::move(files));
  return Node::map(std::move(map));
}

/// `profline report RUN`.
class ReportVerb final : public Verb {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override {
    return "rewrite the reports of a run from its artifacts";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline report tmp/profile-output/20261115-100000",
         "for example after updating profline"},
    };
  }
  std::string_view words() const override { return "RUN"; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

Result<ExitCode> ReportVerb::run(const Services&, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.words.size() != 1) {
    return Error(ErrorKind::Config, "'profline report RUN' takes one run's folder")
        .with_reason("usage");
  }
  const fs::path run = arguments.words.front();
  const report::Written written = PL_TRY(session::rewrite_reports(run));
  if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(write_json(document(run, written)))));
    return ExitCode::Done;
  }
  std::string text = printable(written.verdict) + "\n";
  for (const auto& file : written.files) text += printable((run / file).string()) + "\n";
  PL_TRY(print_result(for_terminal(std::move(text))));
  return ExitCode::Done;
}

std::unique_ptr<Verb> report_verb() {
  return std::make_unique<ReportVerb>();
}

}  // namespace profline
