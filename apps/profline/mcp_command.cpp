#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/terminal_text.h"
#include "catalog/catalog.h"
#include "mcp/conversation.h"
#include "mcp/protocol.h"
#include "mcp/tools.h"
#include "profline_version.h"
#include "session/stored_runs.h"
#include "standard_streams.h"
#include "verb.h"

namespace profline {
namespace {

/// `profline mcp [ROOT...]`: answers assistants over the Model Context Protocol.
class McpVerb final : public Verb {
 public:
  std::string_view name() const override { return "mcp"; }
  std::string_view summary() const override {
    return "answer an assistant's questions about runs (Model Context Protocol on stdin)";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline mcp tmp/profile-output",
         "what a client starts; docs/agents.md has its settings"},
        {"profline mcp --allow-run", "the assistant may also start runs"},
    };
  }
  std::string_view words() const override { return "[ROOT...]"; }
  std::vector<Option> options() const override {
    return {{"--allow-run", "", Option::Takes::Nothing, "",
             "also offer a tool that starts runs: it executes programs"}};
  }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

Result<ExitCode> McpVerb::run(const Services& services, const Invocation& invocation) const {
  std::vector<std::filesystem::path> roots(invocation.arguments.words.begin(),
                                           invocation.arguments.words.end());
  if (roots.empty()) roots.emplace_back(session::kDefaultRoot);
  catalog::Catalog catalog = PL_TRY(catalog::Catalog::open(roots));
  if (::isatty(STDIN_FILENO) == 1 && invocation.output.verbosity >= 0) {
    print_remark("profline: waiting for a client's messages on stdin; end with Ctrl-D");
  }
  const auto allow =
      invocation.arguments.has("--allow-run") ? mcp::AllowRun::Yes : mcp::AllowRun::No;
  mcp::Tools tools(std::move(catalog), services, allow);
  mcp::Server server({"profline", kVersion, mcp::instructions()}, tools);
  PL_TRY(mcp::converse(server, STDIN_FILENO, print_result));
  return ExitCode::Done;
}

std::unique_ptr<Verb> mcp_verb() {
  return std::make_unique<McpVerb>();
}

}  // namespace profline
