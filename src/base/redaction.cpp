#include "base/redaction.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/strings.h"

namespace profline {
namespace {

constexpr auto kNone = std::string_view::npos;

bool is_alnum(char c) {
  return is_letter(c) || is_digit(c);
}
bool is_quote(char c) {
  return c == '\'' || c == '"';
}
/// A character of a key, an option or a variable.
bool is_name_char(char c) {
  return is_alnum(c) || c == '_' || c == '-' || c == '.';
}
/// A character of most tokens.
bool is_token_char(char c) {
  return is_alnum(c) || c == '_' || c == '-';
}

template <std::size_t n>
bool is_one_of(std::string_view text, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

// ---- names -----------------------------------------------------------------

/// `clientSecret`, `CLIENT_SECRET` and `--client-secret` as [client, secret].
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool is_open = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_alnum(c)) {
      is_open = false;
      continue;
    }
    const bool is_hump = i > 0 && is_upper(c) && is_lower(name[i - 1]);
    if (!is_open || is_hump) words.emplace_back();
    words.back() += lower(c);
    is_open = true;
  }
  return words;
}

constexpr std::string_view kSecretWords[] = {
    "password",   "passwords",     "passwd",   "passphrase", "secret",      "secrets",
    "credential", "credentials",   "creds",    "auth",       "bearer",      "apikey",
    "apikeys",    "authorization", "apitoken", "authtoken",  "accesstoken", "hftoken",
    "accesskey",  "secretkey",     "cookie",
};
// A `key` after one of these is a secret; any other is a key of a map.
constexpr std::string_view kKeysTo[] = {"api",     "access", "secret",  "private",     "encryption",
                                        "signing", "auth",   "account", "subscription"};
// A `token` after one of these is a piece of text.
constexpr std::string_view kTextTokens[] = {
    "eos",         "bos",     "pad",     "unk",       "sep",    "cls",     "mask",
    "image",       "img",     "video",   "audio",     "stop",   "start",   "end",
    "begin",       "first",   "next",    "last",      "per",    "new",     "text",
    "prompt",      "special", "input",   "output",    "decode", "prefill", "each",
    "one",         "draft",   "sampled", "generated", "think",  "tool",    "separator",
    "placeholder", "max",     "min",     "num",       "to",     "of",      "by"};
// A `pass` after one of these is a password; any other is a pass over something.
constexpr std::string_view kPassOf[] = {"db",   "database", "user",  "login", "root",  "admin",
                                        "smtp", "ftp",      "http",  "https", "proxy", "redis",
                                        "pg",   "mysql",    "basic", "mail",  "sudo"};
// `--no-auth` takes no value.
constexpr std::string_view kSwitches[] = {"no",     "use",     "require", "with",  "without",
                                          "enable", "disable", "skip",    "allow", "has"};

bool ends_with_any(std::string_view word, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) {
    return word.size() > end.size() && word.ends_with(end);
  });
}

bool are_secret_words(std::span<const std::string> words) {
  if (words.empty()) return false;
  const std::string_view last = words.back();
  const std::string_view before = words.size() > 1 ? words[words.size() - 2] : std::string_view();
  if (last == "value") return are_secret_words(words.first(words.size() - 1));
  if (last == "id" && before == "key") return are_secret_words(words.first(words.size() - 1));
  if (last == "token") return !is_one_of(before, kTextTokens);
  if (last == "key" || last == "keys") return is_one_of(before, kKeysTo);
  if (last == "pass") return is_one_of(before, kPassOf);
  if (last == "pwd") return !before.empty() && before != "old";
  if (last == "signature") return before == "amz" || before == "goog";
  return is_one_of(last, kSecretWords) ||
         ends_with_any(last, {"password", "passwd", "secret", "apikey"});
}

// ---- shapes ----------------------------------------------------------------

template <typename Belongs>
std::size_t run_of(std::string_view text, const Belongs& belongs) {
  std::size_t length = 0;
  while (length < text.size() && belongs(text[length])) ++length;
  return length;
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit);
}

