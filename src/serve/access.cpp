#include "serve/access.h"

#include <algorithm>
#include <cstdint>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/strings.h"

namespace profline::serve {
namespace {

enum class Address { None, Loopback, Other };

Address address_kind(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) {
    constexpr std::uint32_t kFirstByte = 24;
    constexpr std::uint32_t kLoopbackNet = 127;
    return ntohl(four.s_addr) >> kFirstByte == kLoopbackNet ? Address::Loopback : Address::Other;
  }
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) != 1) return Address::None;
  return IN6_IS_ADDR_LOOPBACK(&six) ? Address::Loopback : Address::Other;
}

bool is_ours(const std::string& host, const AccessRules& rules) {
  if (host.empty()) return false;
  if (host == "localhost") return true;
  const Address kind = address_kind(host);
  if (kind == Address::Loopback || (kind == Address::Other && rules.on_network)) return true;
  return std::find(rules.hosts.begin(), rules.hosts.end(), host) != rules.hosts.end();
}

/// Takes the same time wherever the texts differ.
bool is_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size() || token.empty()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    difference |= static_cast<unsigned>(given[i] ^ token[i]);
  }
  return difference == 0;
}

bool has_cookie(std::string_view cookies, const AccessRules& rules) {
  for (const std::string_view part : split(cookies, ';')) {
    const std::string_view cookie = trim(part);
    const std::size_t equals = cookie.find('=');
    if (equals == std::string_view::npos || cookie.substr(0, equals) != rules.cookie_name) continue;
    if (is_token(cookie.substr(equals + 1), rules.token)) return true;
  }
  return false;
}

bool has_bearer(std::string_view authorization, const AccessRules& rules) {
  constexpr std::string_view kScheme = "Bearer ";
  return authorization.starts_with(kScheme) &&
         is_token(authorization.substr(kScheme.size()), rules.token);
}

/// Another site's page may lead here by a link, but not read or embed anything.
bool is_from_elsewhere(const Visitor& visitor, const AccessRules& rules) {
  if (!visitor.origin.empty() && !is_ours(host_of(visitor.origin), rules)) return true;
  const bool is_other_site =
      visitor.fetch_site == "cross-site" || visitor.fetch_site == "same-site";
  return is_other_site && visitor.fetch_mode != "navigate";
}

}  // namespace

std::string host_of(std::string_view header) {
  const std::size_t scheme = header.find("://");
  if (scheme != std::string_view::npos) header.remove_prefix(scheme + 3);
  if (header.starts_with('[')) {
    const std::size_t end = header.find(']');
    return end == std::string_view::npos ? "" : lower(header.substr(1, end - 1));
  }
  const std::string_view host = header.substr(0, header.find(':'));
  const bool is_one = std::all_of(host.begin(), host.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
  });
  return is_one ? lower(host) : "";
}

Access access_of(const Visitor& visitor, const AccessRules& rules) {
  if (!is_ours(host_of(visitor.host), rules)) return Access::ForeignHost;
  if (is_from_elsewhere(visitor, rules)) return Access::ForeignSite;
  if (visitor.method != "GET" && visitor.method != "HEAD") return Access::WrongMethod;
  if (has_cookie(visitor.cookies, rules) || has_bearer(visitor.authorization, rules)) {
    // The address may still have the token, and should lose it.
    return visitor.token.empty() ? Access::Granted : Access::ByAddress;
  }
  return is_token(visitor.token, rules.token) ? Access::ByAddress : Access::NoToken;
}

}  // namespace profline::serve
