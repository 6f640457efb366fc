#include "workload/generation/token_chooser.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace profline::workload {
namespace {

struct Candidate {
  double logit = 0;
  std::int64_t id = 0;
};

/// Likeliest first, the lower id of equals: the same order on every machine.
bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

std::vector<Candidate> candidates(std::span<const float> logits) {
  std::vector<Candidate> all(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double logit = logits[i];
    all[i] = {std::isnan(logit) ? -std::numeric_limits<double>::infinity() : logit,
              static_cast<std::int64_t>(i)};
  }
  return all;
}

/// Only the `count` likeliest, in order.
void keep_likeliest(std::vector<Candidate>& from, std::size_t count) {
  count = std::min(count, from.size());
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(from.begin(), end, from.end(), likelier);
  from.erase(end, from.end());
}

at::Tensor ids_tensor(const std::vector<std::int64_t>& ids, at::Device device) {
  return at::tensor(ids, at::TensorOptions().dtype(at::kLong)).to(device);
}

}  // namespace

double Sampler::uniform() {
  // SplitMix64: the same numbers everywhere, which the std distributions do not guarantee.
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

std::int64_t Sampler::draw(std::span<const float> logits) {
  std::vector<Candidate> kept = candidates(logits);
  if (sampling_.top_k || sampling_.top_p) {
    keep_likeliest(kept, sampling_.top_k ? *sampling_.top_k : kept.size());
  }
  const double best = std::min_element(kept.begin(), kept.end(), likelier)->logit;
  if (std::isinf(best) && best < 0) return kept.front().id;

  std::vector<double> weights(kept.size());
  std::transform(kept.begin(), kept.end(), weights.begin(), [&](const Candidate& candidate) {
    return std::exp((candidate.logit - best) / sampling_.temperature);
  });
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sampling_.top_p) {
    const double enough = *sampling_.top_p * total;
    double reached = 0;
    std::size_t count = 0;
    while (count < weights.size() && (count == 0 || reached < enough)) reached += weights[count++];
    weights.resize(count);
    total = reached;
  }

  double left = uniform() * total;
  std::size_t drawn = 0;
  while (drawn + 1 < weights.size() && left >= weights[drawn]) left -= weights[drawn++];
  // Rounding may leave a remainder at the end, where a banned token may be.
  while (drawn > 0 && weights[drawn] == 0) --drawn;
  return kept[drawn].id;
}

NgramRule::NgramRule(std::uint32_t size, std::span<const std::int64_t> prompt) : size_(size) {
  if (size_ == 0) return;
  for (const std::int64_t id : prompt) add(id);
}

void NgramRule::add(std::int64_t id) {
  if (size_ == 0) return;
  history_.push_back(id);
  if (history_.size() < size_) return;
  const std::size_t place = history_.size() - 1;
  followers_.emplace(tail_hash(place), place);
}

std::vector<std::int64_t> NgramRule::banned() const {
  std::vector<std::int64_t> ids;
  if (size_ == 0 || history_.size() + 1 < size_) return ids;
  const auto [first, last] = followers_.equal_range(tail_hash(history_.size()));
  for (auto entry = first; entry != last; ++entry) {
    if (equal_tails(entry->second, history_.size())) ids.push_back(history_[entry->second]);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Of the n−1 tokens before `end`.
std::uint64_t NgramRule::tail_hash(std::size_t end) const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = end + 1 - size_; i < end; ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(history_[i])) * 0x100000001b3;
  }
  return hash;
}

bool NgramRule::equal_tails(std::size_t a, std::size_t b) const {
  const auto begin = history_.begin();
  const auto length = static_cast<std::ptrdiff_t>(size_) - 1;
  const auto tail = [&](std::size_t end) {
    return begin + static_cast<std::ptrdiff_t>(end) - length;
  };
  return std::equal(tail(a), tail(a) + length, tail(b));
}

TokenChooser::TokenChooser(const GenerationOptions& options, std::span<const std::int64_t> prompt)
    : ngrams_(options.no_repeat_ngram_size, prompt) {
  if (options.sampling) sampler_.emplace(*options.sampling);
}

Choice TokenChooser::choose(const at::Tensor& logits) {
  const std::vector<std::int64_t> banned = ngrams_.banned();
  if (!banned.empty()) {
    logits.index_fill_(1, ids_tensor(banned, logits.device()),
                       -std::numeric_limits<double>::infinity());
  }
  Choice choice;
  if (sampler_) {
    const at::Tensor host = logits.cpu().contiguous();
    choice.id = sampler_->draw({host.data_ptr<float>(), static_cast<std::size_t>(host.numel())});
    choice.token = ids_tensor({choice.id}, logits.device());
  } else {
    choice.token = logits.argmax(-1);  // the first of equal ones
    choice.id = choice.token.item<std::int64_t>();
  }
  ngrams_.add(choice.id);
  return choice;
}

Choices TokenChooser::choose_each(std::span<TokenChooser> choosers, const at::Tensor& logits) {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> banned;
  bool are_greedy = true;
  for (std::size_t i = 0; i < choosers.size(); ++i) {
    for (const std::int64_t id : choosers[i].ngrams_.banned()) {
      rows.push_back(static_cast<std::int64_t>(i));
      banned.push_back(id);
    }
    are_greedy = are_greedy && !choosers[i].sampler_;
  }
  if (!banned.empty()) {
    const at::Tensor places =
        ids_tensor(rows, logits.device()) * logits.size(1) + ids_tensor(banned, logits.device());
    logits.view({-1}).index_fill_(0, places, -std::numeric_limits<double>::infinity());
  }
  Choices choices;
  // One copy to the host for all: each waits for the device.
  if (are_greedy) choices.tokens = logits.argmax(-1);
  const at::Tensor host = (are_greedy ? choices.tokens : logits).cpu().contiguous();
  for (std::size_t i = 0; i < choosers.size(); ++i) {
    if (are_greedy) {
      choices.ids.push_back(host.data_ptr<std::int64_t>()[i]);
    } else {
      const auto vocabulary = static_cast<std::size_t>(host.size(1));
      const float* const row = host.data_ptr<float>() + i * vocabulary;
      choices.ids.push_back(choosers[i].sampler_->draw({row, vocabulary}));
    }
    choosers[i].ngrams_.add(choices.ids.back());
  }
  if (!are_greedy) choices.tokens = ids_tensor(choices.ids, logits.device());
  return choices;
}

}  // namespace profline::workload
