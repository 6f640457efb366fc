#include "base/redaction.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline {
namespace {

using ::testing::ElementsAre;

// Made up, in the form of real ones.
constexpr const char* kHub = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH";

TEST(Redaction, NamesOfSecretsAreKnownByTheirLastWords) {
  for (const char* name : {"HF_TOKEN",
                           "token",
                           "--token",
                           "hub.token",
                           "api_key",
                           "--api-key",
                           "apiKey",
                           "APIKEY",
                           "OPENAI_API_KEY",
                           "AWS_SECRET_ACCESS_KEY",
                           "AWS_ACCESS_KEY_ID",
                           "client_secret",
                           "clientSecret",
                           "db.password",
                           "PGPASSWORD",
                           "--passwd",
                           "DB_PASS",
                           "DB_PWD",
                           "passphrase",
                           "credentials",
                           "--auth",
                           "bearer",
                           "Authorization",
                           "private_key",
                           "TOKEN_VALUE",
                           "PROFLINE_CONFIG_SECRETS",
                           "x-api-key",
                           "mypassword"}) {
    EXPECT_TRUE(is_secret_name(name)) << name;
  }
}

TEST(Redaction, NamesThatOnlyReadLikeSecretsAreNot) {
  for (const char* name : {"max_new_tokens",
                           "tokenizer",
                           "prompt_tokens",
                           "tokens",
                           "ms_per_token",
                           "eos_token",
                           "--image-token",
                           "first_token",
                           "token_file",
                           "token_ids",
                           "eos_token_id",
                           "password_file",
                           "author",
                           "key",
                           "primary_key",
                           "keys",
                           "PWD",
                           "OLDPWD",
                           "replay_pass",
                           "passes",
                           "SSH_AUTH_SOCK",
                           "secretary",
                           "--no-auth",
                           "--use-auth",
                           "sha256",
                           "",
                           "-",
                           "auth_mode"}) {
    EXPECT_FALSE(is_secret_name(name)) << name;
  }
}

TEST(Redaction, ShapesOfTokensAreReplacedWhereverTheyStand) {
  struct Case {
    std::string given, kept;
  };
  const Case kCases[] = {
      {std::string("with ") + kHub + " in it", "with <redacted> in it"},
      {std::string("/data/") + kHub + "/x", "/data/<redacted>/x"},
      {"sk-proj-0123456789abcdefABCD", "<redacted>"},
      {"(ghp_0123456789abcdefghijABCDEFGHIJ012345)", "(<redacted>)"},
      {"github_pat_11ABCDEFG0_abcdefghijklmnopqrstuvwxyz", "<redacted>"},
      {"key AKIAIOSFODNN7EXAMPLE.", "key <redacted>."},
      {"xoxb-123456789012-abcdefghij", "<redacted>"},
      {"glpat-abcdefghij0123456789", "<redacted>"},
      {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl done", "<redacted> done"},
      {"https://me:hunter2@host:8080/a?b#c", "https://me:<redacted>@host:8080/a?b#c"},
      {"postgres://u:p%40ss@db/x, and ssh://git@host/y",
       "postgres://u:<redacted>@db/x, and ssh://git@host/y"},
      {"https://0123456789abcdef0123456789abcdef@git.example", "https://<redacted>@git.example"},
      {"Authorization: Bearer abc123def456ghi", "Authorization: Bearer <redacted>"},
      {"bearer 0123456789abcdef", "bearer <redacted>"},
      {"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nafter",
       "<redacted>\nafter"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Redactor().text(c.given), c.kept);
    EXPECT_EQ(Redactor().output(c.given), c.kept);
  }
}

TEST(Redaction, WhatIsNoSecretStaysAsItIs) {
  for (const char* text : {"hf_attention_forward_kernel",
                           "task-0123456789abcdef0123",
                           "sk-learn-like-names-are-long",
                           "http://localhost:8000/v1",
                           "http://[::1]:80/@me",
                           "user@host:path",
                           "eyJ",
                           "AKIA",
                           "first token: 12 ms",
                           "tokens=5 per token=auto",
                           "the bearer of news",
                           "ghp_short",
                           "max_new_tokens=512",
                           "--tokenizer bert --max-tokens 5",
                           "token=${oc.env:HF_TOKEN}",
                           "HF_TOKEN=$HF_TOKEN",
                           "use_auth=true",
                           "a://b",
                           "://@",
                           ":",
                           "password=",
                           "auth==x",
                           "void kernel<(int)4>(float*, key)",
                           "--token",
                           "--password --verbose"}) {
    EXPECT_EQ(Redactor().text(text), text);
  }
}

TEST(Redaction, NamedValuesAreReplacedInTextOfOurs) {
  struct Case {
    const char *given, *kept;
  };
  constexpr Case kCases[] = {
      {"db.password=hunter2", "db.password=<redacted>"},
      {"x --token abc --port 80", "x --token <redacted> --port 80"},
      {"--api-key='a b' rest", "--api-key='<redacted>' rest"},
      {"'--api-key=a b' rest", "'--api-key=<redacted>' rest"},
      {"pipeline.workload.command=[python,a.py,--token,abc,--n,5]",
       "pipeline.workload.command=[python,a.py,--token,<redacted>,--n,5]"},
      {"['python', '--token', 'a,b']", "['python', '--token', '<redacted>']"},
      {"+db={user:me,password:abc}", "+db={user:me,password:<redacted>}"},
      {R"({"token": "abc", "n": 1})", R"({"token": "<redacted>", "n": 1})"},
      {"https://h/x?token=abc&n=1", "https://h/x?token=<redacted>&n=1"},
      {"-H 'X-Api-Key: abc' url", "-H 'X-Api-Key: <redacted>' url"},
      {"token=${oc.env:HF_TOKEN,abc}", "token=<redacted>"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Redactor().text(c.given), c.kept);
}

TEST(Redaction, NamesAreLeftAloneInWhatProgramsPrint) {
  const Redactor redactor;
  EXPECT_EQ(redactor.output(R"({"token": "Hello", "logprob": -0.1} token=the)"),
            R"({"token": "Hello", "logprob": -0.1} token=the)");
}

TEST(Redaction, KnownValuesAreReplacedWhereverTheyStandLongestFirst) {
  Redactor redactor;
  redactor.know("swordfish");
  redactor.know("swordfish-2");
  redactor.know("abc");   // too short to look for
  redactor.know("true");  // gives nothing away
  EXPECT_EQ(redactor.output("xswordfishx swordfish-2 abc true"),
            "x<redacted>x <redacted> abc true");
}

TEST(Redaction, CommandLinesKeepTheNamesOfTheirOptions) {
  EXPECT_THAT(
      Redactor().words({"serve", "--token", "a b", "--password=x y", "db.secret=a,b", "--port",
                        "80", "--auth", "--verbose", "+hub.token=1234", "token", "plain", kHub}),
      ElementsAre("serve", "--token", "<redacted>", "--password=<redacted>", "db.secret=<redacted>",
                  "--port", "80", "--auth", "--verbose", "+hub.token=<redacted>", "token", "plain",
                  "<redacted>"));
}

TEST(Redaction, VariablesAreTakenByTheirNames) {
  EXPECT_EQ(Redactor().variables({{"HF_TOKEN", "x"}, {"LANG", "C"}, {"USE_TOKEN", "true"}}),
            (std::map<std::string, std::string>{
                {"HF_TOKEN", "<redacted>"}, {"LANG", "C"}, {"USE_TOKEN", "true"}}));
}

TEST(Redaction, TheEnvironmentsSecretsAreKnown) {
  ASSERT_EQ(::setenv("REDACTION_TEST_TOKEN", "opensesame", 1), 0);
  EXPECT_EQ(Redactor::of_environment().output("say opensesame"), "say <redacted>");
  ASSERT_EQ(::unsetenv("REDACTION_TEST_TOKEN"), 0);
  EXPECT_EQ(Redactor::of_environment().output("say opensesame"), "say opensesame");
}

TEST(Redaction, WhatWasRedactedStaysSo) {
  const std::string once = Redactor().text("--token abc password=x https://u:p@h");
  EXPECT_EQ(Redactor().text(once), once);
}

}  // namespace
}  // namespace profline
