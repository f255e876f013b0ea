#include "common/model/reason.h"

namespace taut {
namespace {

constexpr uint8_t kVersion = 3;  // version 1 ended after the steps, version 2 after the chance

void SaveFact(const Fact& fact, ByteWriter& out) {
  out.PutString(fact.name);
  out.Put(static_cast<uint8_t>(fact.value.index()));
  if (const double* number = std::get_if<double>(&fact.value)) {
    out.Put(*number);
  } else {
    out.PutString(std::get<std::string>(fact.value));
  }
  out.PutString(fact.unit);
}

Fact LoadFact(ByteReader& in) {
  Fact fact;
  fact.name = in.GetString();
  if (in.Get<uint8_t>() == 0) {
    fact.value = in.Get<double>();
  } else {
    fact.value = std::string(in.GetString());
  }
  fact.unit = in.GetString();
  return fact;
}

// Each encoded element is at least one byte long: a larger count is damage, and must not cause an allocation.
bool PlausibleCount(uint64_t count, const ByteReader& in) { return count <= in.remaining(); }

}  // namespace

std::string SaveReason(const Reason& reason) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(kVersion);
  out.PutString(reason.recommender);
  out.PutString(reason.sentence);
  out.PutString(reason.cost_unit);
  out.PutVarint(reason.facts.size());
  for (const Fact& f : reason.facts) SaveFact(f, out);
  out.PutVarint(reason.candidates.size());
  for (const Candidate& c : reason.candidates) {
    out.PutString(c.name);
    out.Put(c.limit);
    out.Put(c.cost);
    out.PutString(c.detail);
    out.Put(static_cast<uint8_t>(c.chosen));
  }
  out.PutVarint(reason.steps.size());
  for (const ReasonStep& s : reason.steps) {
    out.PutString(s.what);
    out.Put(s.before);
    out.Put(s.after);
  }
  for (const ReasonStep& s : reason.steps) out.PutString(s.kind);
  out.PutString(reason.why);
  for (const std::optional<double>& value : {reason.limit, reason.chance}) {
    out.Put(static_cast<uint8_t>(value.has_value()));
    out.Put(value.value_or(0));
  }
  out.PutVarint(reason.days);
  out.PutVarint(reason.days_over);
  return bytes;
}

void Reason::SetRisk(const LimitRisk& risk) {
  chance = risk.forecast();
  days = risk.days;
  days_over = risk.days_over;
}

absl::StatusOr<Reason> LoadReason(std::string_view bytes) {
  ByteReader in(bytes);
  const auto version = in.Get<uint8_t>();
  if ((version < 1 || version > kVersion) && !in.failed()) {
    return absl::UnimplementedError("a reason of a newer version of the program");
  }
  Reason reason;
  reason.recommender = in.GetString();
  reason.sentence = in.GetString();
  reason.cost_unit = in.GetString();
  const uint64_t facts = in.GetVarint();
  if (!PlausibleCount(facts, in)) return absl::DataLossError("a damaged reason: more facts than bytes");
  for (uint64_t i = 0; i < facts && !in.failed(); ++i) reason.facts.push_back(LoadFact(in));
  const uint64_t candidates = in.GetVarint();
  if (!PlausibleCount(candidates, in))
    return absl::DataLossError("a damaged reason: more candidates than bytes");
  for (uint64_t i = 0; i < candidates && !in.failed(); ++i) {
    Candidate c;
    c.name = in.GetString();
    c.limit = in.Get<double>();
    c.cost = in.Get<double>();
    c.detail = in.GetString();
    c.chosen = in.Get<uint8_t>() != 0;
    reason.candidates.push_back(std::move(c));
  }
  const uint64_t steps = in.GetVarint();
  if (!PlausibleCount(steps, in)) return absl::DataLossError("a damaged reason: more steps than bytes");
  for (uint64_t i = 0; i < steps && !in.failed(); ++i) {
    ReasonStep s;
    s.what = in.GetString();
    s.before = in.Get<double>();
    s.after = in.Get<double>();
    reason.steps.push_back(std::move(s));
  }
  if (version > 1) {
    for (ReasonStep& s : reason.steps) s.kind = in.GetString();
    reason.why = in.GetString();
    for (std::optional<double>* value : {&reason.limit, &reason.chance}) {
      const bool has = in.Get<uint8_t>() != 0;
      const auto number = in.Get<double>();
      if (has) *value = number;
    }
  }
  if (version > 2) {
    reason.days = static_cast<uint32_t>(in.GetVarint());
    reason.days_over = static_cast<uint32_t>(in.GetVarint());
  }
  if (absl::Status s = in.status("a reason"); !s.ok()) return s;
  if (in.remaining() != 0) return absl::DataLossError("a damaged reason: trailing bytes");
  return reason;
}

}  // namespace taut
