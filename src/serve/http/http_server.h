#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "serve/site.h"

namespace profline::serve {

/// HTTP for a site, with limits on what a client may send and how long it may take. The only code
/// that uses cpp-httplib.
class HttpServer {
 public:
  /// Binds to the address; port 0 is any free one. An Error of kind Io if that is not possible.
  static Result<HttpServer> bind(const std::string& host, int port);
  ~HttpServer();
  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) = delete;

  int port() const { return port_; }
  /// Answers until stop(). The site outlives this call. An Error of kind Io: it could not go on
  /// listening, and nobody called stop().
  Result<void> serve(Site& site);
  /// May be called from another thread, also before serve().
  void stop();

 private:
  class Impl;
  HttpServer(std::unique_ptr<Impl> impl, std::string host, int port);

  std::unique_ptr<Impl> impl_;
  std::string host_;
  int port_ = 0;
};

}  // namespace profline::serve
