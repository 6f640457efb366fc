#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/error.h"
#include "base/files.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "cli_program.h"
#include "formats/json.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "profline_version.h"
#include "serve/http/http_server.h"
#include "serve/site.h"
#include "serve/timeline_page.h"
#include "tiles/cache.h"
#include "tiles/timelines.h"

namespace {

using namespace profline;

constexpr const char* kThisMachine = "127.0.0.1";

/// The command line.
struct Options {
  bool show_version = false;
  std::vector<std::string> roots;
  std::string host = kThisMachine;
  int port = serve::kUsualPort;
  bool any_port = false;
  bool prints_json = false;
};

void declare(CLI::App& app, Options& options) {
  app.add_flag("--version", options.show_version, "show the version");
  app.add_option("--root", options.roots, "an output root; may be repeated");
  app.add_option("--host", options.host, "address to listen on [127.0.0.1]");
  app.add_option("--port", options.port, "port; 0: any free one");
  app.add_flag("--json", options.prints_json, "print the address as JSON");
  app.add_flag("--or-any-port", options.any_port, "take a free port if that one is taken");
}

Result<std::string> new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return os_error("read", "/dev/urandom", errno);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? lower(name.data()) : "";
}

/// `profline.serve/1` in one line, because the program goes on after it.
Result<std::string> serve_document(const std::string& url) {
  NodeMap document;
  document.set("schema", Node::string("profline.serve/1"));
  document.set("url", Node::string(url));
  return write_json(Node::map(std::move(document)), {.indent = 0});
}

/// The addresses that mean every one of this machine.
bool is_every_address(const std::string& host) {
  return host == "0.0.0.0" || host == "::" || host == "*";
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

serve::AccessRules rules_for(const std::string& host, int port, std::string token) {
  serve::AccessRules rules{.token = std::move(token),
                           .cookie_name = fmt::format("profline-{}", port)};
  if (is_this_machine(host)) return rules;
  rules.on_network = true;
  rules.hosts = {lower(host), host_name()};
  return rules;
}

std::string shown_host(const std::string& host) {
  if (is_every_address(host)) return host_name();
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

Result<serve::HttpServer> bind(const Options& options) {
  auto server = serve::HttpServer::bind(options.host, options.port);
  if (server || !options.any_port || options.port == 0) return server;
  return serve::HttpServer::bind(options.host, 0);
}

/// Waits for a signal that ends programs, which no thread handles.
void wait_for_end(const sigset_t& signals) {
  int arrived = 0;
  while (::sigwait(&signals, &arrived) != 0) {
  }
}

Result<ExitCode> run(const Options& options) {
  std::vector<std::filesystem::path> roots(options.roots.begin(), options.roots.end());
  if (roots.empty()) return Error(ErrorKind::Config, "--root must be given");
  catalog::Catalog catalog = PL_TRY(catalog::Catalog::open(roots));
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t ending{};
  ::sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ending, signal);
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);  // also in the threads that are started below

  serve::HttpServer server = PL_TRY(bind(options));
  const std::string token = PL_TRY(new_token());
  const std::string url =
      fmt::format("http://{}:{}/?token={}", shown_host(options.host), server.port(), token);
  fmt::print("{}\n", options.prints_json ? PL_TRY(serve_document(url)) : url);
  if (std::fflush(stdout) != 0) return os_error("write", "stdout", errno);

  Interrupt interrupt;
  const std::filesystem::path cache =
      tiles::cache_folder(environment_variable("XDG_CACHE_HOME"), environment_variable("HOME"));
  tiles::Timelines timelines({cache});
  serve::Site site(std::move(catalog), rules_for(options.host, server.port(), token), interrupt,
                   cache.empty() ? serve::TimelineView() : serve::timeline_view(timelines));
  Result<void> served;
  std::jthread listening([&] {
    served = server.serve(site);
    if (!served) ::kill(::getpid(), SIGTERM);  // for the wait below
  });
  wait_for_end(ending);
  interrupt.request();
  server.stop();
  listening.join();
  if (!served) return served.error();
  return ExitCode::Done;
}

/// Serves as a command line with this many words says.
struct Body {
  int words;

  Result<ExitCode> operator()(const CLI::App& app, const Options& options) const {
    if (options.show_version) {
      fmt::print("profline-serve {} ({})\n", kVersion, kCommit);
      return ExitCode::Done;
    }
    if (words > 1) return run(options);
    fmt::print("{}", app.help());
    return ExitCode::Done;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return run_program<Options>({"profline-serve", "The web server of 'profline serve'."}, argc, argv,
                              declare, Body{argc});
}