/// `prefix`, followed by at least `least` characters of one class.
struct Shape {
  std::string_view prefix;
  std::size_t least;
  bool only_alnum;   // else '_' and '-' too
  bool needs_digit;  // where the prefix is an ordinary word
};
constexpr Shape kShapes[] = {
    {"hf_", 16, true, false},     {"sk-", 16, false, true},          {"ghp_", 20, true, false},
    {"gho_", 20, true, false},    {"ghu_", 20, true, false},         {"ghs_", 20, true, false},
    {"ghr_", 20, true, false},    {"github_pat_", 20, false, false}, {"glpat-", 16, false, false},
    {"xoxa-", 10, false, false},  {"xoxb-", 10, false, false},       {"xoxe-", 10, false, false},
    {"xoxo-", 10, false, false},  {"xoxp-", 10, false, false},       {"xoxr-", 10, false, false},
    {"xoxs-", 10, false, false},  {"xapp-", 10, false, true},        {"AIza", 30, false, false},
    {"nvapi-", 20, false, false}, {"npm_", 30, true, false},         {"pypi-", 32, false, true},
    {"ya29.", 20, false, false},
};

std::size_t prefixed_token(std::string_view text) {
  for (const Shape& shape : kShapes) {
    if (!text.starts_with(shape.prefix)) continue;
    const std::string_view rest = text.substr(shape.prefix.size());
    const std::size_t whole = run_of(rest, is_token_char);
    const std::size_t length = shape.only_alnum ? run_of(rest, is_alnum) : whole;
    if (length < shape.least || length != whole) continue;
    if (shape.needs_digit && !has_digit(rest.substr(0, length))) continue;
    return shape.prefix.size() + length;
  }
  return 0;
}

/// `AKIA` and sixteen capitals and digits.
std::size_t aws_key(std::string_view text) {
  constexpr std::size_t kLength = 20;
  if (!text.starts_with("AKIA") && !text.starts_with("ASIA")) return 0;
  const std::size_t length = run_of(text, [](char c) { return is_upper(c) || is_digit(c); });
  const bool ends = length == text.size() || !is_token_char(text[length]);
  return length == kLength && ends ? length : 0;
}

/// `eyJhbGciOi….eyJzdWIiOi….signature`
std::size_t web_token(std::string_view text) {
  constexpr std::size_t kLeast = 8;
  if (!text.starts_with("eyJ")) return 0;
  std::size_t length = run_of(text, is_token_char);
  if (length < kLeast) return 0;
  for (int part = 0; part < 2; ++part) {
    if (length >= text.size() || text[length] != '.') return part == 0 ? 0 : length;
    const std::size_t more = run_of(text.substr(length + 1), is_token_char);
    if (part == 0 && more < kLeast) return 0;
    length += 1 + more;
  }
  return length;
}

/// The secret in `Bearer abc`, including the prefix.
std::size_t bearer_prefix(std::string_view text) {
  constexpr std::string_view kBearer = "bearer ";
  return lower(text.substr(0, kBearer.size())) == kBearer ? kBearer.size() : 0;
}

