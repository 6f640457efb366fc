#include "base/digests.h"

#include <algorithm>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace profline {
namespace {

// RFC 1321, A.5, and lengths around the end of a block (from md5sum).
TEST(Md5, AgreesWithTheStandard) {
  struct Case {
    std::string text;
    std::string_view digest;
  };
  const Case cases[] = {
      {"", "d41d8cd98f00b204e9800998ecf8427e"},
      {"a", "0cc175b9c0f1b6a831c399e269772661"},
      {"abc", "900150983cd24fb0d6963f7d28e17f72"},
      {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
      {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
      {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
       "d174ab98d277d9f5a5611c2c9f419d9f"},
      {"1234567890123456789012345678901234567890123456789012345678901234567890123456789"
       "0",
       "57edf4a22be3c955ac49da2e2107b67a"},
      {std::string(55, 'x'), "04364420e25c512fd958a70738aa8f72"},
      {std::string(56, 'x'), "668a72d5ba17f08e62dabcafad6db14b"},
      {std::string(64, 'x'), "c1bb4f81d892b2d57947682aeb252456"},
      {std::string(1000, 'x'), "398533d48111e9f664b1f64cb10c4b63"},
  };
  for (const Case& c : cases) EXPECT_EQ(md5_hex(c.text), c.digest) << c.text;
}

std::string digest(Sha256::FoldBlocks fold, std::string_view bytes) {
  Sha256 hash(fold);
  hash.update(bytes);
  return hash.hex_digest();
}

std::string random_bytes(std::size_t size) {
  std::mt19937 random(42);  // NOLINT(cert-msc51-cpp): the same bytes each time
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 256);
  return bytes;
}

/// Every implementation that this processor can run.
class Sha256Ways : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    fold_ = GetParam() ? internal::sha256_fold_accelerated() : internal::sha256_fold_portable;
    if (fold_ == nullptr) GTEST_SKIP() << "this processor has no SHA instructions";
  }
  Sha256::FoldBlocks fold_ = nullptr;
};

TEST_P(Sha256Ways, GiveTheDigestsOfTheStandard) {
  struct Case {
    std::string bytes;
    std::string_view digest;
  };
  // FIPS 180-4's examples (NIST's SHA256.pdf and the long-message one), and the empty message.
  const Case cases[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const Case& c : cases) EXPECT_EQ(digest(fold_, c.bytes), c.digest);
}

TEST_P(Sha256Ways, TakeTheBytesInAnyPieces) {
  const std::string bytes = random_bytes(5000);
  const std::string whole = digest(fold_, bytes);
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same pieces each time
  for (int time = 0; time < 200; ++time) {
    Sha256 hash(fold_);
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::size_t size = std::min<std::size_t>(rest.size(), random() % 200);
      hash.update(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    ASSERT_EQ(hash.hex_digest(), whole);
  }
}

TEST_P(Sha256Ways, TellTheDigestSoFarAndGoOn) {
  Sha256 hash(fold_);
  hash.update("abc");
  EXPECT_EQ(hash.hex_digest(), digest(fold_, "abc"));
  hash.update("def");
  EXPECT_EQ(hash.hex_digest(), digest(fold_, "abcdef"));
}

INSTANTIATE_TEST_SUITE_P(Sha256, Sha256Ways, ::testing::Bool(), [](const auto& way) {
  return way.param ? std::string("Accelerated") : std::string("Portable");
});

TEST(Sha256, BothWaysAgreeAtEveryLength) {
  const Sha256::FoldBlocks accelerated = internal::sha256_fold_accelerated();
  if (accelerated == nullptr) GTEST_SKIP() << "this processor has no SHA instructions";
  const std::string bytes = random_bytes(10000);
  for (std::size_t size = 0; size <= 300; ++size) {
    const std::string_view piece = std::string_view(bytes).substr(size % 16, size);
    ASSERT_EQ(digest(accelerated, piece), digest(internal::sha256_fold_portable, piece)) << size;
  }
  EXPECT_EQ(digest(accelerated, bytes), digest(internal::sha256_fold_portable, bytes));
}

TEST(Sha256, OfLengthsAroundABlockIsThatOfAnIndependentProgram) {
  // sha256sum of that many 'x'.
  struct Case {
    std::size_t size;
    std::string_view digest;
  };
  constexpr Case kCases[] = {
      {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
      {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
      {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
      {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
      {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
      {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
      {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
      {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
  };
  for (const Case& c : kCases) EXPECT_EQ(sha256_hex(std::string(c.size, 'x')), c.digest) << c.size;
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const testing::TempDir dir;
  const std::string bytes = random_bytes(300000);
  std::ofstream(dir / "file", std::ios::binary) << bytes;
  EXPECT_EQ(sha256_file(dir / "file").value(), sha256_hex(bytes));
  const Result<std::string> none = sha256_file(dir / "none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().to_string(), "cannot read " + (dir / "none").string() + ": no such file");
}

}  // namespace
}  // namespace profline
