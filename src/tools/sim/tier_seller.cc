#include "tools/sim/tier_seller.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "brain/economy/actuary.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "fmt/format.h"
#include "tools/sim/sellers.h"

namespace taut::tools {
namespace {

constexpr SellerPolicyInfo kSellerPolicies[] = {
    {SellerPolicy::kNone, "none", "sells nothing below the reserved tiers"},
    {SellerPolicy::kUnreserved, "unreserved", "sells the capacity that higher tiers have not bought"},
    {SellerPolicy::kCloudrm, "cloudrm", "a conservative mean less an error correction, over the promise"},
    {SellerPolicy::kMean, "mean", "a conservative mean, over the promise"},
    {SellerPolicy::kGreedy, "greedy", "what is available now, over the promise"},
    {SellerPolicy::kActuary, "actuary", "the quantile of what will be available, learnt from past errors"},
    {SellerPolicy::kClairvoyant, "clairvoyant", "knows what higher tiers will use and jobs will ask for"},
    {SellerPolicy::kAll, "all", "sells everything that is asked for"},
};

// Converts the amount of one step to cores or GiB.
double InUnits(Resource r, double amount) {
  return amount / static_cast<double>(kWindowSeconds) / (UnitOf(r).accounted * UnitOf(r).large);
}
std::string_view SoldIn(Resource r) { return InCores(r) ? "cores" : "GiB of memory"; }

// A seller that quotes an amount per step. The sum of all sales stays within the quote.
class QuotingSeller : public TierSeller {
 public:
  QuotingSeller(std::string_view name, const TierSellerOptions& options) : options_(options), name_(name) {}

  bool Grants(const SaleRequest& request) override {
    for (const Resource r : kResources) {
      if (Left(r, request) < AskOf(r, request)) return false;
    }
    return true;
  }
  std::string Why(const SaleRequest& request) override {
    const bool grants = Grants(request);
    for (const Resource r : kResources) {
      if (!grants && Left(r, request) >= AskOf(r, request)) continue;
      const std::optional<double> quote = QuoteOf(r, request);
      if (!quote.has_value()) return StrCat(name_, " sells no ", Name(r), ": ", WhyNoQuote(r));
      const auto i = static_cast<size_t>(r);
      const auto text = [&](double amount) { return fmt::format("{:.6g}", InUnits(r, amount)); };
      return fmt::format("{} sells {} {} in all, of which {} are sold and {} asked for", name_, text(*quote),
                         SoldIn(r), text(static_cast<double>(request.sold[i])), text(AskOf(r, request)));
    }
    return "";
  }

 protected:
  // Returns the maximum sum of sales at request.step; nullopt: nothing is sold.
  virtual std::optional<double> Quote(Resource r, const SaleRequest& request) = 0;
  virtual std::string WhyNoQuote(Resource) { return "nothing is measured yet"; }
  const TierSellerOptions options_;

 private:
  static double AskOf(Resource r, const SaleRequest& request) {
    return static_cast<double>(request.ask[static_cast<size_t>(r)]);
  }
  double Left(Resource r, const SaleRequest& request) {
    return QuoteOf(r, request).value_or(0) - static_cast<double>(request.sold[static_cast<size_t>(r)]);
  }
  // Returns the cached quote of a step. Quotes that depend on past steps are expensive, and many jobs request in
  // the same step.
  std::optional<double> QuoteOf(Resource r, const SaleRequest& request) {
    const auto i = static_cast<size_t>(r);
    if (quoted_step_[i] != request.step) {
      quotes_[i] = Quote(r, request);
      quoted_step_[i] = request.step;
    }
    return quotes_[i];
  }

  const std::string_view name_;
  PerResource<int64_t> quoted_step_ = AllOf<int64_t>(-1);
  PerResource<std::optional<double>> quotes_;
};

class NothingSeller final : public TierSeller {
 public:
  void Observe(const PerResource<double>&, const PerResource<double>&) override {}
  bool Grants(const SaleRequest&) override { return false; }
  std::string Why(const SaleRequest&) override { return "nothing is sold below the reserved tiers"; }
};

class AllSeller final : public TierSeller {
 public:
  void Observe(const PerResource<double>&, const PerResource<double>&) override {}
  bool Grants(const SaleRequest&) override { return true; }
  std::string Why(const SaleRequest&) override { return "everything is sold"; }
};

class UnreservedSeller final : public QuotingSeller {
 public:
  explicit UnreservedSeller(const TierSellerOptions& options) : QuotingSeller("the pool", options) {}
  void Observe(const PerResource<double>&, const PerResource<double>&) override {}

