// A budget definition, and accounts that agree with it, for tests.
#pragma once

#include <string>
#include <vector>

#include "brain/economy/budget_definition.h"
#include "gtest/gtest.h"

namespace taut::brain {

inline constexpr int64_t kNovember = 1'793'491'200;  // 2026-11-01, 00:00 UTC
inline constexpr int64_t kDecember = kNovember + 30 * kDaySeconds;

inline Money Coins(int64_t whole) { return {whole * 1'000'000}; }

inline std::vector<BudgetPart> Shares(std::initializer_list<std::pair<const char*, int64_t>> shares) {
  std::vector<BudgetPart> out;
  for (const auto& [business, bp] : shares) out.push_back({Business(business), bp, {}});
  return out;
}

// Returns a definition with two businesses. retail has 1,000 EUR and carries half over, up to 200 EUR. media has
// 2,000 credits of 0.50 EUR. retail and media pay for shop in shares of 70 % and 30 %, and retail pays for web.
inline BudgetDefinition TwoBusinesses() {
  BudgetDefinition def;
  def.currency = "EUR";
  def.units = {{"credits", {{std::nullopt, {500'000}}}}};
  def.businesses = {{"retail", "", Coins(1000), {5000, Coins(200)}}, {"media", "credits", Coins(2000), {}}};
  def.groups = {{"shop", {{std::nullopt, Shares({{"retail", 7000}, {"media", 3000}})}}},
                {"web", {{std::nullopt, Shares({{"retail", 10'000}})}}}};
  return def;
}

// Applies the entries one by one, like a service, and appends them to `ledger`.
inline absl::Status Enter(BudgetAccounts& accounts, std::vector<BudgetEntry> entries, int64_t now_s,
                          std::vector<BudgetEntry>* ledger = nullptr) {
  for (BudgetEntry& e : entries) {
    e.id = accounts.last_id() + 1;
    e.time_s = std::max(now_s, accounts.last_time_s());
    if (absl::Status s = accounts.Apply(e); !s.ok()) return s;
    if (ledger != nullptr) ledger->push_back(e);
  }
  return absl::OkStatus();
}

inline BudgetAccounts BookOf(const BudgetDefinition& def, int64_t now_s = kNovember + 100,
                             std::vector<BudgetEntry>* ledger = nullptr) {
  BudgetAccounts accounts;
  const auto changes = ChangesTo(def, {0, {Coins(1), Coins(1)}}, accounts, now_s);
  EXPECT_TRUE(changes.ok()) << changes.status();
  if (changes.ok()) {
    EXPECT_EQ(Enter(accounts, *changes, now_s, ledger), absl::OkStatus());
  }
  return accounts;
}

inline BudgetEntry Ask(BudgetAct act, BudgetHolder of, Money amount = {}) {
  BudgetEntry e;
  e.act = act;
  e.of = std::move(of);
  e.amount = amount;
  e.who = "ann";
  e.why = "a test";
  return e;
}

}  // namespace taut::brain
