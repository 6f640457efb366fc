#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace profline {

/// What stands in place of a secret.
inline constexpr std::string_view kRedacted = "<redacted>";

/// Whether a config key, an option or an environment variable of this name holds a secret, by the
/// words it ends with: `HF_TOKEN`, `--api-key`, `db.password`, `clientSecret`. Not
/// `max_new_tokens`, `tokenizer`, `eos_token`, `token_file`.
bool is_secret_name(std::string_view name);

/// Takes secrets out of what is written down: tokens, passwords, keys. The name of a value stays,
/// so that a reader sees what was given; the value becomes kRedacted.
///
/// A value is a secret by its name (is_secret_name), by its shape (`hf_…`, `sk-…`, `ghp_…`,
/// `AKIA…`, a JSON web token, `scheme://user:password@host`, `Bearer …`), or because it is known:
/// know() was told of it. What only refers to one (`${oc.env:HF_TOKEN}`, `$HF_TOKEN`) is none, nor
/// are `true`, `null` and the like.
class Redactor {
 public:
  /// Shorter values are not looked for in text: too much else reads like them.
  static constexpr std::size_t kLeastKnown = 6;

  /// By names and shapes alone.
  Redactor() = default;
  /// Knows the values of our environment variables whose names are those of secrets.
  static Redactor of_environment();

  /// This value is a secret wherever it appears.
  void know(std::string_view value);

  /// Text of ours, such as a message or an override.
  std::string text(std::string_view text) const;
  /// What another program printed: names are left alone there (`token=the` is what a language model
  /// says).
  std::string output(std::string_view text) const;
  /// A value by its name.
  std::string value(std::string_view name, std::string_view value) const;
  /// A word of a command line, by the one before it: `--token`, then the token.
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

/// Whether a value under a secret name gives nothing away: empty, `true`, `null`, a reference to
/// another place, or redacted already.
bool gives_nothing_away(std::string_view value);

/// Whether this word of a command line is an option whose secret follows as the next word.
bool announces_secret(std::string_view word);

}  // namespace profline
