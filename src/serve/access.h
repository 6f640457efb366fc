#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Who may read: decided before anything else about a request.
namespace profline::serve {

/// How this server is reached.
struct AccessRules {
  std::string token;                 ///< in the address that is printed
  std::string cookie_name;           ///< differs by port: browsers share cookies between ports
  std::vector<std::string> hosts{};  ///< names that it is reached by, in lower case
  /// Any address in digits is one of this machine: it listens on more than the loopback. A page
  /// elsewhere can make its own name point here, but not an address (DNS rebinding).
  bool on_network = false;
};

/// The parts of a request that decide; absent headers are empty.
struct Visitor {
  std::string method = "GET";
  std::string host{};  ///< empty also if it is given twice
  std::string origin{};
  std::string fetch_site{};  ///< Sec-Fetch-Site
  std::string fetch_mode{};  ///< Sec-Fetch-Mode
  std::string cookies{};
  std::string authorization{};
  std::string token{};  ///< of the address
};

enum class Access {
  Granted,
  ByAddress,    ///< granted by the token in the address: from now on by a cookie
  WrongMethod,  ///< 405: there is nothing to change
  ForeignHost,  ///< 403
  ForeignSite,  ///< 403: another site's page asks
  NoToken,      ///< 401
};

Access access_of(const Visitor& visitor, const AccessRules& rules);

/// The host of a Host or an Origin header, in lower case, without scheme and port: `127.0.0.1`,
/// `::1`. Empty if it is not one.
std::string host_of(std::string_view header);

}  // namespace profline::serve
