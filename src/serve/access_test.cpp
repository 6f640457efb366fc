#include "serve/access.h"

#include <gtest/gtest.h>

namespace profline::serve {
namespace {

const AccessRules kRules{.token = "0123456789abcdef", .cookie_name = "profline-8600"};

Visitor with_cookie() {
  return {.host = "127.0.0.1:8600", .cookies = "theme=dark; profline-8600=0123456789abcdef"};
}

TEST(AVisitor, NeedsTheToken) {
  Visitor visitor{.host = "127.0.0.1:8600"};
  EXPECT_EQ(access_of(visitor, kRules), Access::NoToken);
  visitor.token = "0123456789abcdee";
  EXPECT_EQ(access_of(visitor, kRules), Access::NoToken);
  visitor.token = "0123456789abcdef";
  EXPECT_EQ(access_of(visitor, kRules), Access::ByAddress);
  EXPECT_EQ(access_of(with_cookie(), kRules), Access::Granted);
  visitor.token.clear();
  visitor.authorization = "Bearer 0123456789abcdef";
  EXPECT_EQ(access_of(visitor, kRules), Access::Granted);
  visitor.authorization = "Basic 0123456789abcdef";
  EXPECT_EQ(access_of(visitor, kRules), Access::NoToken);
}

TEST(AVisitor, WithTheCookieOfAnotherServerNeedsTheToken) {
  for (const char* cookies :
       {"profline-8601=0123456789abcdef", "profline-8600=", "profline-8600", "profline-8600=0123",
        "xprofline-8600=0123456789abcdef", "profline-8600=0123456789abcdef0"}) {
    EXPECT_EQ(access_of({.host = "localhost", .cookies = cookies}, kRules), Access::NoToken)
        << cookies;
  }
  EXPECT_EQ(access_of({.host = "localhost"}, {.token = "", .cookie_name = "c"}), Access::NoToken);
}

TEST(AVisitor, IsRefusedUnderAForeignHost) {
  for (const char* host :
       {"", "evil.example", "evil.example:8600", "127.0.0.1.evil.example", "localhost.evil.example",
        "10.0.0.1:8600", "169.254.169.254", "[::2]:8600", "127.0.0.1@evil.example", "[::1", "a b",
        "127.0.0.1,evil.example"}) {
    Visitor visitor = with_cookie();
    visitor.host = host;
    EXPECT_EQ(access_of(visitor, kRules), Access::ForeignHost) << host;
  }
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:1", "localhost:9000", "LOCALHOST", "[::1]:8600", "127.8.8.8"}) {
    Visitor visitor = with_cookie();
    visitor.host = host;
    EXPECT_EQ(access_of(visitor, kRules), Access::Granted) << host;
  }
}

TEST(AVisitor, ReachesAServerOnTheNetworkByItsNamesAndByAnyAddress) {
  AccessRules rules = kRules;
  rules.on_network = true;
  rules.hosts = {"node7"};
  for (const char* host : {"10.0.0.1:8600", "[fd00::1]:8600", "node7", "NODE7:8600", "localhost"}) {
    Visitor visitor = with_cookie();
    visitor.host = host;
    EXPECT_EQ(access_of(visitor, rules), Access::Granted) << host;
  }
  Visitor visitor = with_cookie();
  visitor.host = "evil.example";
  EXPECT_EQ(access_of(visitor, rules), Access::ForeignHost);
}

TEST(AVisitor, FromAnotherSiteReadsNothing) {
  struct Case {
    const char* origin;
    const char* site;
    const char* mode;
    Access access;
  };
  constexpr Case kCases[] = {
      {"", "cross-site", "cors", Access::ForeignSite},
      {"", "cross-site", "no-cors", Access::ForeignSite},
      {"", "same-site", "no-cors", Access::ForeignSite},  // another port of this machine
      {"https://evil.example", "", "", Access::ForeignSite},
      {"null", "", "", Access::ForeignSite},
      {"", "cross-site", "navigate", Access::Granted},  // a link; no cookie comes with it
      {"", "same-origin", "cors", Access::Granted},
      {"http://127.0.0.1:8600", "same-origin", "cors", Access::Granted},
      {"", "none", "navigate", Access::Granted},
  };
  for (const Case& c : kCases) {
    Visitor visitor = with_cookie();
    visitor.origin = c.origin;
    visitor.fetch_site = c.site;
    visitor.fetch_mode = c.mode;
    EXPECT_EQ(access_of(visitor, kRules), c.access) << c.origin << ' ' << c.site << ' ' << c.mode;
  }
}

TEST(AVisitor, CanOnlyRead) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", ""}) {
    Visitor visitor = with_cookie();
    visitor.method = method;
    EXPECT_EQ(access_of(visitor, kRules), Access::WrongMethod) << method;
  }
  Visitor visitor = with_cookie();
  visitor.method = "HEAD";
  EXPECT_EQ(access_of(visitor, kRules), Access::Granted);
}

}  // namespace
}  // namespace profline::serve