std::size_t bearer_token(std::string_view text) {
  constexpr std::size_t kLeast = 12;
  const std::size_t length = run_of(text, [](char c) {
    return is_token_char(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
  });
  return length >= kLeast && has_digit(text.substr(0, length)) ? length : 0;
}

/// A complete PEM private key.
std::size_t private_key(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kKey = "PRIVATE KEY-----";
  if (!text.starts_with(kBegin)) return 0;
  const std::size_t name = text.find(kKey);
  constexpr std::size_t kLongestName = 40;
  if (name == kNone || name > kLongestName) return 0;
  const std::size_t end = text.find("-----END ", name);
  if (end == kNone) return text.size();
  const std::size_t last = text.find(kKey, end);
  return last == kNone ? text.size() : last + kKey.size();
}

std::size_t shape_at(std::string_view text) {
  switch (text.front()) {
    case 'A':
      if (const std::size_t length = aws_key(text)) return length;
      return prefixed_token(text);
    case 'e':
      return web_token(text);
    case '-':
      return private_key(text);
    case 'h':
    case 's':
    case 'g':
    case 'x':
    case 'n':
    case 'p':
    case 'y':
      return prefixed_token(text);
    default:
      return 0;
  }
}

/// A part of a text to be replaced.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The password in `://user:password@host`, from the colon on; or a user name that looks like one.
std::optional<Part> password_in_url(std::string_view text) {
  constexpr std::size_t kScheme = 3;  // ://
  constexpr std::size_t kLongUser = 20;
  if (!text.starts_with("://")) return std::nullopt;
  const std::string_view rest = text.substr(kScheme);
  const std::size_t stop = std::min(rest.find_first_of(" \t\r\n\"'<>"), rest.size());
  const std::string_view authority =
      rest.substr(0, std::min(rest.substr(0, stop).find_first_of("/?#"), stop));
  const std::size_t at = authority.rfind('@');
  if (at == kNone) return std::nullopt;
  const std::size_t colon = authority.substr(0, at).find(':');
  const std::size_t begin = colon == kNone ? 0 : colon + 1;
  if (colon == kNone && at < kLongUser) return std::nullopt;
  const std::string_view secret = authority.substr(begin, at - begin);
  if (gives_nothing_away(secret)) return std::nullopt;
  return Part{kScheme + begin, kScheme + at};
}

// ---- names in text ---------------------------------------------------------

constexpr std::string_view kHeaders[] = {
    "authorization", "proxy-authorization", "x-api-key", "x-auth-token", "cookie", "set-cookie"};
constexpr std::string_view kSchemes[] = {"bearer", "basic", "token", "digest", "apikey"};

/// The value that begins at `at`: in quotes, or up to the end of the word; inside `quote`, up to
/// the closing quote.
Part value_at(std::string_view text, std::size_t at, char quote) {
  constexpr std::string_view kEnds = " \t\r\n,;&\"'<>()[]{}|";
  if (quote != 0) return {at, std::min(text.find(quote, at), text.size())};
  if (at < text.size() && is_quote(text[at])) {
    return {at + 1, std::min(text.find(text[at], at + 1), text.size())};
  }
  if (text.substr(at).starts_with("${")) {
    return {at, std::min(text.find('}', at), text.size() - 1) + 1};
  }
  return {at, std::min(text.find_first_of(kEnds, at), text.size())};
}

/// The rest of an HTTP header line, without the scheme (`Bearer`, `Basic`).
Part header_value(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_of("\r\n\"'", at), text.size());
  const std::size_t gap = text.substr(at, end - at).find(' ');
  if (gap != kNone && is_one_of(lower(text.substr(at, gap)), kSchemes)) return {at + gap + 1, end};
  return {at, end};
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

/// Where the value of the name from `begin` to `end` is; nothing when no value follows, or when it
/// is not written like the name of a value.
std::optional<Part> named_value(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view name = text.substr(begin, end - begin);
  const char before = begin > 0 ? text[begin - 1] : '\0';
  const char after = end < text.size() ? text[end] : '\0';
  if (after == '=' && text.substr(end, 2) != "==") {
    const bool closes = is_quote(before) && text.find(before, end) != kNone;
    return value_at(text, end + 1, closes ? before : '\0');
  }
  if (after == ':' && is_one_of(lower(name), kHeaders)) {
    return header_value(text, skip_spaces(text, end + 1));
  }
  if (after == ':' &&
      (before == '{' || before == ',' || (begin > 1 && before == ' ' && text[begin - 2] == ','))) {
    return value_at(text, skip_spaces(text, end + 1), '\0');
  }
  if (is_quote(after) && after == before) {  // JSON and Python
    const std::size_t colon = skip_spaces(text, end + 1);
    if (colon < text.size() && text[colon] == ':') {
      return value_at(text, skip_spaces(text, colon + 1), '\0');
    }
    if (name.starts_with("--") && colon < text.size() && text[colon] == ',') {  // a list of words
      return value_at(text, skip_spaces(text, colon + 1), '\0');
    }
    return std::nullopt;
  }
  if (name.starts_with("--") && (after == ' ' || after == ',')) {
    const std::size_t at = skip_spaces(text, end + 1);
    if (at < text.size() && text[at] != '-') return value_at(text, at, '\0');
  }
  return std::nullopt;
}

std::optional<Part> secret_of_name(std::string_view text, std::size_t begin, std::size_t end) {
  const auto value = named_value(text, begin, end);
  if (!value || value->begin >= value->end) return std::nullopt;
  if (!is_secret_name(text.substr(begin, end - begin))) return std::nullopt;
  if (gives_nothing_away(text.substr(value->begin, value->end - value->begin))) return std::nullopt;
  return value;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  const bool is_switch =
      words.size() > 1 && name.starts_with("-") && is_one_of(words.front(), kSwitches);
  return !is_switch && are_secret_words(words);
}

bool gives_nothing_away(std::string_view value) {
  constexpr std::string_view kPlain[] = {"",    "true", "false", "null", "none", "yes",  "no", "on",
                                         "off", "auto", "0",     "1",    "???",  "\"\"", "''"};
  if (is_one_of(lower(value), kPlain) || value == kRedacted) return true;
  // `${oc.env:HF_TOKEN}` is only a reference, but a default in it would be shown.
  if (value.starts_with("${") && value.find('}') == value.size() - 1) {
    const bool is_variable = value.find("oc.env:") != kNone;
    return value.find_first_of(is_variable ? ", " : ",: ") == kNone;
  }
  return value.size() > 1 && value.starts_with("$") &&
         run_of(value.substr(1), [](char c) { return is_alnum(c) || c == '_'; }) ==
             value.size() - 1 &&
         !is_digit(value[1]);
}

bool announces_secret(std::string_view word) {
  return word.starts_with("-") && word.find('=') == kNone && is_secret_name(word);
}

Redactor Redactor::of_environment() {
  Redactor redactor;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals != kNone && is_secret_name(text.substr(0, equals))) {
      redactor.know(text.substr(equals + 1));
    }
  }
  return redactor;
}

