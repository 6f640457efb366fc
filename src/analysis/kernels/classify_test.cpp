#include "analysis/kernels/classify.h"

#include <map>

#include <gtest/gtest.h>

#include "analysis/kernels/testing_launches.h"
#include "base/files.h"
#include "formats/yaml.h"
#include "testing/paths.h"

namespace profline::kernels {
namespace {

Result<Classifier> shipped() {
  const auto path = testing::source_dir() / "conf/kernels/classes.yaml";
  const Node table = PL_TRY(parse_yaml(PL_TRY(read_file(path)), "classes.yaml"));
  return Classifier::create(PL_TRY(settings::read_kernel_classes(table)));
}

TEST(KernelClasses, AreRightForKernelsThatPeopleMeet) {
  struct Case {
    std::string_view name, expected;
  };
  constexpr Case kCases[] = {
      {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT", "gemm"},
      {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_64x1_tn_align8>("
       "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_64x1_tn_align8::Params)",
       "gemm"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_bias_execute_"
       "segment_k_off_kernel__5x_cublas",
       "gemm"},
      {"ampere_sgemm_128x64_tn", "gemm"},
      {"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x64x64_MI16x16x1", "gemm"},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float>(float)", "gemm"},
      {"triton_tem_fused_mm_4", "gemm"},
      {"void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, "
       "128>(int)",
       "gemv"},
      {"void internal::gemvx::kernel<int, int, __nv_bfloat16>(int)", "gemv"},
      {"void gemvNSP_kernel<float, float, float, float, 1, 32, 4>(int)", "gemv"},
      {"void profline::workload::fast::<unnamed>::decode_gate_up<__nv_bfloat16>(int)", "gemv"},
      {"profline::workload::fast::(anonymous namespace)::decode_choose(int)", "reduction"},
      {"void profline::workload::fast::prefill_route<float>(int)", "moe"},
      {"void profline::workload::fast::sam_unpack<float>(int)", "copy"},
      {"void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64>>(int)",
       "attention"},
      {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<int>)",
       "attention"},
      {"void "
       "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<int>>>(int)",
       "attention"},
      {"void vllm::paged_attention_v2_kernel<__nv_bfloat16, 128>(float*)", "attention"},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>(float*)", "softmax"},
      {"void softmax_warp_forward<float, float, float, 10, false, false>(float*)", "softmax"},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
       "norm"},
      {"void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)", "norm"},
      {"void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>(long)", "norm"},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "collective"},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)", "collective"},
      {"void vllm::moe::topkGatingSoftmax<8, 64, 4, 16>(float const*)", "moe"},
      {"fused_moe_kernel", "moe"},
      {"void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous "
       "namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}, std::array<char*, 2ul> "
       ">(int)",
       "elementwise"},
      {"triton_poi_fused_add_mul_0", "elementwise"},
      {"triton_red_fused_add_mean_3", "reduction"},
      {"triton_per_fused_sum_1", "reduction"},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
       "at::native::MeanOps<float, "
       "float, float, float>, unsigned int, float, 4, 4> >(int)",
       "reduction"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
       "namespace)::OpaqueType<2u>, unsigned int, 3, 64, 64>(char*)",
       "copy"},
      {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
       "TensorIteratorBase&)::{lambda()#3}, std::array<char*, 2ul> >(int)",
       "copy"},
      {"void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long)",
       "indexing"},
      {"void at::native::(anonymous namespace)::indexSelectSmallIndex<float, long, unsigned "
       "int>(int)",
       "indexing"},
      {"void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(float)", "sort"},
      {"void cub::DeviceRadixSortOnesweepKernel<int>(int)", "sort"},
      {"my_very_own_thing", "other"},
      {"", "other"},
  };
  const auto classifier = shipped();
  ASSERT_TRUE(classifier) << classifier.error().to_string();
  for (const Case& c : kCases) {
    EXPECT_EQ(classifier->class_of(canonical_name(c.name)), c.expected) << c.name;
  }
}

TEST(KernelClasses, AreTheSameWhicheverToolSpellsTheKernel) {
  const auto classifier = shipped();
  ASSERT_TRUE(classifier) << classifier.error().to_string();
  const auto launches = real_launches();
  ASSERT_TRUE(launches) << launches.error().to_string();
  std::map<std::string, int> seen;
  for (const RealLaunch& launch : *launches) {
    const std::string& expected = classifier->class_of(canonical_name(launch.kineto));
    ++seen[expected];
    EXPECT_EQ(classifier->class_of(canonical_name(launch.ncu)), expected) << launch.ncu;
    EXPECT_EQ(classifier->class_of(canonical_name(launch.full)), expected) << launch.full;
  }
  // What none of the rules knows is a small part.
  EXPECT_LE(seen["other"], 20);
}

TEST(KernelClasses, NamesTheRuleThatIsWrong) {
  const auto no_regex = Classifier::create({{{"mine", {}, {"("}}}});
  ASSERT_FALSE(no_regex);
  EXPECT_TRUE(no_regex.error().to_string().starts_with(
      "kernel class 'mine': '(' is no regular expression: "))
      << no_regex.error().to_string();
  const auto empty = settings::read_kernel_classes(*parse_yaml("rules: [{class: x}]", "c.yaml"));
  ASSERT_FALSE(empty);
  EXPECT_EQ(
      empty.error().to_string(),
      "c.yaml:1:17: rules.0.class: has neither 'contains' nor 'matches': it could never apply");
}

}  // namespace
}  // namespace profline::kernels
