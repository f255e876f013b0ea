#include "tools/sim/actuary_replay.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "brain/economy/reclaim_window.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "tools/sim/sellers.h"

namespace taut::tools {
namespace {

constexpr int64_t kPriceMicro = 1'000'000;

// Returns the capacity that `use` leaves, at least 0; NaN if an argument is NaN.
double LeftOf(double capacity, double use) {
  const double left = capacity - use;
  return left < 0 ? 0 : left;
}

struct Sale {
  int64_t start = 0, end = 0;  // steps [start, end)
  std::optional<double> amount;
};

// Returns the amount sold at a step; absent if the seller refuses.
using Seller = std::function<std::optional<double>(int64_t step)>;

class ActuaryRun {
 public:
  ActuaryRun(const PoolSeries& series, const ActuaryReplayOptions& options)
      : series_(series), options_(options.actuary), warmup_(options.warmup_steps) {
    options_.step_s = series.step_s;
    options_.capacity = 0;
    for (const double capacity : series.capacity) {
      if (capacity > options_.capacity) options_.capacity = capacity;
    }
    day_ = kDaySeconds / series.step_s;
    brain::ReclaimWindow window(options_.reclaim_steps, options_.reading);
    for (size_t i = 0; i < series.use.size(); ++i)
      available_.push_back(window.Add(LeftOf(series.capacity[i], series.use[i])));
  }

  absl::StatusOr<ActuaryReplayResult> Run() {
    ActuaryReplayResult out;
    if (absl::Status s = RunActuary(out); !s.ok()) return s;
    const auto past = [this](int64_t step) { return std::span(available_).first(static_cast<size_t>(step)); };
    const auto add = [&](const char* name, const Seller& seller) {
      out.sellers.push_back(Score(name, SalesOf(seller)));
    };
    add("cloudrm", [&](int64_t t) { return CloudrmQuota(past(t), series_.step_s, options_.promise); });
    add("greedy", [&](int64_t t) { return GreedyQuota(past(t), options_.promise); });
    add("all", [this](int64_t) { return options_.capacity; });
    add("clairvoyant", [this](int64_t t) {
      return QuantileAmount(During(t, std::min(steps(), t + options_.horizon_steps)), options_.promise);
    });
    return out;
  }

 private:
  int64_t steps() const { return static_cast<int64_t>(available_.size()); }
  std::span<const double> During(int64_t start, int64_t end) const {
    return std::span(available_).subspan(static_cast<size_t>(start), static_cast<size_t>(end - start));
  }

  std::vector<Sale> SalesOf(const Seller& seller) const {
    std::vector<Sale> sales;
    for (int64_t t = warmup_; t < steps();) {
      const std::optional<double> amount = seller(t);
      const int64_t length =
          amount.has_value() ? options_.horizon_steps : std::min(options_.horizon_steps, day_);
      sales.push_back({t, std::min(steps(), t + length), amount});
      t += length;
    }
    return sales;
  }

  absl::Status RunActuary(ActuaryReplayResult& out) {
    absl::StatusOr<brain::Actuary> actuary = brain::Actuary::Make(options_);
    if (!actuary.ok()) return actuary.status();
    brain::PromiseLedger ledger(series_.step_s);
    absl::Status status;
    const auto observe_until = [&](int64_t step) {
      while (actuary->steps() < step) {
        const int64_t at = actuary->steps();
        const auto i = static_cast<size_t>(at);
        actuary->Observe(series_.capacity[i], series_.use[i]);
        if (absl::Status s = ledger.Observe(at * series_.step_s, 0, actuary->available()); !s.ok())
          status = s;
      }
    };
    const std::vector<Sale> sales = SalesOf([&](int64_t step) -> std::optional<double> {
      observe_until(step);
      const brain::Quote quote = actuary->Ask();
      if (quote.refused()) return std::nullopt;
      actuary->Promised(quote.amount);
      const int64_t length = std::min(options_.horizon_steps, steps() - step);
      const absl::Status s =
          ledger.Add({step * series_.step_s, length * series_.step_s, 0, quote.amount, options_.promise});
      if (!s.ok()) status = s;
      return quote.amount;
    });
    observe_until(steps());
    if (!status.ok()) return status;
    out.sellers.push_back(Score("actuary", sales));
    out.kept = ledger.Summarize(0, options_.promise);
    out.next = actuary->Ask();
    return absl::OkStatus();
  }

  SellerScore Score(std::string name, const std::vector<Sale>& sales) const {
    SellerScore out;
    out.seller = std::move(name);
    double sold = 0, best_sold = 0, all = 0, refused = 0, amounts = 0, taken_back = 0;
    int64_t missed = 0, measured = 0, net = 0, best_net = 0;
    out.least_amount = std::numeric_limits<double>::infinity();
    for (const Sale& sale : sales) {
      const std::span<const double> during = During(sale.start, sale.end);
      const auto n = static_cast<double>(during.size());
      const double best = QuantileAmount(during, options_.promise).value_or(0);
      all += n;
      best_sold += best * n;
      // The clairvoyant's amount keeps the promise by construction, so there are revenues and no penalties.
      if (const auto account =
              Settle(Scaled(during), best / options_.capacity, options_.promise, kPriceMicro);
          account.ok())
        best_net += account->revenue_micro;
      if (!sale.amount.has_value()) {
        refused += n;
        continue;
      }
      ++out.sales;
      out.broken += *sale.amount > best + 1e-12 * options_.capacity ? 1 : 0;
      sold += *sale.amount * n;
      amounts += *sale.amount;
      out.least_amount = std::min(out.least_amount, *sale.amount);
      const auto account =
          Settle(Scaled(during), *sale.amount / options_.capacity, options_.promise, kPriceMicro);
      if (!account.ok()) continue;
      missed += account->missed_steps;
      measured += account->measured_steps;
      taken_back += account->taken_back * options_.capacity;
      net += account->revenue_micro - account->penalty_micro;
    }
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
    out.kept_share = 1 - share(static_cast<double>(missed), static_cast<double>(measured));
    out.refused_share = share(refused, all);
    out.of_clairvoyant = share(sold, best_sold);
    out.mean_amount = share(amounts, static_cast<double>(out.sales));
    if (out.sales == 0) out.least_amount = 0;
    out.taken_back_per_day = share(taken_back, static_cast<double>(measured) / static_cast<double>(day_));
    out.net_of_clairvoyant = share(static_cast<double>(net), static_cast<double>(best_net));
    return out;
  }

  // Returns the values as shares of the capacity, the unit of Settle().
  std::vector<double> Scaled(std::span<const double> values) const {
    std::vector<double> out(values.begin(), values.end());
    for (double& value : out) value /= options_.capacity;
    return out;
  }

  const PoolSeries& series_;
  brain::ActuaryOptions options_;
  int64_t warmup_, day_ = 288;
  std::vector<double> available_;  // available amount by step, after the reclaim delay
};

}  // namespace

absl::StatusOr<ActuaryReplayResult> ReplayActuary(const PoolSeries& series,
                                                  const ActuaryReplayOptions& options) {
  const auto steps = static_cast<int64_t>(series.use.size());
  if (series.use.size() != series.capacity.size())
    return absl::InvalidArgumentError("capacity and use have different numbers of steps");
  if (steps <= options.warmup_steps) {
    return absl::InvalidArgumentError(
        StrCat("the series has ", steps, " steps, not more than the warm-up of ", options.warmup_steps));
  }
  return ActuaryRun(series, options).Run();
}

}  // namespace taut::tools