 protected:
  std::optional<double> Quote(Resource r, const SaleRequest& request) override {
    const auto i = static_cast<size_t>(r);
    return static_cast<double>(options_.capacity[i] - request.bought[i]);
  }
};

// Sells amounts computed from the available amounts of past steps.
class PastSeller final : public QuotingSeller {
 public:
  PastSeller(SellerPolicy policy, const TierSellerOptions& options)
      : QuotingSeller(Name(policy), options), policy_(policy) {}
  void Observe(const PerResource<double>&, const PerResource<double>& available) override {
    for (size_t i = 0; i < kNumResources; ++i) past_[i].push_back(available[i]);
  }

 protected:
  std::optional<double> Quote(Resource r, const SaleRequest&) override {
    const std::span<const double> past = past_[static_cast<size_t>(r)];
    const double slo = static_cast<double>(options_.availability_ppm) / brain::kWholePpm;
    switch (policy_) {
      case SellerPolicy::kCloudrm:
        return CloudrmQuota(past, kWindowSeconds, slo);
      case SellerPolicy::kMean:
        return MeanQuota(past, kWindowSeconds, slo);
      default:
        return GreedyQuota(past, slo);
    }
  }

 private:
  const SellerPolicy policy_;
  PerResource<std::vector<double>> past_;
};

class ActuarySeller final : public QuotingSeller {
 public:
  ActuarySeller(const TierSellerOptions& options, std::vector<brain::Actuary> actuaries)
      : QuotingSeller(Name(SellerPolicy::kActuary), options), actuaries_(std::move(actuaries)) {}
  void Observe(const PerResource<double>& higher_use, const PerResource<double>&) override {
    for (size_t i = 0; i < kNumResources; ++i)
      actuaries_[i].Observe(static_cast<double>(options_.capacity[i]), higher_use[i]);
  }

 protected:
  std::optional<double> Quote(Resource r, const SaleRequest&) override {
    const taut::brain::Quote quote = actuaries_[static_cast<size_t>(r)].Ask();
    return quote.refused() ? std::nullopt : std::optional(quote.amount);
  }
  std::string WhyNoQuote(Resource r) override {
    const brain::Actuary& actuary = actuaries_[static_cast<size_t>(r)];
    return brain::Explain(actuary.Ask(), actuary.options());
  }

 private:
  std::vector<brain::Actuary> actuaries_;  // actuary by resource
};

// Grants a request if the amount, on top of all earlier sales, will be available in the promised share of each
// period in which the job runs. A job that fits on top of earlier sales runs (tier_simulation.h), so every promise
// is kept.
class ClairvoyantSeller final : public TierSeller {
 public:
  ClairvoyantSeller(const TierSellerOptions& options, const PoolFuture& future)
      : risk_ppm_(brain::kWholePpm - options.availability_ppm), future_(future) {
    for (std::vector<int64_t>& sold : sold_) sold.resize(future.period.size());
  }
  void Observe(const PerResource<double>&, const PerResource<double>&) override {}

  bool Grants(const SaleRequest& request) override {
    const auto known = refused_until_.find(request.job);
    if (known != refused_until_.end() && request.step < known->second) return false;
    int32_t period = -1;
    int64_t from = request.step, missed = 0, wanted = 0;  // start and counts of the current period
    bool kept = true;
    // Integers make the comparison of missed / wanted with the risk exact.
    const auto close = [&] {
      if (!kept || missed * brain::kWholePpm <= risk_ppm_ * wanted) return;
      kept = false;
      refused_until_[request.job] = from + StepsUntilKept(missed, wanted);
    };
    ForEachAsk(request, [&](size_t step, const PoolAmounts& ask) {
      if (future_.period[step] != period) {
        close();
        period = future_.period[step];
        from = static_cast<int64_t>(step);
        missed = wanted = 0;
      }
      ++wanted;
      missed += Fits(step, ask) ? 0 : 1;
    });
    close();
    return kept;
  }
  void Sold(const SaleRequest& request) override {
    ForEachAsk(request, [&](size_t step, const PoolAmounts& ask) {
      for (size_t i = 0; i < kNumResources; ++i) sold_[i][step] += ask[i];
    });
  }
  std::string Why(const SaleRequest& request) override {
    return Grants(request) ? "it will be available for the promised share of every month"
                           : "it will not be available for the promised share of every month";
  }

