#include "workload/fast/kernels/prefill.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "workload/fast/kernels/testing_device.h"

namespace profline::workload::fast {
namespace {

using testing::OnDevice;
using testing::StoredOnDevice;

using PrefillKernels = testing::KernelTest;
INSTANTIATE_TEST_SUITE_P(Stored, PrefillKernels, ::testing::Values(Stored::Bf16, Stored::Fp32),
                         testing::stored_name);

int as_int(std::size_t value) {
  return static_cast<int>(value);
}

constexpr std::size_t kRopeTokens = 5;
constexpr std::size_t kHeads = 4;
constexpr std::size_t kKvHeads = 2;
constexpr std::size_t kAllHeads = kHeads + 2 * kKvHeads;
constexpr std::size_t kDim = 32;
constexpr std::size_t kHalf = kDim / 2;
constexpr std::size_t kCapacity = 9;

/// Element i of a head's row, rotated.
float turned(const float* row, std::size_t i, const float* cos, const float* sin) {
  const float other = i < kHalf ? -row[i + kHalf] : row[i - kHalf];
  return row[i] * cos[i % kHalf] + other * sin[i % kHalf];
}

TEST_P(PrefillKernels, TurnQueriesAndKeysAndFillTheCache) {
  const auto qkv = random(kRopeTokens * kAllHeads * kDim);
  std::vector<float> cos(kCapacity * kHalf);
  std::vector<float> sin(cos.size());
  for (std::size_t i = 0; i < cos.size(); ++i) {
    cos[i] = std::cos(0.1F * static_cast<float>(i));
    sin[i] = std::sin(0.1F * static_cast<float>(i));
  }
  const std::vector<float> untouched(kKvHeads * kCapacity * kDim, 3.0F);
  StoredOnDevice from(qkv, GetParam());
  StoredOnDevice queries(kHeads * kRopeTokens * kDim, GetParam());
  StoredOnDevice keys(untouched, GetParam());
  StoredOnDevice values(untouched, GetParam());
  OnDevice<float> cos_table(cos);
  OnDevice<float> sin_table(sin);
  const RopeStep step{from.get(),       queries.get(),   keys.get(),          values.get(),
                      cos_table.get(),  sin_table.get(), as_int(kRopeTokens), as_int(kHeads),
                      as_int(kKvHeads), as_int(kDim),    as_int(kCapacity)};
  ASSERT_EQ(launch_rope(step, GetParam(), nullptr), cudaSuccess);

  std::vector<float> expected_queries(kHeads * kRopeTokens * kDim);
  std::vector<float> expected_keys = untouched;  // past the tokens they stay
  std::vector<float> expected_values = untouched;
  for (std::size_t at = 0; at < qkv.size(); ++at) {
    const std::size_t i = at % kDim;
    const std::size_t head = at / kDim % kAllHeads;
    const std::size_t token = at / kDim / kAllHeads;
    const float turn =
        turned(qkv.data() + (at - i), i, cos.data() + token * kHalf, sin.data() + token * kHalf);
    if (head < kHeads) {
      expected_queries[(head * kRopeTokens + token) * kDim + i] = turn;
    } else if (head < kHeads + kKvHeads) {
      expected_keys[((head - kHeads) * kCapacity + token) * kDim + i] = turn;
    } else {
      expected_values[((head - kHeads - kKvHeads) * kCapacity + token) * kDim + i] = qkv[at];
    }
  }
  expect_near(queries.values(), expected_queries);
  expect_near(keys.values(), expected_keys);
  EXPECT_EQ(values.values(), expected_values);
}

struct RouteCase {
  std::size_t tokens, width, experts, chosen;
  bool normalise;
};

/// Softmax shares of one token's experts, from doubles.
std::vector<double> shares_of(const float* x, const std::vector<float>& router,
                              const RouteCase& c) {
  std::vector<double> shares(c.experts, 0.0);
  for (std::size_t i = 0; i < router.size(); ++i) {
    shares[i % c.experts] += static_cast<double>(x[i / c.experts]) * router[i];
  }
  const double max = *std::max_element(shares.begin(), shares.end());
  double sum = 0;
  for (double& share : shares) sum += share = std::exp(share - max);
  for (double& share : shares) share /= sum;
  return shares;
}

/// The expected routing of one token.
void expect_likeliest(const std::vector<double>& shares, const RouteCase& c, const int* chosen,
                      const float* weights) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  double sum = 0;
  for (std::size_t k = 0; k < c.chosen; ++k) sum += shares[order[k]];
  for (std::size_t k = 0; k < c.chosen; ++k) {
    ASSERT_EQ(chosen[k], as_int(order[k])) << "choice " << k;
    ASSERT_NEAR(weights[k], shares[order[k]] * (c.normalise ? 1 / sum : 2.5), 1e-5);
  }
}

TEST_P(PrefillKernels, ChooseTheLikeliestExperts) {
  constexpr RouteCase kCases[] = {{1, 64, 8, 2, false},
                                  {19, 64, 8, 3, true},
                                  {13, 72, 12, 6, false},
                                  {9, 1280, 64, 6, false},
                                  {16, 1280, 64, 6, true}};
  for (const RouteCase& c : kCases) {
    SCOPED_TRACE(::testing::Message() << c.tokens << " tokens, " << c.experts << " experts");
    const auto x = random(c.tokens * c.width);
    std::vector<float> router(c.width * c.experts);
    std::uniform_real_distribution<float> uniform(-0.1F, 0.1F);
    for (float& weight : router) weight = uniform(generator_);
    StoredOnDevice x_there(x, GetParam());
    OnDevice<float> router_there(router);
    OnDevice<int> experts(c.tokens * c.chosen);
    OnDevice<float> weights(c.tokens * c.chosen);
    const RouteStep step{
        x_there.get(),   router_there.get(), experts.get(),    weights.get(), as_int(c.tokens),
        as_int(c.width), as_int(c.experts),  as_int(c.chosen), 2.5F,          c.normalise};
    ASSERT_EQ(launch_route(step, GetParam(), nullptr), cudaSuccess);
    const auto chosen = experts.values();
    const auto given = weights.values();
    for (std::size_t token = 0; token < c.tokens; ++token) {
      SCOPED_TRACE(token);
      expect_likeliest(shares_of(x.data() + token * c.width, router, c), c,
                       chosen.data() + token * c.chosen, given.data() + token * c.chosen);
    }
  }
}

TEST_P(PrefillKernels, SortTokensByExpertAndKeepTheirOrder) {
  constexpr std::size_t kTokens = 101;
  constexpr std::size_t kChosen = 3;
  constexpr std::size_t kExperts = 8;
  constexpr std::size_t kWidth = 16;
  std::vector<int> experts(kTokens * kChosen);
  for (int& expert : experts) expert = as_int(generator_() % (kExperts - 1));  // one has none
  const auto x = random(kTokens * kWidth);
  OnDevice<int> experts_there(experts);
  StoredOnDevice x_there(x, GetParam());
  OnDevice<int> places(experts.size());
  OnDevice<int> ends(kExperts);
  StoredOnDevice rows(experts.size() * kWidth, GetParam());
  const GroupStep step{experts_there.get(),
                       x_there.get(),
                       places.get(),
                       ends.get(),
                       rows.get(),
                       kTokens,
                       kWidth,
                       kExperts,
                       kChosen};
  ASSERT_EQ(launch_group(step, GetParam(), nullptr), cudaSuccess);

  std::vector<std::size_t> order(experts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return experts[a] < experts[b]; });
  std::vector<int> expected_places(experts.size());
  std::vector<float> expected_rows;
  for (std::size_t place = 0; place < order.size(); ++place) {
    expected_places[order[place]] = as_int(place);
    const float* row = x.data() + order[place] / kChosen * kWidth;
    expected_rows.insert(expected_rows.end(), row, row + kWidth);
  }
  std::vector<int> expected_ends;
  expected_ends.reserve(kExperts);
  for (int e = 0; e < as_int(kExperts); ++e) {
    expected_ends.push_back(static_cast<int>(
        std::count_if(experts.begin(), experts.end(), [&](int other) { return other <= e; })));
  }
  EXPECT_EQ(places.values(), expected_places);
  EXPECT_EQ(ends.values(), expected_ends);
  EXPECT_EQ(rows.values(), expected_rows);
}