void Redactor::know(std::string_view value) {
  if (value.size() < kLeastKnown || gives_nothing_away(value)) return;
  if (std::find(known_.begin(), known_.end(), value) != known_.end()) return;
  const auto place = std::find_if(known_.begin(), known_.end(), [&](const std::string& other) {
    return other.size() < value.size();
  });
  known_.insert(place, std::string(value));
  begins_[static_cast<unsigned char>(value.front())] = true;
}

std::size_t Redactor::known_at(std::string_view text) const {
  if (!begins_[static_cast<unsigned char>(text.front())]) return 0;
  for (const std::string& value : known_) {
    if (text.starts_with(value)) return value.size();
  }
  return 0;
}

std::string Redactor::scan(std::string_view text, Names names) const {
  const auto secret_at = [&](std::size_t at) -> std::optional<Part> {
    const std::string_view rest = text.substr(at);
    if (const std::size_t length = known_at(rest)) return Part{at, at + length};
    if (const auto password = password_in_url(rest)) {
      return Part{at + password->begin, at + password->end};
    }
    const char before = at > 0 ? text[at - 1] : '\0';
    if (!is_alnum(before)) {
      if (const std::size_t length = shape_at(rest)) return Part{at, at + length};
      const std::size_t prefix = bearer_prefix(rest);
      if (const std::size_t length = prefix > 0 ? bearer_token(rest.substr(prefix)) : 0) {
        return Part{at + prefix, at + prefix + length};
      }
    }
    const bool is_name =
        names == Names::Count && is_name_char(rest.front()) && !is_name_char(before);
    if (!is_name) return std::nullopt;
    return secret_of_name(text, at, at + run_of(rest, is_name_char));
  };
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (const auto secret = secret_at(at)) {
      out += text.substr(at, secret->begin - at);
      out += kRedacted;
      at = secret->end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string Redactor::text(std::string_view text) const {
  return scan(text, Names::Count);
}

std::string Redactor::output(std::string_view text) const {
  return scan(text, Names::AreIgnored);
}

std::string Redactor::value(std::string_view name, std::string_view value) const {
  if (!is_secret_name(name)) return text(value);
  return std::string(gives_nothing_away(value) ? value : kRedacted);
}

std::string Redactor::word(std::string_view before, std::string_view word) const {
  if (announces_secret(before) && !word.starts_with("-")) return value(before, word);
  const std::size_t equals = word.find('=');
  const auto is_name = [](char c) {
    return is_name_char(c) || c == '/' || c == '@' || c == '+' || c == '~';
  };
  const bool has_name = equals != kNone && equals > 0 &&
                        run_of(word.substr(0, equals), is_name) == equals &&
                        is_secret_name(word.substr(0, equals));
  if (!has_name) return text(word);
  return std::string(word.substr(0, equals + 1)) +
         value(word.substr(0, equals), word.substr(equals + 1));
}

std::vector<std::string> Redactor::words(const std::vector<std::string>& words) const {
  std::vector<std::string> out;
  out.reserve(words.size());
  std::string_view before;
  for (const std::string& each : words) {
    out.push_back(word(before, each));
    before = each;
  }
  return out;
}

std::map<std::string, std::string> Redactor::variables(
    const std::map<std::string, std::string>& variables) const {
  std::map<std::string, std::string> out;
  for (const auto& [name, content] : variables) out[name] = value(name, content);
  return out;
}

}  // namespace profline