 private:
  // Calls take(step, ask) for each step from now on in which the job has usage.
  template <typename Take>
  void ForEachAsk(const SaleRequest& request, const Take& take) const {
    const std::vector<AskChange>& changes = future_.asks[request.job];
    auto next = std::ranges::upper_bound(changes, request.step, {}, &AskChange::step);
    const int64_t end = std::min<int64_t>(request.last_step + 1, static_cast<int64_t>(future_.period.size()));
    for (int64_t step = request.step; step < end;) {
      const int64_t until = next == changes.end() ? end : std::min<int64_t>(end, next->step);
      if (next != changes.begin() && std::prev(next)->ask[0] >= 0) {
        for (int64_t at = step; at < until; ++at) take(static_cast<size_t>(at), std::prev(next)->ask);
      }
      step = until;
      if (next != changes.end()) ++next;
    }
  }
  bool Fits(size_t step, const PoolAmounts& ask) const {
    for (size_t i = 0; i < kNumResources; ++i) {
      if (!(static_cast<double>(sold_[i][step] + ask[i]) <= future_.available[i][step])) return false;
    }
    return true;
  }
  // Returns a lower bound of the number of steps for which a refusal remains valid. Sales at a step only grow, so
  // each elapsed step removes at most one missed step. Until the result, too many of the remaining steps are
  // missed.
  int64_t StepsUntilKept(int64_t missed, int64_t wanted) const {
    const double risk = static_cast<double>(risk_ppm_) / brain::kWholePpm;
    const double surplus = static_cast<double>(missed) - risk * static_cast<double>(wanted);
    return std::max<int64_t>(1, static_cast<int64_t>(std::floor(surplus / (1 - risk))));
  }

  const int64_t risk_ppm_;
  const PoolFuture& future_;
  PerResource<std::vector<int64_t>> sold_;  // amounts sold at each step
  // Step until which a job's requests stay refused, by job.
  std::unordered_map<uint32_t, int64_t> refused_until_;
};

absl::StatusOr<std::unique_ptr<TierSeller>> NewActuarySeller(const TierSellerOptions& options) {
  const double promise = static_cast<double>(options.availability_ppm) / brain::kWholePpm;
  std::vector<brain::Actuary> actuaries;
  for (const Resource r : kResources) {
    brain::ActuaryOptions o;
    o.capacity = static_cast<double>(options.capacity[static_cast<size_t>(r)]);
    o.step_s = kWindowSeconds;
    o.horizon_steps = options.horizon_steps;
    o.reclaim_steps = options.reclaim_steps;
    o.promise = std::clamp(promise, 0.5, 0.99999);
    absl::StatusOr<brain::Actuary> actuary = brain::Actuary::Make(o);
    if (!actuary.ok()) return actuary.status();
    actuaries.push_back(*std::move(actuary));
  }
  return std::make_unique<ActuarySeller>(options, std::move(actuaries));
}

absl::Status Check(const TierSellerOptions& o) {
  for (const int64_t capacity : o.capacity) {
    if (capacity <= 0)
      return absl::InvalidArgumentError(StrCat("the capacity is ", capacity, "; expected more than 0"));
  }
  if (o.availability_ppm <= 0 || o.availability_ppm > brain::kWholePpm)
    return absl::InvalidArgumentError(
        StrCat("the availability is ", o.availability_ppm, " ppm; expected 1 to ", brain::kWholePpm));
  return absl::OkStatus();
}

}  // namespace

std::span<const SellerPolicyInfo> SellerPolicies() { return kSellerPolicies; }

std::string_view Name(SellerPolicy policy) { return kSellerPolicies[static_cast<size_t>(policy)].name; }

absl::StatusOr<SellerPolicy> SellerPolicyNamed(std::string_view name) {
  const auto row = RowNamed("policy", kSellerPolicies, name);
  if (!row.ok()) return row.status();
  return (*row)->policy;
}

absl::StatusOr<std::unique_ptr<TierSeller>> NewTierSeller(SellerPolicy policy,
                                                          const TierSellerOptions& options,
                                                          const PoolFuture* future) {
  if (absl::Status s = Check(options); !s.ok()) return s;
  switch (policy) {
    case SellerPolicy::kNone:
      return std::make_unique<NothingSeller>();
    case SellerPolicy::kAll:
      return std::make_unique<AllSeller>();
    case SellerPolicy::kUnreserved:
      return std::make_unique<UnreservedSeller>(options);
    case SellerPolicy::kActuary:
      return NewActuarySeller(options);
    case SellerPolicy::kClairvoyant:
      if (future == nullptr) return absl::InvalidArgumentError("the clairvoyant seller needs the future");
      return std::make_unique<ClairvoyantSeller>(options, *future);
    default:
      return std::make_unique<PastSeller>(policy, options);
  }
}

}  // namespace taut::tools
