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

TEST_P(PrefillKernels, TurnQueriesAndKeysAndFillTheCache) {
  constexpr int kTokens = 5;
  constexpr int kHeads = 4;
  constexpr int kKvHeads = 2;
  constexpr int kDim = 32;
  constexpr int kCapacity = 9;
  constexpr int kAll = kHeads + 2 * kKvHeads;
  const auto qkv = random(kTokens * kAll * kDim);
  std::vector<float> cos(kCapacity * kDim / 2);
  std::vector<float> sin(cos.size());
  for (std::size_t i = 0; i < cos.size(); ++i) {
    cos[i] = std::cos(0.1F * static_cast<float>(i));
    sin[i] = std::sin(0.1F * static_cast<float>(i));
  }
  StoredOnDevice from(qkv, GetParam());
  StoredOnDevice queries(kHeads * kTokens * kDim, GetParam());
  StoredOnDevice keys(std::vector<float>(kKvHeads * kCapacity * kDim, 3.0F), GetParam());
  StoredOnDevice values(std::vector<float>(kKvHeads * kCapacity * kDim, 3.0F), GetParam());
  OnDevice<float> cos_table(cos);
  OnDevice<float> sin_table(sin);
  RopeStep step{from.get(),      queries.get(), keys.get(), values.get(), cos_table.get(),
                sin_table.get(), kTokens,       kHeads,     kKvHeads,     kDim,
                kCapacity};
  ASSERT_EQ(launch_rope(step, GetParam(), nullptr), cudaSuccess);

  std::vector<float> expected_queries(kHeads * kTokens * kDim);
  std::vector<float> expected_keys(kKvHeads * kCapacity * kDim, 3.0F);  // untouched past the tokens
  std::vector<float> expected_values = expected_keys;
  for (int token = 0; token < kTokens; ++token) {
    for (int head = 0; head < kAll; ++head) {
      for (int i = 0; i < kDim; ++i) {
        const float* row = qkv.data() + (token * kAll + head) * kDim;
        const int half = kDim / 2;
        const float c = cos[static_cast<std::size_t>(token * half + i % half)];
        const float s = sin[static_cast<std::size_t>(token * half + i % half)];
        const float turned =
            i < half ? row[i] * c - row[i + half] * s : row[i] * c + row[i - half] * s;
        const auto at = [&](int local, int rows) {
          return static_cast<std::size_t>((local * rows + token) * kDim + i);
        };
        if (head < kHeads) {
          expected_queries[at(head, kTokens)] = turned;
        } else if (head < kHeads + kKvHeads) {
          expected_keys[at(head - kHeads, kCapacity)] = turned;
        } else {
          expected_values[at(head - kHeads - kKvHeads, kCapacity)] = row[i];
        }
      }
    }
  }
  expect_near(queries.values(), expected_queries);
  expect_near(keys.values(), expected_keys);
  EXPECT_EQ(values.values(), expected_values);
}

struct RouteCase {
  int tokens, width, experts, chosen;
  bool normalise;
};

/// Softmax shares of one token's experts, from doubles.
std::vector<double> shares_of(const float* x, const std::vector<float>& router,
                              const RouteCase& c) {
  std::vector<double> shares(static_cast<std::size_t>(c.experts), 0.0);
  for (int column = 0; column < c.width; ++column) {
    for (int e = 0; e < c.experts; ++e) {
      shares[static_cast<std::size_t>(e)] +=
          static_cast<double>(x[column]) * router[static_cast<std::size_t>(column * c.experts + e)];
    }
  }
  const double max = *std::max_element(shares.begin(), shares.end());
  double sum = 0;
  for (double& share : shares) sum += share = std::exp(share - max);
  for (double& share : shares) share /= sum;
  return shares;
}

TEST_P(PrefillKernels, ChooseTheLikeliestExperts) {
  constexpr RouteCase kCases[] = {{1, 64, 8, 2, false},
                                  {19, 64, 8, 3, true},
                                  {13, 72, 12, 6, false},
                                  {9, 1280, 64, 6, false},
                                  {16, 1280, 64, 6, true}};
  for (const RouteCase& c : kCases) {
    SCOPED_TRACE(::testing::Message() << c.tokens << " tokens, " << c.experts << " experts");
    const auto x = random(static_cast<std::size_t>(c.tokens * c.width));
    std::vector<float> router(static_cast<std::size_t>(c.width * c.experts));
    std::uniform_real_distribution<float> uniform(-0.1F, 0.1F);
    for (float& weight : router) weight = uniform(generator_);
    StoredOnDevice x_there(x, GetParam());
    OnDevice<float> router_there(router);
    OnDevice<int> experts(static_cast<std::size_t>(c.tokens * c.chosen));
    OnDevice<float> weights(static_cast<std::size_t>(c.tokens * c.chosen));
    RouteStep step{x_there.get(), router_there.get(), experts.get(), weights.get(), c.tokens,
                   c.width,       c.experts,          c.chosen,      2.5F,          c.normalise};
    ASSERT_EQ(launch_route(step, GetParam(), nullptr), cudaSuccess);
    const auto chosen = experts.values();
    const auto given = weights.values();
    for (int token = 0; token < c.tokens; ++token) {
      const auto shares = shares_of(x.data() + token * c.width, router, c);
      std::vector<int> order(shares.size());
      std::iota(order.begin(), order.end(), 0);
      const auto share = [&](int e) { return shares[static_cast<std::size_t>(e)]; };
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return share(a) > share(b); });
      double sum = 0;
      for (int k = 0; k < c.chosen; ++k) sum += share(order[static_cast<std::size_t>(k)]);
      for (int k = 0; k < c.chosen; ++k) {
        const auto place = static_cast<std::size_t>(token * c.chosen + k);
        const int expert = order[static_cast<std::size_t>(k)];
        ASSERT_EQ(chosen[place], expert) << "token " << token << ", choice " << k;
        ASSERT_NEAR(given[place], share(expert) * (c.normalise ? 1 / sum : 2.5), 1e-5);
      }
    }
  }
}

