#include "analysis/kernels/canonical_name.h"

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testing/captures/real_launches.h"

namespace profline::kernels {
namespace {

using testing::RealLaunch;

struct Group {
  std::string_view full;
  std::string_view short_name;
  std::vector<std::string_view> spellings;
};

// Each group is one kernel; the first spellings are the full ones and give the canonical name.
const std::vector<Group>& one_kernel_each() {
  static const std::vector<Group> groups = {
      {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT",
       "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT",
       {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT", " nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT "}},
      {"at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, "
       "at::native::NormTwoOps<c10::BFloat16, float, c10::BFloat16, 1>, unsigned int, "
       "c10::BFloat16, 4, 4>>(at::native::ReduceOp<c10::BFloat16, at::native::NormTwoOps<c10::"
       "BFloat16, float, c10::BFloat16, 1>, unsigned int, c10::BFloat16, 4, 4>)",
       "reduce_kernel<NormTwoOps>",
       {// Kineto
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, "
        "at::native::NormTwoOps<c10::BFloat16, float, c10::BFloat16, true>, unsigned int, "
        "c10::BFloat16, 4, 4> >(at::native::ReduceOp<c10::BFloat16, at::native::NormTwoOps<c10::"
        "BFloat16, float, c10::BFloat16, true>, unsigned int, c10::BFloat16, 4, 4>)",
        // nsys
        "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<c10::BFloat16, "
        "at::native::NormTwoOps<c10::BFloat16, float, c10::BFloat16, (bool)1>, unsigned int, "
        "c10::BFloat16, (int)4, (int)4>>(T3)",
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIN3c108BFloat16ENS0_10NormTwoOpsIS4_"
        "fS4_Lb1EEEjS4_Li4ELi4EEEEEvT1_",
        // ncu
        "void at::reduce_kernel<512, 1, at::ReduceOp<c10::BFloat16, at::NormTwoOps<c10::BFloat16, "
        "float, c10::BFloat16, 1>, unsigned int, c10::BFloat16, 4, 4>>(T3)"}},
      {"at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::silu_kernel"
       "(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#6}::operator()() "
       "const::{lambda(c10::BFloat16)#1}, std::array<char*, 2>>(int, at::native::(anonymous "
       "namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::"
       "{lambda()#6}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2>)",
       "vectorized_elementwise_kernel<silu_kernel>",
       {"void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::"
        "silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#6}::"
        "operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, at::native::"
        "(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() "
        "const::{lambda()#6}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, "
        "2ul>)",
        "void at::native::vectorized_elementwise_kernel<(int)8, at::native::<unnamed>::silu_kernel("
        "at::TensorIteratorBase &)::[lambda() (instance 1)]::operator ()() const::[lambda() "
        "(instance 6)]::operator ()() const::[lambda(c10::BFloat16) (instance 1)], std::array<char "
        "*, (unsigned long)2>>(int, T2, T3)",
        "void at::vectorized_elementwise_kernel<8, at::<unnamed>::silu_kernel(at::"
        "TensorIteratorBase &)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance "
        "6)]::operator ()() const::[lambda(c10::BFloat16) (instance 1)], std::array<char *, 2>>("
        "int, T2, T3)",
        // as LLVM's demangler writes it
        "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::"
        "silu_kernel(at::TensorIteratorBase&)::'lambda'()::operator()() const::'lambda4'()::"
        "operator()() const::'lambda'(c10::BFloat16), std::array<char*, 2ul>>(int, at::native::("
        "anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::'lambda'()::operator()() "
        "const::'lambda4'()::operator()() const::'lambda'(c10::BFloat16), std::array<char*, "
        "2ul>)"}},
      {"cublasLt::splitKreduce_kernel<32, 0>(const float*, float*, float*const, void*, long)",
       "splitKreduce_kernel",
       {"void cublasLt::splitKreduce_kernel<32, false>(float const*, float*, float* const, void*, "
        "long)",
        "void cublasLt::splitKreduce_kernel<(int)32, (bool)0>(const float *, float *, float "
        "*const, "
        "void *, long)",
        "void splitKreduce_kernel<32, 0>(const T1 *, T1 *, T1 *const, void *, long)"}},
      {"flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &silu<float>(const float&)>("
       "__nv_bfloat16*, const __nv_bfloat16*, int)",
       "act_and_mul_kernel",
       {"void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(float silu<float>(float "
        "const&))>(__nv_bfloat16*, __nv_bfloat16 const*, int)",
        "void activation::act_and_mul_kernel<__nv_bfloat16, &silu<float>>(T1 *, const T1 *, int)"}},
      {"cub::DeviceReduceKernel<cub::Policy, int*>(int*, cub::GridEvenShare<int>)",
       "DeviceReduceKernel<Policy>",
       {"void cub::CUB_200200_700_750_800_NS::DeviceReduceKernel<cub::CUB_200200_700_750_800_NS::"
        "Policy, int*>(int*, cub::CUB_200200_700_750_800_NS::GridEvenShare<int>)",
        "void cub::DeviceReduceKernel<cub::Policy, int *>(T2, cub::GridEvenShare<int>)"}},
      {"scale(float*, unsigned int, unsigned long long)",
       "scale",
       {"scale(float*, unsigned int, unsigned long long)",
        "scale(float *, unsigned int, unsigned long long)", "_Z5scalePfjy",
        "void scale(float*, unsigned int, unsigned long long) [clone .kd]"}},
      {"f<-1, 4, 7, 0x1f>()",
       "f",
       {"void f<-1, 4u, (Kind)7, 0x1f>()", "void f<(int)-1, 4ull, 7, 0x1f>(void)"}},
      {"triton_red_fused_add_mean_3",
       "triton_red_fused_add_mean_3",
       {"triton_red_fused_add_mean_3"}},
      {"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64",
       "Cijk_Ailk_Bljk_BBS_BH_MT64x64x64",
       {"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64", "Cijk_Ailk_Bljk_BBS_BH_MT64x64x64.kd"}},
      {"g<std::function<void(int)>, float(*)(int, float)>()",
       "g",
       {"void g<std::function<void (int)>, float (*)(int, float)>()",
        "void g<std::__1::function<void (int)>, float (*)(int, float)>()"}},
  };
  return groups;
}

TEST(CanonicalName, IsOneWhicheverToolSpellsIt) {
  for (const Group& group : one_kernel_each()) {
    const CanonicalName first = canonical_name(group.spellings.front());
    EXPECT_EQ(first.full, group.full);
    EXPECT_EQ(first.short_name, group.short_name);
    for (const std::string_view spelling : group.spellings) {
      const CanonicalName name = canonical_name(spelling);
      EXPECT_EQ(name.key, first.key) << spelling;
      EXPECT_EQ(name.short_name, first.short_name) << spelling;
      EXPECT_EQ(name.function, first.function) << spelling;
      EXPECT_TRUE(compatible(first, name)) << spelling;
      EXPECT_TRUE(compatible(name, first)) << spelling;
    }
  }
}

TEST(CanonicalName, DistinguishesKernels) {
  constexpr std::string_view kDifferent[] = {
      "void f<4>(int)",
      "void f<8>(int)",
      "void f<4, 8>(int)",
      "f(int)",
      "f(float)",
      "f(float*)",
      "f(const float*)",
      "f(float, int)",
      "void g<h(int)::{lambda(int)#1}>(int)",
      "void g<h(int)::{lambda(int)#2}>(int)",
      "void g<h(int)::{lambda(float)#1}>(int)",
      "void g<h(float)::{lambda(int)#1}>(int)",
      "void g<k(int)::{lambda(int)#1}>(int)",
  };
  for (const std::string_view a : kDifferent) {
    for (const std::string_view b : kDifferent) {
      EXPECT_EQ(canonical_name(a).key == canonical_name(b).key, a == b) << a << " and " << b;
    }
  }
}

TEST(CanonicalName, DistinguishesNamespacesThatCannotBeTheSame) {
  const CanonicalName full = canonical_name("void at::native::(anonymous namespace)::f<int>(int)");
  for (const char* some : {"void at::f<int>(T1)", "void native::f<int>(T1)", "void f<int>(T1)",
                           "void <unnamed>::f<int>(T1)", "void at::<unnamed>::f<int>(T1)",
                           "void unnamed>::f<int>(T1)"}) {
    EXPECT_TRUE(compatible(full, canonical_name(some))) << some;
  }
  for (const char* other : {"void c10::f<int>(T1)", "void native::at::f<int>(T1)",
                            "void at::native::cuda::f<int>(T1)", "void at::f<long>(T1)"}) {
    EXPECT_FALSE(compatible(full, canonical_name(other))) << other;
  }
  EXPECT_FALSE(
      compatible(canonical_name("void f<a::X, b::Y>()"), canonical_name("void f<b::X, b::Y>()")));
}

TEST(CanonicalName, TakesWhatIsNoNameAsItIs) {
  for (const char* text :
       {"void at::elementwise_kernel<128, 4, void at::gpu_kernel_i...", "f<", "f>", ")", "a b\x01c",
        "operator", "'lambda", "[lambda", "{lambda(", "::", "<>", "&&&"}) {
    const CanonicalName name = canonical_name(text);
    EXPECT_FALSE(name.key.empty()) << text;
    EXPECT_EQ(canonical_name(name.full).key, name.key) << text;
  }
  EXPECT_EQ(canonical_name("").key, "");
  EXPECT_EQ(canonical_name("Memcpy  HtoD (Pageable -> Device)").full,
            "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(canonical_name("wait for peers").short_name, "wait for peers");
}

TEST(CanonicalName, IsShortForWhatRunsAndNotForWhatItReturns) {
  EXPECT_EQ(
      canonical_name("std::enable_if<!T7, void>::type internal::gemvx::kernel<int, float, (bool)0, "
                     "cublasGemvParamsEx<int, float>>(T4)")
          .short_name,
      "kernel<cublasGemvParamsEx>");
}

TEST(CanonicalName, IsItsOwnCanonicalName) {
  for (const Group& group : one_kernel_each()) {
    const CanonicalName name = canonical_name(group.full);
    EXPECT_EQ(name.full, group.full);
    EXPECT_EQ(name.key, canonical_name(group.spellings.front()).key);
  }
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(CanonicalName, EndsSoonWhateverTheText) {
  constexpr std::size_t kMany = 300'000;
  for (const char* part :
       {"<", "a<", "(", "{lambda(", "[", "a::", "T1,", "f<int>(T1,T1)::", "*", "{", "'lambda"}) {
    EXPECT_FALSE(canonical_name(repeated(part, kMany)).key.empty()) << part;
  }
  EXPECT_FALSE(canonical_name("f<" + repeated("T1, ", kMany) + "int>(T1)").key.empty());
  // Each level repeats the previous one three times: 3^60 if written out.
  std::string bomb = "int";
  for (int level = 0; level < 60; ++level) bomb = "f<" + bomb + ">(T1, T1, T1)";
  EXPECT_FALSE(canonical_name(bomb).key.empty());
}

// f(X<int, int>, X<S0_, S0_>, ...): each parameter twice the one before.
TEST(CanonicalName, DoesNotWriteOutAMangledNameThatExplodes) {
  std::string bomb = "_Z1f1XIiiE";
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t i = 0; i < 30; ++i) {
    const std::string repeat = std::string("S") + kDigits[i] + '_';
    bomb += "S_I" + repeat + repeat + 'E';
  }
  EXPECT_EQ(canonical_name(bomb).full, bomb);
  EXPECT_EQ(canonical_name("_Z").full, "_Z");
  EXPECT_EQ(canonical_name("_Zjunk").full, "_Zjunk");
}

// 226 launches of one program on an H200, each as Kineto and ncu name it: PyTorch 2.11.0, ncu
// 2025.3.1 with shortened, full and mangled names.
TEST(CanonicalName, AgreesOnEveryKernelOfARealProgram) {
  const auto launches = testing::real_launches();
  ASSERT_TRUE(launches) << launches.error().to_string();
  ASSERT_EQ(launches->size(), 226U);
  for (const RealLaunch& launch : *launches) {
    const CanonicalName kineto = canonical_name(launch.kineto);
    for (const std::string& spelling : {launch.ncu, launch.full, launch.mangled}) {
      const CanonicalName other = canonical_name(spelling);
      EXPECT_EQ(other.key, kineto.key) << spelling;
      EXPECT_TRUE(compatible(kineto, other)) << spelling;
    }
    EXPECT_EQ(kineto.function, canonical_name(launch.function).function);
  }
}

TEST(NameRegex, MatchesExactlyOneName) {
  EXPECT_EQ(exact_regex("void gemm<float, 128>(float const*)"),
            "^void gemm<float, 128>\\(float const\\*\\)$");
}

TEST(NameRegex, IsExactWhereAllToolsSpellTheNameAlike) {
  EXPECT_EQ(spelling_regex("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT"),
            "^nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT$");
}

TEST(NameRegex, FindsTheKernelInTheSpellingOfEachTool) {
  const auto launches = testing::real_launches();
  ASSERT_TRUE(launches) << launches.error().to_string();
  std::set<std::string> seen;
  for (const RealLaunch& launch : *launches) {
    if (!seen.insert(launch.kineto).second) continue;
    const std::string text = spelling_regex(launch.kineto);
    const std::regex regex(text);
    EXPECT_TRUE(std::regex_search(launch.kineto, regex)) << text << "\n" << launch.kineto;
    EXPECT_TRUE(std::regex_search(launch.ncu, regex)) << text << "\n" << launch.ncu;
    EXPECT_TRUE(std::regex_search(launch.full, regex)) << text << "\n" << launch.full;
  }
  EXPECT_GT(seen.size(), 100U);
}

// Besides the kernel itself, the expression finds relatives that differ only in what tools spell
// differently, or in how often they name a type.
TEST(NameRegex, FindsFewOtherKernels) {
  const auto launches = testing::real_launches();
  ASSERT_TRUE(launches) << launches.error().to_string();
  std::map<std::string, const RealLaunch*> kernels;
  for (const RealLaunch& launch : *launches) kernels.emplace(launch.kineto, &launch);
  std::size_t others = 0;
  for (const auto& [name, launch] : kernels) {
    const std::regex regex(spelling_regex(name));
    for (const auto& [other_name, other] : kernels) {
      // Without the function's name nothing matches.
      if (other_name == name || other->function != launch->function) continue;
      if (std::regex_search(other->full, regex)) ++others;
    }
  }
  EXPECT_LE(others, kernels.size() / 4) << "of " << kernels.size() << " kernels";
}

}  // namespace
}  // namespace profline::kernels
