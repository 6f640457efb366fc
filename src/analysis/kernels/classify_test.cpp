#include "analysis/kernels/classify.h"

#include <map>

#include <gtest/gtest.h>

#include "base/files.h"
#include "config/defaults/search_path.h"
#include "formats/yaml.h"
#include "testing/captures/real_launches.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::kernels {
namespace {

using testing::RealLaunch;

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

// Names as vLLM, SGLang, TensorRT-LLM, FlashInfer, DeepSeek and PyTorch write them in their traces.
TEST(KernelClasses, AreRightForKernelsOfServingAndTrainingFrameworks) {
  struct Case {
    std::string_view name, expected;
  };
  constexpr Case kCases[] = {
      {"void dpsk::ep::internode::combine<false, 8, __nv_bfloat16, 8, 2, 16, 24>(int4*, float*)",
       "collective"},
      {"void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*, long*)", "collective"},
      {"void dpsk::ep::internode::notify_dispatch<false, 8>(int const*, long*, int)", "collective"},
      {"void dpsk::ep::internode::cached_notify<false>(int, int, int, int, int*)", "collective"},
      {"void dpsk::ep::cuda::get_dispatch_layout<256, 32, 8>(long const*, int*)", "collective"},
      {"void deep_ep::internode_ll::dispatch<true, 7168>(void*, float*)", "collective"},
      {"void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)", "collective"},
      {"mscclKernel_Sum_half_Simple_false(mscclDevComm*, mscclAlgo*, mscclWork*)", "collective"},
      {"void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>(int)",
       "gemm"},
      {"_fwd_kernel", "attention"},
      {"_fwd_kernel_stage1", "attention"},
      {"_fwd_kernel_stage2", "attention"},
      {"_fwd_grouped_kernel_stage1", "attention"},
      {"kernel_mha", "attention"},
      {"void flashinfer::SinglePrefillWithKVCacheKernel<flashinfer::KernelTraits<0>>(int)",
       "attention"},
      {"reduce_segments", "attention"},
      {"sage_fwd", "attention"},
      {"void qk_int_sv_f8_attn_kernel<128u, 64u, 32u, 64u, 128u, (DataType)1, "
       "(QuantGranularity)3>(signed char*)",
       "attention"},
      {"void (anonymous namespace)::wvSplitK_hf_sml_<__hip_bfloat16, 64, 2, 16, 8, 2, 4>(int)",
       "gemv"},
      {"void tensorrt_llm::kernels::cutlass_kernels::expandInputRowsKernel<__nv_bfloat16>(int)",
       "moe"},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x256x128x1_swiglu", "moe"},
      {"_fwd_kernel_ep_scatter_1", "moe"},
      {"deepep_permute_triton_kernel", "moe"},
      {"void vllm::cvt_fp16_to_fp4<__nv_bfloat16, false>(int, int, __nv_bfloat16 const*)",
       "quantization"},
      {"void cuda::per_token_cast_to_fp8_with_channels<__nv_bfloat16, 128, false>(int)",
       "quantization"},
      {"void cuda::per_channel_cast_and_transpose<256, 128, true>(void const*)", "quantization"},
      {"void per_token_group_quant_8bit_kernel<c10::BFloat16, c10::Float8_e4m3fn>(int)",
       "quantization"},
      {"void at::native::quantile_kernel<float>(float*)", "other"},
      {"void flashinfer::sampling::TopPSamplingFromProbKernel<1024u, (cub::BlockScanAlgorithm)2, "
       "true, float, int>(float*)",
       "sampling"},
      {"void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, true>(float*)",
       "sampling"},
      {"rejection_greedy_sample_kernel", "sampling"},
      {"_selective_scan_update_kernel", "state_space"},
      {"void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<128, 16>>(int)",
       "state_space"},
      {"_chunk_scan_fwd_kernel", "state_space"},
      {"_chunk_state_fwd_kernel", "state_space"},
      {"chunk_gated_delta_rule_fwd_kernel_h_blockdim64", "state_space"},
      {"fused_recurrent_gated_delta_rule_fwd_kernel", "state_space"},
      {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float>(long)",
       "norm"},
      {"void at::native::(anonymous namespace)::GammaBetaBackwardSimpleCUDAKernel<float>(long)",
       "norm"},
      {"void vllm::rms_norm_static_fp8_quant_kernel<c10::BFloat16>(int)", "norm"},
      {"void at::native::(anonymous namespace)::adaptive_min_pool(int)", "elementwise"},
      {"void cuda::swiglu_backward<__nv_bfloat16>(void const*)", "elementwise"},
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
  const auto launches = testing::real_launches();
  ASSERT_TRUE(launches) << launches.error().to_string();
  std::map<std::string, int> seen;
  for (const RealLaunch& launch : *launches) {
    const std::string& expected = classifier->class_of(canonical_name(launch.kineto));
    ++seen[expected];
    EXPECT_EQ(classifier->class_of(canonical_name(launch.ncu)), expected) << launch.ncu;
    EXPECT_EQ(classifier->class_of(canonical_name(launch.full)), expected) << launch.full;
  }
  // What no rule covers is a small part.
  EXPECT_LE(seen["other"], 20);
}

TEST(KernelClasses, NamesTheRuleThatIsWrong) {
  const auto no_regex = Classifier::create({{{"mine", {}, {"("}}}});
  ASSERT_FALSE(no_regex);
  EXPECT_TRUE(no_regex.error().to_string().starts_with(
      "kernel class 'mine': '(' is not a regular expression: "))
      << no_regex.error().to_string();
  const auto empty = settings::read_kernel_classes(*parse_yaml("rules: [{class: x}]", "c.yaml"));
  ASSERT_FALSE(empty);
  EXPECT_EQ(
      empty.error().to_string(),
      "c.yaml:1:17: rules.0.class: has neither 'contains' nor 'matches': it could never apply");
}

/// Rules of one class, found by a text.
void write_rules(const std::filesystem::path& file, const std::string& name,
                 const std::string& text) {
  ASSERT_TRUE(create_folders(file.parent_path()));
  ASSERT_TRUE(
      write_file_atomic(file, "rules: [{class: " + name + ", contains: [" + text + "]}]\n"));
}

std::string class_by(const Result<settings::KernelClasses>& own, std::string_view kernel) {
  if (!own) return own.error().to_string();
  const auto classifier = classifier_with(*own);
  if (!classifier) return classifier.error().to_string();
  return classifier->class_of(canonical_name(kernel));
}

TEST(OwnClasses, AreTriedBeforeTheShippedOnes) {
  const testing::TempDir folder;
  const auto nowhere = config::SearchPath::standard();
  EXPECT_EQ(class_by(own_classes(nowhere, folder.path()), "ampere_sgemm_64x64"), "gemm");
  write_rules(folder / "conf/kernels/classes.yaml", "mine", "sgemm");
  EXPECT_EQ(class_by(own_classes(nowhere, folder.path()), "ampere_sgemm_64x64"), "mine");
  EXPECT_EQ(class_by(own_classes(nowhere, folder.path()), "flash_fwd_kernel"), "attention")
      << "where none of them applies the shipped ones do";
  write_rules(folder / "named.yaml", "named", "sgemm");
  EXPECT_EQ(class_by(own_classes(nowhere, folder.path(), (folder / "named.yaml").string()),
                     "ampere_sgemm_64x64"),
            "named");
}

TEST(OwnClasses, AreThoseOfTheSearchPathWhereOneIsChosen) {
  const testing::TempDir folder;
  write_rules(folder / "conf/kernels/classes.yaml", "here", "sgemm");
  write_rules(folder / "chosen/kernels/classes.yaml", "chosen", "sgemm");
  write_rules(folder / "more/kernels/classes.yaml", "more", "my_kernel");
  auto path = config::SearchPath::standard(
      std::make_shared<const config::FolderSource>("chosen", folder.path()));
  path.append("command-line", std::make_shared<const config::FolderSource>("more", folder.path()));
  EXPECT_EQ(class_by(own_classes(path, folder.path()), "ampere_sgemm_64x64"), "chosen");
  EXPECT_EQ(class_by(own_classes(path, folder.path()), "my_kernel"), "more");
}

TEST(OwnClasses, ReportWhichFileIsWrong) {
  const testing::TempDir folder;
  ASSERT_TRUE(create_folders(folder / "conf/kernels"));
  ASSERT_TRUE(write_file_atomic(folder / "conf/kernels/classes.yaml", "rules: [{class: x}]\n"));
  const auto own = own_classes(config::SearchPath::standard(), folder.path());
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().to_string(),
            "conf/kernels/classes.yaml:1:17: rules.0.class: has neither 'contains' nor 'matches': "
            "it could "
            "never apply");
}

}  // namespace
}  // namespace profline::kernels
