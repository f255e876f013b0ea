#include "server/control/ingest_state.h"

#include <algorithm>
#include <utility>

#include "common/base/probe.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

// With `clock: samples`, each sample is compared with the newest sample before it.
IngestOptions WithSampleTime(IngestOptions options) {
  if (options.clock == ClockSource::kSamples) {
    options.ingest.windows.time_is_samples = true;
    options.ingest.windows.max_future_seconds = kMaxSampleStepSeconds;
  }
  return options;
}

}  // namespace

IngestState::IngestState(const IngestOptions& its_options, MappingRules its_mapping, SampleLog* its_samples,
                         const SharedStatus& its_board)
    : options(WithSampleTime(its_options)),
      mapping(std::move(its_mapping)),
      samples(its_samples),
      status(its_board),
      ingest(std::make_unique<Ingest>(mapping, options.ingest)),
      clock(options.clock, options.ingest.windows.grace_seconds) {}

absl::Status IngestState::CheckRoom() {
  absl::Status room = RoomNow();
  if (!room.ok()) ++deferred_writes;
  return room;
}

absl::Status IngestState::RoomNow() const {
  if (const uint64_t waiting = ingest->windows().waiting_samples();
      waiting >= options.ingest.max_waiting_samples) {
    TAUT_PROBE("samples are refused: too many wait for their windows");
    return absl::UnavailableError(StrCat(
        waiting,
        " samples wait for their windows to close, the maximum (ingest.max_waiting_samples); retry later"));
  }
  if (waiting_windows >= options.max_waiting_windows) {
    TAUT_PROBE("samples are refused: the store accepts no windows");
    return absl::UnavailableError("the store accepts no windows at present; retry later");
  }
  if (clock.by_samples() && clock.last_watermark().us != INT64_MIN) {
    const int64_t ahead_s = (clock.newest_sample().us - clock.last_watermark().us) / kMicrosPerSecond;
    if (ahead_s > options.max_open_windows * kWindowSeconds) {
      TAUT_PROBE("samples are refused: they are too far ahead of the open windows");
      return absl::UnavailableError("samples are too far ahead of the open windows; retry later");
    }
  }
  return absl::OkStatus();
}

void IngestState::Say(const SaidTime& request, bool kept) {
  const Timestamp time = request.newest;
  if (time.us == INT64_MIN) return;
  if (!clock.by_samples()) {
    if (said.size() < kMostSaid) said.push_back(request);
    return;
  }
  const std::optional<Timestamp> back = clock.Offer(time, kept, first_not_closed);
  if (back.has_value()) ingest->GoBack(*back, first_not_closed);
}

void IngestState::LogWrite(std::string_view body, Timestamp now, uint64_t kept_before) {
  if (samples == nullptr || in_doubt) return;
  if (ingest->counts().kept() == kept_before) return;  // no window needs a sample of this body
  samples->Append({now, std::max(clock.newest_sample(), ingest->windows().newest_sample()), body});
}

void IngestState::EndGap(Timestamp now) {
  const std::optional<CellClock::Span> gap = clock.EndGap(now, samples != nullptr);
  if (gap.has_value()) ingest->windows().NotHeard(gap->begin, gap->end);
}

void IngestState::NoteNewest() {
  const LiveWindows& windows = ingest->windows();
  clock.Note(windows.newest_sample(), windows.newest_of_series());
  if (const Timestamp newest = windows.newest_sample(); !first_heard.has_value() && newest.us != INT64_MIN)
    first_heard = newest;
}

}  // namespace taut::server
