#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "process/runner.h"
#include "session/stored_runs.h"
#include "standard_streams.h"
#include "verb.h"

namespace profline {
namespace {

constexpr const char* kProgram = "profline-serve";
constexpr const char* kThisMachine = "127.0.0.1";

/// `profline serve [ROOT...]`: pages about runs, for a browser.
class ServeVerb final : public Verb {
 public:
  std::string_view name() const override { return "serve"; }
  std::string_view summary() const override {
    return "show all runs in a browser: lists, reports, trends, comparisons";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline serve", "prints the address to open; Ctrl-C ends it"},
        {"profline serve tmp/profile-output /data/runs --port 0",
         "the runs below two output roots, on any free port"},
    };
  }
  std::string_view words() const override { return "[ROOT...]"; }
  std::vector<Option> options() const override {
    return {{"--port", "", Option::Takes::Value, "N",
             "port to listen on; 0: any free one [8600, or any free one if that is taken]"},
            {"--host", "", Option::Takes::Value, "ADDRESS",
             "address to listen on [127.0.0.1: only this machine can connect]; with another one, "
             "such as 0.0.0.0, everyone who can reach it and has the token can read the runs, and "
             "the connection is not encrypted"}};
  }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

Result<void> check_port(const std::string& port) {
  constexpr std::uint32_t kMost = 65535;
  const auto number = whole_number<std::uint32_t>(port);
  if (number && *number <= kMost) return {};
  return usage("--port takes a number from 0 to 65535, not '" + port + "'");
}

}  // namespace

Result<ExitCode> ServeVerb::run(const Services&, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  const std::string program = PL_TRY(find_companion(kProgram)).string();
  std::vector<std::string> words = {program};
  std::vector<std::string> roots = arguments.words;
  if (roots.empty()) roots.emplace_back(session::kDefaultRoot);
  for (std::string& root : roots) words.insert(words.end(), {"--root", std::move(root)});
  if (const auto port = arguments.value("--port")) {
    PL_TRY(check_port(*port));
    words.insert(words.end(), {"--port", *port});
  } else {
    words.emplace_back("--or-any-port");
  }
  const std::string host = arguments.value("--host").value_or(kThisMachine);
  words.insert(words.end(), {"--host", host});
  if (invocation.output.format == OutputFormat::Json) words.emplace_back("--json");
  const bool is_open = host != "localhost" && host != "::1" && !host.starts_with("127.");
  if (is_open && invocation.output.verbosity >= 0) {
    print_remark(
        "profline: warning: other machines can connect, unencrypted; whoever has the token "
        "can read all runs below the roots");
  }
  // It takes this process's place: signals and the terminal are its own.
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  return os_error("start", program, errno);
}

std::unique_ptr<Verb> serve_verb() {
  return std::make_unique<ServeVerb>();
}

}  // namespace profline