TEST_P(PrefillKernels, GateWithSilu) {
  constexpr std::size_t kRows = 37;
  constexpr std::size_t kInner = 24;
  const auto gate_up = random(kRows * 2 * kInner);
  StoredOnDevice from(gate_up, GetParam());
  StoredOnDevice out(kRows * kInner, GetParam());
  ASSERT_EQ(
      launch_swiglu(from.get(), out.get(), as_int(kRows), as_int(kInner), GetParam(), nullptr),
      cudaSuccess);
  std::vector<float> expected;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < kInner; ++i) {
      const float gate = gate_up[row * 2 * kInner + i];
      const float up = gate_up[row * 2 * kInner + kInner + i];
      expected.push_back(gate / (1 + std::exp(-gate)) * up);
    }
  }
  expect_near(out.values(), expected);
}

TEST_P(PrefillKernels, AddWhatExpertsGave) {
  constexpr std::size_t kTokens = 11;
  constexpr std::size_t kChosen = 2;
  constexpr std::size_t kWidth = 40;
  const auto hidden = random(kTokens * kWidth);
  const auto shared = random(kTokens * kWidth);
  const auto by_expert = random(kTokens * kChosen * kWidth);
  std::vector<float> weights(kTokens * kChosen);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (float& weight : weights) weight = uniform(generator_);
  std::vector<int> places(kTokens * kChosen);
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), generator_);
  StoredOnDevice hidden_there(hidden, GetParam());
  StoredOnDevice shared_there(shared, GetParam());
  StoredOnDevice by_expert_there(by_expert, GetParam());
  OnDevice<int> places_there(places);
  OnDevice<float> weights_there(weights);
  const CombineStep step{hidden_there.get(), shared_there.get(),  by_expert_there.get(),
                         places_there.get(), weights_there.get(), hidden_there.get(),
                         as_int(kTokens),    as_int(kWidth),      as_int(kChosen)};
  ASSERT_EQ(launch_combine(step, GetParam(), nullptr), cudaSuccess);
  std::vector<float> expected;
  for (std::size_t token = 0; token < kTokens; ++token) {
    for (std::size_t i = 0; i < kWidth; ++i) {
      const std::size_t at = token * kWidth + i;
      float sum = hidden[at] + shared[at];
      for (std::size_t k = 0; k < kChosen; ++k) {
        const std::size_t assignment = token * kChosen + k;
        sum += weights[assignment] *
               by_expert[static_cast<std::size_t>(places[assignment]) * kWidth + i];
      }
      expected.push_back(sum);
    }
  }
  expect_near(hidden_there.values(), expected);
}

}  // namespace
}  // namespace profline::workload::fast
