#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace profline {

/// Replaces a secret.
inline constexpr std::string_view kRedacted = "<redacted>";

/// Whether a config key, an option or an environment variable of this name holds a secret, judging
/// by the words it ends with: `HF_TOKEN`, `--api-key`, `db.password`, `clientSecret`. Not
/// `max_new_tokens`, `tokenizer`, `eos_token`, `token_file`.
bool is_secret_name(std::string_view name);

/// Removes secrets (tokens, passwords, keys) from what is written to files. The name of a value
/// stays, so that a reader sees what was set; the value becomes kRedacted.
///
/// A value is a secret because of its name (is_secret_name), its form (`hf_…`, `sk-…`, `ghp_…`,
/// `AKIA…`, a JSON web token, `scheme://user:password@host`, `Bearer …`), or because know()
/// registered it. References (`${oc.env:HF_TOKEN}`, `$HF_TOKEN`) and values such as `true` and
/// `null` are not secrets.
class Redactor {
 public:
  /// Shorter values are not searched for in text: they would match too much else.
  static constexpr std::size_t kLeastKnown = 6;

  /// Recognises names and forms only.
  Redactor() = default;
  /// Also knows the values of our environment variables that have secret names.
  static Redactor of_environment();

  /// Marks this value as a secret wherever it appears.
  void know(std::string_view value);

  /// For our own text, such as a message or an override.
  std::string text(std::string_view text) const;
  /// For the output of another program: names are ignored there (a language model may well print
  /// `token=the`).
  std::string output(std::string_view text) const;
  /// A value, judged by its name.
  std::string value(std::string_view name, std::string_view value) const;
  /// A word of a command line, judged by the word before it: `--token`, then the token.
  std::string word(std::string_view before, std::string_view word) const;
  /// A command line.
  std::vector<std::string> words(const std::vector<std::string>& words) const;
  /// An environment.
  std::map<std::string, std::string> variables(
      const std::map<std::string, std::string>& variables) const;

  bool operator==(const Redactor&) const = default;

 private:
  enum class Names { Count, AreIgnored };

  std::size_t known_at(std::string_view text) const;
  std::string scan(std::string_view text, Names names) const;

  std::vector<std::string> known_;  // longest first
  std::array<bool, 256> begins_{};  // bytes that a known value begins with
};

/// Whether a value under a secret name reveals nothing: empty, `true`, `null`, a reference, or
/// already redacted.
bool gives_nothing_away(std::string_view value);

/// Whether this word of a command line is an option whose next word is a secret.
bool announces_secret(std::string_view word);

}  // namespace profline