TEST_P(PrefillKernels, SortTokensByExpertAndKeepTheirOrder) {
  constexpr int kTokens = 101;
  constexpr int kChosen = 3;
  constexpr int kExperts = 8;
  constexpr int kWidth = 16;
  std::vector<int> experts(kTokens * kChosen);
  for (int& expert : experts)
    expert = static_cast<int>(generator_() % (kExperts - 1));  // one has none
  const auto x = random(kTokens * kWidth);
  OnDevice<int> experts_there(experts);
  StoredOnDevice x_there(x, GetParam());
  OnDevice<int> places(experts.size());
  OnDevice<int> ends(kExperts);
  StoredOnDevice rows(experts.size() * kWidth, GetParam());
  GroupStep step{experts_there.get(),
                 x_there.get(),
                 places.get(),
                 ends.get(),
                 rows.get(),
                 kTokens,
                 kWidth,
                 kExperts,
                 kChosen};
  ASSERT_EQ(launch_group(step, GetParam(), nullptr), cudaSuccess);

  std::vector<int> order(experts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return experts[static_cast<std::size_t>(a)] < experts[static_cast<std::size_t>(b)];
  });
  std::vector<int> expected_places(experts.size());
  std::vector<float> expected_rows;
  for (std::size_t place = 0; place < order.size(); ++place) {
    expected_places[static_cast<std::size_t>(order[place])] = static_cast<int>(place);
    const float* row = x.data() + order[place] / kChosen * kWidth;
    expected_rows.insert(expected_rows.end(), row, row + kWidth);
  }
  std::vector<int> expected_ends;
  for (int e = 0; e < kExperts; ++e) {
    expected_ends.push_back(static_cast<int>(
        std::count_if(experts.begin(), experts.end(), [&](int other) { return other <= e; })));
  }
  EXPECT_EQ(places.values(), expected_places);
  EXPECT_EQ(ends.values(), expected_ends);
  EXPECT_EQ(rows.values(), expected_rows);
}

TEST_P(PrefillKernels, GateWithSilu) {
  constexpr int kRows = 37;
  constexpr int kInner = 24;
  const auto gate_up = random(kRows * 2 * kInner);
  StoredOnDevice from(gate_up, GetParam());
  StoredOnDevice out(kRows * kInner, GetParam());
  ASSERT_EQ(launch_swiglu(from.get(), out.get(), kRows, kInner, GetParam(), nullptr), cudaSuccess);
  std::vector<float> expected;
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kInner; ++i) {
      const float gate = gate_up[static_cast<std::size_t>(row * 2 * kInner + i)];
      const float up = gate_up[static_cast<std::size_t>(row * 2 * kInner + kInner + i)];
      expected.push_back(gate / (1 + std::exp(-gate)) * up);
    }
  }
  expect_near(out.values(), expected);
}

TEST_P(PrefillKernels, AddWhatExpertsGave) {
  constexpr int kTokens = 11;
  constexpr int kChosen = 2;
  constexpr int kWidth = 40;
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
  CombineStep step{hidden_there.get(),
                   shared_there.get(),
                   by_expert_there.get(),
                   places_there.get(),
                   weights_there.get(),
                   hidden_there.get(),
                   kTokens,
                   kWidth,
                   kChosen};
  ASSERT_EQ(launch_combine(step, GetParam(), nullptr), cudaSuccess);
  std::vector<float> expected;
  for (int token = 0; token < kTokens; ++token) {
    for (int i = 0; i < kWidth; ++i) {
      const auto at = static_cast<std::size_t>(token * kWidth + i);
      float sum = hidden[at] + shared[at];
      for (int k = 0; k < kChosen; ++k) {
        const auto assignment = static_cast<std::size_t>(token * kChosen + k);
        sum += weights[assignment] *
               by_expert[static_cast<std::size_t>(places[assignment] * kWidth + i)];
      }
      expected.push_back(sum);
    }
  }
  expect_near(hidden_there.values(), expected);
}

}  // namespace
}  // namespace profline::workload::fast
