#include "server/pool/budget_text.h"

#include <utility>

#include "common/base/strings.h"
#include "common/json/json_tree.h"

namespace taut::server {
namespace {

void PutAmount(std::string_view key, brain::Money money, JsonWriter& json) {
  json.Field(key, std::string_view(ToText(money)));
}

bool HasAmount(brain::BudgetAct act) {
  switch (act) {
    case brain::BudgetAct::kBusiness:
    case brain::BudgetAct::kGrant:
    case brain::BudgetAct::kTransfer:
    case brain::BudgetAct::kSplit:
    case brain::BudgetAct::kExpire:
    case brain::BudgetAct::kOverride:
    case brain::BudgetAct::kClose:
      return true;
    default:
      return false;
  }
}

void PutParts(const brain::BudgetEntry& e, JsonWriter& json) {
  json.Key("parts");
  json.BeginArray();
  for (const brain::BudgetPart& part : e.parts) {
    json.BeginObject();
    json.Field("holder", std::string_view(ToText(part.holder)));
    json.Field("share_bp", part.share_bp);
    if (e.act == brain::BudgetAct::kSplit) PutAmount("amount", part.amount, json);
    json.EndObject();
  }
  json.EndArray();
}

// Reads fields, and records whether a field was malformed.
class EntryReader {
 public:
  explicit EntryReader(JsonNode root) : root_(root) {}

  bool ok() const { return ok_; }
  void Amount(std::string_view key, brain::Money& out) {
    if (root_[key]) out = MoneyOf(root_[key]);
  }
  void Holder(std::string_view key, brain::BudgetHolder& out) {
    if (root_[key]) out = HolderAt(root_[key]);
  }
  void Parts(std::vector<brain::BudgetPart>& out) {
    root_["parts"].ForEachItem([&](JsonNode item) {
      brain::BudgetPart& part = out.emplace_back();
      part.holder = HolderAt(item["holder"]);
      part.share_bp = item.Whole("share_bp");
      if (item["amount"]) part.amount = MoneyOf(item["amount"]);
    });
  }

 private:
  brain::Money MoneyOf(JsonNode node) {
    const absl::StatusOr<brain::Money> money = brain::ParseMoney(node.text().value_or(""));
    ok_ = ok_ && money.ok();
    return money.value_or(brain::Money());
  }
  brain::BudgetHolder HolderAt(JsonNode node) {
    std::optional<brain::BudgetHolder> holder = brain::HolderOf(node.text().value_or(""));
    ok_ = ok_ && holder.has_value();
    return std::move(holder).value_or(brain::BudgetHolder());
  }

  const JsonNode root_;
  bool ok_ = true;
};

}  // namespace

void PutEntry(const brain::BudgetEntry& e, JsonWriter& json) {
  json.Field("id", static_cast<int64_t>(e.id));
  json.Field("time", e.time_s);
  json.Field("who", std::string_view(e.who));
  json.Field("why", std::string_view(e.why));
  if (!e.key.empty()) json.Field("key", std::string_view(e.key));
  json.Field("act", Name(e.act));
  if (!e.of.name.empty()) json.Field("of", std::string_view(ToText(e.of)));
  if (HasAmount(e.act)) PutAmount("amount", e.amount, json);
  if (!e.unit.empty()) json.Field("unit", std::string_view(e.unit));
  switch (e.act) {
    case brain::BudgetAct::kTransfer:
      json.Field("to", std::string_view(ToText(e.to)));
      PutAmount("received", e.received, json);
      break;
    case brain::BudgetAct::kSplit:
      PutParts(e, json);
      break;
    case brain::BudgetAct::kFunding:
      json.Field("from", e.from_s);
      PutParts(e, json);
      break;
    case brain::BudgetAct::kRate:
      json.Field("from", e.from_s);
      PutAmount("rate", e.rate, json);
      break;
    case brain::BudgetAct::kPrices:
      json.Field("from", e.from_s);
      for (const Resource r : kResources) PutAmount(RowOf(r).price_key, e.price.rate(r), json);
      break;
    case brain::BudgetAct::kBusiness:
      json.Field("carry_share_bp", e.carry.share_bp);
      if (e.carry.cap.has_value()) PutAmount("carry_cap", *e.carry.cap, json);
      break;
    case brain::BudgetAct::kOverride:
      json.Field("until", e.until_s);
      break;
    case brain::BudgetAct::kPeriod:
      json.Field("from", e.from_s);
      json.Field("until", e.until_s);
      break;
    case brain::BudgetAct::kClose:
      PutAmount("spent", e.spent, json);
      PutAmount("carried", e.carried, json);
      PutAmount("expired", e.expired, json);
      break;
    default:
      break;
  }
}

std::string EncodeEntry(const brain::BudgetEntry& entry) {
  JsonWriter json;
  json.BeginObject();
  PutEntry(entry, json);
  json.EndObject();
  return json.Take();
}

absl::StatusOr<brain::BudgetEntry> DecodeEntry(std::string_view text) {
  JsonTree tree;
  if (absl::Status s = tree.Parse(text); !s.ok()) return s;
  const JsonNode root = tree.root();
  const std::optional<brain::BudgetAct> act = brain::BudgetActNamed(root.Text("act"));
  brain::BudgetEntry e;
  e.id = static_cast<uint64_t>(root.Whole("id"));
  if (!act.has_value() || e.id == 0)
    return absl::DataLossError("not an entry of the budget ledger: expected an object with id and act");
  e.act = *act;
  e.time_s = root.Whole("time");
  e.who = root.Text("who");
  e.why = root.Text("why");
  e.key = root.Text("key");
  e.unit = root.Text("unit");
  e.from_s = root.Whole("from");
  e.until_s = root.Whole("until");
  e.carry.share_bp = root.Whole("carry_share_bp");
  EntryReader reader(root);
  if (root["carry_cap"]) reader.Amount("carry_cap", e.carry.cap.emplace());
  reader.Holder("of", e.of);
  reader.Holder("to", e.to);
  for (const auto& [key, to] : {std::pair<std::string_view, brain::Money*>{"amount", &e.amount},
                                {"received", &e.received},
                                {"rate", &e.rate},
                                {"spent", &e.spent},
                                {"carried", &e.carried},
                                {"expired", &e.expired}})
    reader.Amount(key, *to);
  for (const Resource r : kResources) reader.Amount(RowOf(r).price_key, e.price.per_hour[IndexOf(r)]);
  reader.Parts(e.parts);
  if (!reader.ok())
    return absl::DataLossError(StrCat("entry ", e.id, " has a name or an amount that cannot be read"));
  return e;
}

}  // namespace taut::server
