#include "server/kubernetes/client/lease.h"

#include <algorithm>
#include <cmath>

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "common/net/http.h"

namespace taut::server {
namespace {

std::string Collection(const std::string& name_space) {
  return StrCat("/apis/coordination.k8s.io/v1/namespaces/", PercentEncode(name_space), "/leases");
}

std::string Managed(std::string path) { return StrCat(path, "?fieldManager=", kFieldManager); }

void PutSpec(JsonWriter& out, const LeaseRecord& record, const std::string& time, bool is_taken) {
  out.Key("spec");
  out.BeginObject();
  out.Field("holderIdentity", record.holder);
  out.Field("leaseDurationSeconds", std::max<int64_t>(1, std::llround(record.duration_s)));
  out.Field("leaseTransitions", record.transitions);
  out.Field("renewTime", time);
  if (is_taken) out.Field("acquireTime", time);
  out.EndObject();
}

}  // namespace

absl::StatusOr<LeaseRecord> ParseLease(std::string_view json) {
  JsonTree tree;
  if (!tree.Parse(json).ok() || !tree.root().is_object())
    return absl::DataLossError("the Lease is not a JSON object");
  const JsonNode spec = tree.root()["spec"];
  LeaseRecord out;
  out.version = tree.root()["metadata"].Text("resourceVersion");
  if (out.version.empty()) return absl::DataLossError("the Lease has no metadata.resourceVersion");
  out.holder = spec.Text("holderIdentity");
  out.renewed = spec.Text("renewTime");
  out.duration_s = static_cast<double>(std::max<int64_t>(0, spec.Whole("leaseDurationSeconds")));
  out.transitions = spec.Whole("leaseTransitions");
  return out;
}

absl::StatusOr<LeaseRecord> ApiLeaseStore::Read() {
  const absl::StatusOr<std::string> body =
      client_->Get(StrCat(Collection(namespace_), "/", PercentEncode(name_)));
  if (!body.ok()) return body.status();
  return ParseLease(*body);
}

absl::Status ApiLeaseStore::Create(const LeaseRecord& record, const std::string& time) {
  JsonWriter out;
  out.BeginObject();
  out.Field("apiVersion", "coordination.k8s.io/v1");
  out.Field("kind", "Lease");
  out.Key("metadata");
  out.BeginObject();
  out.Field("name", name_);
  out.EndObject();
  PutSpec(out, record, time, true);
  out.EndObject();
  return client_->Create(Managed(Collection(namespace_)), out.Take()).status();
}

absl::Status ApiLeaseStore::Write(const LeaseRecord& record, const std::string& time, bool is_taken) {
  JsonWriter out;
  out.BeginObject();
  out.Key("metadata");
  out.BeginObject();
  out.Field("resourceVersion", record.version);
  out.EndObject();
  PutSpec(out, record, time, is_taken);
  out.EndObject();
  const std::string path = Managed(StrCat(Collection(namespace_), "/", PercentEncode(name_)));
  return client_->Patch(path, out.Take(), kMergePatch).status();
}

absl::Status LeaseKeeper::Step() {
  // Read the clock before the request: for another tautd, the Lease's duration may start this early.
  const double begin_s = options_.steady_s();
  absl::StatusOr<LeaseRecord> record = store_->Read();
  if (absl::IsNotFound(record.status())) {
    LeaseRecord first;
    first.holder = options_.identity;
    first.duration_s = options_.duration_s;
    if (absl::Status s = store_->Create(first, options_.time()); !s.ok()) return s;
    NoteHolder(options_.identity);
    held_until_s_ = begin_s + options_.renew_deadline_s;
    return absl::OkStatus();
  }
  if (!record.ok()) return record.status();
  NoteHolder(record->holder);
  if (record->holder == options_.identity || record->holder.empty()) {
    return Take(*std::move(record), begin_s);
  }
  // Another tautd holds the Lease, so stop at once, even if the Lease has expired.
  held_until_s_ = -1;
  if (record->holder != seen_.holder || record->renewed != seen_.renewed ||
      record->transitions != seen_.transitions) {
    seen_ = *std::move(record);
    seen_at_s_ = options_.steady_s();
    return absl::OkStatus();
  }
  // The Lease has not changed for its duration by this machine's clock, so its holder stopped renewing it.
  if (options_.steady_s() - seen_at_s_ < record->duration_s) return absl::OkStatus();
  return Take(*std::move(record), begin_s);
}

absl::Status LeaseKeeper::Take(LeaseRecord record, double begin_s) {
  const bool is_taken = record.holder != options_.identity;
  record.holder = options_.identity;
  record.duration_s = options_.duration_s;
  if (is_taken) ++record.transitions;
  const absl::Status s = store_->Write(record, options_.time(), is_taken);
  // another tautd was faster; the next Step() reads its Lease
  if (absl::IsAborted(s)) return absl::OkStatus();
  if (!s.ok()) return s;
  NoteHolder(options_.identity);
  held_until_s_ = begin_s + options_.renew_deadline_s;
  return absl::OkStatus();
}

void LeaseKeeper::Release() {
  const bool was_held = held();
  // Stop before the write. From here on, this tautd changes nothing in the cluster.
  held_until_s_ = -1;
  if (!was_held) return;
  absl::StatusOr<LeaseRecord> record = store_->Read();
  if (!record.ok() || record->holder != options_.identity) return;
  record->holder.clear();
  record->duration_s = 1;
  (void)store_->Write(*record, options_.time(), false);  // after a failed write, the Lease expires
}

void LeaseKeeper::NoteHolder(const std::string& holder) {
  const std::lock_guard lock(mutex_);
  holder_ = holder;
}

std::string LeaseKeeper::holder() const {
  const std::lock_guard lock(mutex_);
  return holder_;
}

}  // namespace taut::server
