#include "brain/rollout/migration.h"

#include <cmath>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr uint8_t kMigrationVersion = 1;

// Returns the reason why the job is too large; "" if the job is small enough.
std::string TooLarge(const MigrationSettings& settings, const MigrationFacts& facts) {
  if (facts.cpu_cores > settings.max_cpu_cores) {
    return StrCat("it has ", FormatCores(facts.cpu_cores), ", more than ",
                  FormatCores(settings.max_cpu_cores));
  }
  if (facts.memory_bytes > settings.max_memory_bytes) {
    return StrCat("it has ", FormatBytes(facts.memory_bytes), ", more than ",
                  FormatBytes(settings.max_memory_bytes));
  }
  return "";
}

std::string DaysOver(const MigrationState& state) {
  return StrCat("on ", state.days_over, " of ", state.days,
                " days in observe usage was above the would-be limit");
}

MigrationVerdict Withdraw(std::string_view why, MigrationState& state) {
  const bool known = state.notice_s != INT64_MIN || state.moved;
  const bool moved = state.moved;
  state = {};
  if (!known) return {};
  return {MigrationStep::kWithdraw, StrCat(moved ? "back to observe: " : "stays in observe: ", why)};
}

}  // namespace

MigrationVerdict StepMigration(const MigrationSettings& settings, const JobPolicy& policy,
                               const MigrationFacts& facts, MigrationState& state) {
  if (policy.mode != Mode::kObserve) {
    state = {};
    return {};
  }
  if (!policy.migrate) return Withdraw("the owner opted out", state);
  if (state.moved) return {};
  if (!settings.enabled) return Withdraw("migration was disabled", state);

  if (state.days < UINT16_MAX) {
    ++state.days;
    if (facts.over_today) ++state.days_over;
  }
  if (facts.past) return {};
  const std::string too_large = TooLarge(settings, facts);
  const bool too_often = state.days_over > settings.max_days_over * state.days;
  if (state.notice_s != INT64_MIN) {
    if (!too_large.empty()) return Withdraw(too_large, state);
    if (too_often) return Withdraw(DaysOver(state), state);
    if (static_cast<double>(facts.now_s - state.notice_s) < settings.notice_days * kDay) return {};
    state.moved = true;
    return {MigrationStep::kMove, StrCat("moved to auto: ", DaysOver(state), "; notice was given ",
                                         FormatDuration(facts.now_s - state.notice_s), " ago")};
  }
  if (state.days < settings.observe_days) return {};
  if (too_often) {
    state = {};
    return {};
  }
  if (!too_large.empty()) return {};
  state.notice_s = facts.now_s;
  const auto notice = static_cast<int64_t>(std::llround(settings.notice_days * kDay));
  return {MigrationStep::kNotice,
          StrCat("moves to auto in ", FormatDuration(notice), ", ", FormatTime(facts.now_s + notice), ": ",
                 DaysOver(state), ", and its limits are ", FormatCores(facts.cpu_cores), " and ",
                 FormatBytes(facts.memory_bytes), " over all tasks; set migrate to false to stay")};
}

void MigrationState::Save(ByteWriter& out) const {
  out.Put(kMigrationVersion);
  out.Put(days);
  out.Put(days_over);
  out.Put(notice_s);
  out.Put(static_cast<uint8_t>(moved ? 1 : 0));
}

absl::Status MigrationState::Load(ByteReader& in) {
  MigrationState loaded;
  const auto version = in.Get<uint8_t>();
  loaded.days = in.Get<uint16_t>();
  loaded.days_over = in.Get<uint16_t>();
  loaded.notice_s = in.Get<int64_t>();
  const auto moved_byte = in.Get<uint8_t>();
  loaded.moved = moved_byte == 1;
  if (in.failed() || version != kMigrationVersion || moved_byte > 1 || loaded.days_over > loaded.days) {
    return absl::DataLossError("the state of a migration is damaged");
  }
  *this = loaded;
  return absl::OkStatus();
}

}  // namespace taut::brain
