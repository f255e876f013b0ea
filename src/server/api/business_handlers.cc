// API handlers for budgets of businesses and groups, and for entries in their ledger.
#include <algorithm>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "common/base/printable.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/pool/budget_text.h"

namespace taut::server {
namespace {

constexpr std::string_view kNoBudgets = "no budgets are configured: budgets.file names no file";

bool HasHolder(const Reach& reach, const brain::BudgetHolder& holder) {
  return reach.all() || reach.Has(holder.is_business() ? ToText(holder) : holder.name);
}

// Writes the members that businesses and groups have in common.
void PutHolder(const BudgetView& view, const brain::BudgetHolder& holder, const brain::HolderState& state,
               int64_t now_s, JsonWriter& json) {
  const brain::Money budget = state.budget(now_s), spent = brain::SpentOf(view.spent.spent, holder);
  json.Field("name", std::string_view(holder.name));
  json.Field("holder", std::string_view(ToText(holder)));
  json.Field("unit", std::string_view(state.unit));
  PutMoney("budget", budget, json);
  PutMoney("balance", state.balance(), json);
  PutMoney("spent", spent, json);
  PutMoney("forecast", brain::SpentOf(view.forecast.spent, holder), json);
  PutMoney("left", {budget.micros - spent.micros}, json);
  json.Field("frozen", state.frozen_by != 0);
  if (state.frozen_by != 0) {
    json.Field("frozen_by", static_cast<int64_t>(state.frozen_by));
    json.Field("frozen_why", std::string_view(state.frozen_why));
  }
  json.Field("removed", state.removed);
  json.Key("overrides");
  json.BeginArray();
  for (const brain::BudgetOverride& o : state.overrides) {
    if (o.until_s <= now_s) continue;
    json.BeginObject();
    json.Field("entry", static_cast<int64_t>(o.entry));
    PutMoney("amount", o.amount, json);
    json.Field("until", o.until_s);
    json.EndObject();
  }
  json.EndArray();
}

// Writes a group's current share, and the amount paid in the period by this share and earlier shares.
void PutShare(std::string_view key, std::string_view name, int64_t share_bp, brain::Money paid,
              JsonWriter& json) {
  json.BeginObject();
  json.Field(key, name);
  json.Field("share_bp", share_bp);
  PutMoney("paid", paid, json);
  json.EndObject();
}

brain::Money PaidBy(const brain::BudgetSpending& spending, const std::string& group,
                    const std::string& business) {
  const auto of = spending.groups.find(group);
  if (of == spending.groups.end()) return {};
  const auto paid = of->second.payers.find(business);
  return paid == of->second.payers.end() ? brain::Money() : paid->second;
}

void PutPaysFor(const BudgetView& view, const std::string& business, JsonWriter& json) {
  json.Key("pays_for");
  json.BeginArray();
  for (const auto& [group, line] : view.accounts.funding()) {
    const brain::Money paid = PaidBy(view.spent, group, business);
    int64_t share_bp = 0;
    if (const std::vector<brain::BudgetPart>* funders = view.accounts.FundersAt(group, view.counted_s);
        funders != nullptr) {
      for (const brain::BudgetPart& part : *funders)
        share_bp += part.holder.name == business ? part.share_bp : 0;
    }
    if (share_bp > 0 || paid.micros > 0) PutShare("group", group, share_bp, paid, json);
  }
  json.EndArray();
}

void PutFunders(const BudgetView& view, const std::string& group, JsonWriter& json) {
  json.Key("funders");
  json.BeginArray();
  if (const std::vector<brain::BudgetPart>* funders = view.accounts.FundersAt(group, view.counted_s);
      funders != nullptr) {
    for (const brain::BudgetPart& part : *funders)
      PutShare("business", part.holder.name, part.share_bp, PaidBy(view.spent, group, part.holder.name),
               json);
  }
  json.EndArray();
  const auto of = view.spent.groups.find(group);
  const brain::GroupSpending spending = of == view.spent.groups.end() ? brain::GroupSpending() : of->second;
  PutMoney("spent_in_all", spending.spent, json);
  PutMoney("unfunded", spending.unfunded, json);
}

// Budgets of the setting prices.budgets are left out: /api/v1/budgets has them, and their groups overlap.
void PutBusinesses(const BudgetView& view, const BudgetService& service, const Reach& reach,
                   JsonWriter& json) {
  const int64_t now_s = service.now_s();
  const auto is_listed = [&](const brain::BudgetHolder& holder) {
    return HasHolder(reach, holder) &&
           std::ranges::find(service.labels(), holder.name, &LabelGroup::name) == service.labels().end();
  };
  json.Key("businesses");
  json.BeginArray();
  for (const auto& [holder, state] : view.accounts.holders()) {
    if (!holder.is_business() || !is_listed(holder)) continue;
    json.BeginObject();
    PutHolder(view, holder, state, now_s, json);
    PutMoney("per_period", state.per_period, json);
    json.Field("carry_share_bp", state.carry.share_bp);
    if (state.carry.cap.has_value()) PutMoney("carry_cap", *state.carry.cap, json);
    PutPaysFor(view, holder.name, json);
    json.EndObject();
  }
  json.EndArray();
  json.Key("groups");
  json.BeginArray();
  for (const auto& [holder, state] : view.accounts.holders()) {
    if (holder.is_business() || !is_listed(holder)) continue;
    json.BeginObject();
    PutHolder(view, holder, state, now_s, json);
    PutFunders(view, holder.name, json);
    json.EndObject();
  }
  json.EndArray();
  // Write the groups that spend money but have no budget.
  json.Key("without_budget");
  json.BeginArray();
  for (const auto& [group, spending] : view.spent.groups) {
    if (view.accounts.Find(brain::GroupHolder(group)) != nullptr || !reach.Has(group)) continue;
    json.BeginObject();
    json.Field("group", std::string_view(group));
    PutMoney("spent", spending.spent, json);
    json.EndObject();
  }
  json.EndArray();
}

// Returns the entry without the amounts of holders out of reach, whose names remain. Returns nullopt if the entry
// concerns no holder in reach.
std::optional<brain::BudgetEntry> Shown(const brain::BudgetEntry& entry,
                                        const brain::BudgetAccounts& accounts, const Reach& reach) {
  if (reach.all() || HasHolder(reach, entry.of)) return entry;
  switch (entry.act) {
    case brain::BudgetAct::kPeriod:
    case brain::BudgetAct::kPrices:
    case brain::BudgetAct::kRate:
      return entry;
    case brain::BudgetAct::kTransfer:
    case brain::BudgetAct::kSplit:
      break;
    default:
      return std::nullopt;
  }
  brain::BudgetEntry out = entry;
  out.key.clear();
  std::erase_if(out.parts, [&](const brain::BudgetPart& part) { return !HasHolder(reach, part.holder); });
  if (entry.act == brain::BudgetAct::kSplit) {
    if (out.parts.empty()) return std::nullopt;
    // If the parts have different units, the total includes only the parts in the first part's unit.
    out.unit = accounts.UnitOf(out.parts[0].holder);
    out.amount = {};
    for (const brain::BudgetPart& part : out.parts)
      out.amount.micros += accounts.UnitOf(part.holder) == out.unit ? part.amount.micros : 0;
    return out;
  }
  out.amount = out.received;
  out.unit = accounts.UnitOf(out.to);
  return HasHolder(reach, entry.to) ? std::optional(out) : std::nullopt;
}

void PutLedgerEntry(const brain::BudgetEntry& entry, const brain::BudgetAccounts& accounts,
                    JsonWriter& json) {
  brain::BudgetEntry e = entry;
  if (e.unit.empty() && !e.of.name.empty()) e.unit = accounts.UnitOf(e.of);
  json.BeginObject();
  PutEntry(e, json);
  json.Field("text", std::string_view(Describe(e, e.unit)));
  json.EndObject();
}

// Clears the members that the entry's act does not use, so that they do not affect the idempotency key.
void ForgetWhatIsNotOf(brain::BudgetEntry& e) {
  if (e.act == brain::BudgetAct::kFreeze || e.act == brain::BudgetAct::kUnfreeze) e.amount = {};
  if (e.act != brain::BudgetAct::kOverride) e.until_s = 0;
  if (e.act != brain::BudgetAct::kTransfer) e.to = {};
  if (e.act != brain::BudgetAct::kSplit) e.parts.clear();
}

// Returns the holder with this name. A holder out of reach causes the same error as a missing holder.
absl::StatusOr<brain::BudgetHolder> HolderWithin(const brain::BudgetAccounts& accounts, const Reach& reach,
                                                 std::string_view text) {
  if (reach.all()) return accounts.Resolve(text);
  std::vector<brain::BudgetHolder> found;
  const auto add = [&](const brain::BudgetHolder& holder) {
    if (accounts.Find(holder) != nullptr && HasHolder(reach, holder)) found.push_back(holder);
  };
  if (const std::optional<brain::BudgetHolder> whole = brain::HolderOf(text); whole.has_value()) add(*whole);
  if (found.empty()) {
    add(brain::Business(text));
    add(brain::GroupHolder(text));
  }
  if (found.size() == 1) return found[0];
  if (found.size() > 1) return accounts.Resolve(text);
  return absl::NotFoundError(StrCat("no business or group \"", ShortText(text), "\" of yours"));
}

// Parses a time such as "2026-12-01" or "2026-12-01T12:00:00Z", or seconds since the epoch.
absl::StatusOr<int64_t> UntilOf(JsonNode node) {
  if (const std::optional<int64_t> seconds = node.whole(); seconds.has_value()) return *seconds;
  if (!node.text().has_value())
    return absl::InvalidArgumentError(
        "until: expected a text such as \"2026-12-01\" or \"2026-12-01T12:00:00Z\", or whole seconds of the "
        "Unix epoch");
  const std::string text(*node.text());
  absl::CivilDay day;
  if (text.size() == 10 && absl::ParseCivilTime(text, &day))
    return absl::ToUnixSeconds(absl::FromCivil(day, absl::UTCTimeZone()));
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return absl::ToUnixSeconds(time);
  return absl::InvalidArgumentError(
      StrCat("until: \"", ShortText(text), "\": expected a time such as 2026-12-01 or 2026-12-01T12:00:00Z"));
}

absl::StatusOr<brain::Money> AmountOf(JsonNode node) {
  if (const std::optional<int64_t> whole = node.whole(); whole.has_value())
    return brain::ParseMoney(StrCat(*whole));
  if (!node.text().has_value())
    return absl::InvalidArgumentError(R"(amount: expected a text such as "12.50", or "all")");
  return brain::ParseMoney(*node.text());
}

// A parsed request to the ledger, before the names of its holders are resolved.
struct AskedOfLedger {
  brain::BudgetEntry entry;
  std::string of, to;
  std::vector<std::pair<std::string, int64_t>> parts;
  bool all = false;
};

absl::Status TakeText(std::string_view key, JsonNode value, size_t most, std::string& out) {
  const std::optional<std::string_view> text = value.text();
  if (!text.has_value() || text->size() > most || !IsPrintableUtf8(*text))
    return absl::InvalidArgumentError(StrCat(key, ": expected a printable text of up to ", most, " bytes"));
  out = *text;
  return absl::OkStatus();
}

absl::Status TakeLedgerField(std::string_view key, JsonNode value, AskedOfLedger& out) {
  constexpr size_t kMostName = 300, kMostWhy = 500, kMostKey = 100;
  if (key == "act") {
    const std::optional<brain::BudgetAct> act = brain::BudgetActNamed(value.text().value_or(""));
    if (!act.has_value() || !brain::IsRequest(*act)) {
      return absl::InvalidArgumentError(
          StrCat("act: \"", ShortText(value.text().value_or("")),
                 "\": expected grant, transfer, split, expire, freeze, unfreeze or override"));
    }
    out.entry.act = *act;
    return absl::OkStatus();
  }
  if (key == "of") return TakeText(key, value, kMostName, out.of);
  if (key == "to") return TakeText(key, value, kMostName, out.to);
  if (key == "why") return TakeText(key, value, kMostWhy, out.entry.why);
  if (key == "key") return TakeText(key, value, kMostKey, out.entry.key);
  if (key == "amount") {
    out.all = value.text() == "all";
    if (out.all) return absl::OkStatus();
    const absl::StatusOr<brain::Money> amount = AmountOf(value);
    if (!amount.ok())
      return absl::Status(amount.status().code(), StrCat("amount: ", Message(amount.status())));
    out.entry.amount = *amount;
    return absl::OkStatus();
  }
  if (key == "until") {
    const absl::StatusOr<int64_t> until = UntilOf(value);
    if (!until.ok()) return until.status();
    out.entry.until_s = *until;
    return absl::OkStatus();
  }
  if (key == "parts" && value.is_object()) {
    absl::Status status;
    value.ForEachField([&](std::string_view holder, JsonNode share) {
      const std::optional<int64_t> bp = brain::ParseShare(share.text().value_or(""));
      if (!bp.has_value() && status.ok()) {
        status = absl::InvalidArgumentError(
            StrCat("parts: the share of ", ShortText(holder), ": expected one such as 60% or 33.33%"));
      }
      out.parts.emplace_back(holder, bp.value_or(0));
    });
    return status;
  }
  return absl::InvalidArgumentError(
      StrCat("invalid ", ShortText(key), ": expected act, of, to, amount, parts, until, why and key"));
}

absl::StatusOr<AskedOfLedger> AskedOf(std::string_view body) {
  JsonTree tree;
  if (!tree.Parse(body).ok() || !tree.root().is_object()) {
    return absl::InvalidArgumentError(
        R"(invalid body: expected a JSON object such as {"act": "transfer", "of": "business:retail", "to": "group:shop", "amount": "100", "why": "..."})");
  }
  AskedOfLedger out;
  absl::Status status;
  bool has_act = false;
  tree.root().ForEachField([&](std::string_view key, JsonNode value) {
    has_act = has_act || key == "act";
    if (status.ok()) status = TakeLedgerField(key, value, out);
  });
  if (!status.ok()) return status;
  if (!has_act)
    return absl::InvalidArgumentError(
        "act is missing: expected grant, transfer, split, expire, freeze, unfreeze or override");
  if (out.of.empty()) return absl::InvalidArgumentError("of is missing: expected a business or group");
  if (out.entry.act == brain::BudgetAct::kTransfer && out.to.empty())
    return absl::InvalidArgumentError(
        "to is missing: expected the business or group that receives the transfer");
  return out;
}

bool NeedsGrant(brain::BudgetAct act) {
  return act != brain::BudgetAct::kTransfer && act != brain::BudgetAct::kSplit &&
         act != brain::BudgetAct::kExpire;
}

HttpResponse GetBusinesses(const ApiCall& call, BudgetService* service) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, kNoBudgets);
  const auto view = service->View();
  if (!view.ok()) return ErrorResponse(view.status());
  const brain::BudgetAccounts& accounts = (*view)->accounts;
  JsonWriter json;
  json.BeginObject();
  PutTime("from", accounts.period().is_open() ? accounts.period().from_s : INT64_MIN, json);
  PutTime("to", accounts.period().is_open() ? accounts.period().to_s : INT64_MIN, json);
  json.Field("counted_to", (*view)->counted_s);
  json.Field("currency", std::string_view(accounts.currency()));
  if (call.reach.all()) {
    PutMoney("spent", (*view)->spent.total, json);
    PutMoney("unfunded", (*view)->spent.unfunded, json);
    PutMoney("forecast", (*view)->forecast.total, json);
  }
  json.Key("warnings");
  json.BeginArray();
  if (call.reach.all()) {
    for (const std::string& warning : (*view)->warnings) json.String(warning);
  }
  json.EndArray();
  PutBusinesses(**view, *service, call.reach, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse GetBudgetLedger(const ApiCall& call, BudgetService* service) {
  if (absl::Status s = OnlyParameters(call.request, {"holder", "limit", "before"}); !s.ok())
    return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, kNoBudgets);
  const absl::StatusOr<int64_t> limit = IntParameter(call.request, "limit", 100, 1, 10'000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const absl::StatusOr<int64_t> before = IntParameter(call.request, "before", INT64_MAX, 1, INT64_MAX);
  if (!before.ok()) return ErrorResponse(before.status());
  const brain::BudgetAccounts accounts = service->accounts();
  const std::string text = TextParameter(call.request, "holder");
  if (!text.empty() && !accounts.period().is_open())
    return ErrorResponse(503, "the budget ledger is not open yet: no period has begun; retry");
  // The holder need not exist, because the ledger contains entries of removed holders.
  std::optional<brain::BudgetHolder> only = brain::HolderOf(text);
  if (!text.empty() && (!only.has_value() || !HasHolder(call.reach, *only))) {
    const absl::StatusOr<brain::BudgetHolder> found = HolderWithin(accounts, call.reach, text);
    if (!found.ok()) return ErrorResponse(found.status());
    only = *found;
  }
  const std::vector<brain::BudgetEntry> entries = service->Ledger(
      [&](const brain::BudgetEntry& e) -> std::optional<brain::BudgetEntry> {
        if (e.id >= static_cast<uint64_t>(*before)) return std::nullopt;
        const bool is_of =
            !only.has_value() || e.of == *only || (e.act == brain::BudgetAct::kTransfer && e.to == *only) ||
            std::ranges::any_of(e.parts, [&](const brain::BudgetPart& part) { return part.holder == *only; });
        return is_of ? Shown(e, accounts, call.reach) : std::nullopt;
      },
      static_cast<size_t>(*limit));
  JsonWriter json;
  json.BeginObject();
  json.Key("entries");
  json.BeginArray();
  for (const brain::BudgetEntry& e : entries) PutLedgerEntry(e, accounts, json);
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse PostBudgetEntry(const ApiCall& call, const FleetAccess& access, BudgetService* service) {
  if (absl::Status s = OnlyParameters(call.request, {"who"}); !s.ok()) return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, kNoBudgets);
  const absl::StatusOr<std::string> who = WhoOf(call.request);
  if (!who.ok()) return ErrorResponse(who.status());
  absl::StatusOr<AskedOfLedger> asked = AskedOf(call.request.body);
  if (!asked.ok()) return ErrorResponse(asked.status());
  const brain::BudgetAccounts accounts = service->accounts();
  // Before the period is open, no business is known, and every name would be rejected.
  if (!accounts.period().is_open())
    return ErrorResponse(503, "the budget ledger is not open yet: no period has begun; retry");
  brain::BudgetEntry& entry = asked->entry;
  const auto find = [&](const std::string& text, brain::BudgetHolder& to) -> absl::Status {
    absl::StatusOr<brain::BudgetHolder> found = HolderWithin(accounts, call.reach, text);
    if (found.ok()) {
      to = *std::move(found);
      return absl::OkStatus();
    }
    // The caller may see this holder, so respond with 403 instead of 404.
    if (HolderWithin(accounts, access.ReachOf(call.request, Act::kSeeMoney), text).ok())
      return absl::PermissionDeniedError(RefusalText(call.request, Act::kMoveMoney));
    return found.status();
  };
  if (absl::Status s = find(asked->of, entry.of); !s.ok()) return ErrorResponse(s);
  if (NeedsGrant(entry.act) && !HasHolder(access.ReachOf(call.request, Act::kGrantMoney), entry.of))
    return ErrorResponse(403, RefusalText(call.request, Act::kGrantMoney));
  if (!asked->to.empty()) {
    if (absl::Status s = find(asked->to, entry.to); !s.ok()) return ErrorResponse(s);
  }
  for (const auto& [text, share_bp] : asked->parts) {
    brain::BudgetPart& part = entry.parts.emplace_back();
    part.share_bp = share_bp;
    if (absl::Status s = find(text, part.holder); !s.ok()) return ErrorResponse(s);
  }
  entry.who = *who;
  ForgetWhatIsNotOf(entry);
  const absl::StatusOr<brain::BudgetEntry> made = service->Submit(std::move(entry), asked->all);
  if (!made.ok()) return ErrorResponse(made.status());
  JsonWriter json;
  PutLedgerEntry(*made, accounts, json);
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddBusinessRoutes(const FleetAccess& access, BudgetService* service, RouteTable& routes) {
  routes.Add("GET", "/api/v1/businesses", Act::kSeeMoney,
             [service](const ApiCall& call) { return GetBusinesses(call, service); });
  routes.Add("GET", "/api/v1/budget-ledger", Act::kSeeMoney,
             [service](const ApiCall& call) { return GetBudgetLedger(call, service); });
  routes.Add("POST", "/api/v1/budget-ledger", Act::kMoveMoney,
             [&access, service](const ApiCall& call) { return PostBudgetEntry(call, access, service); });
}

}  // namespace taut::server
