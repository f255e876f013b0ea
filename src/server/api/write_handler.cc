// POST /api/v1/write: receives samples by Prometheus' remote write.
#include <functional>
#include <string>

#include "common/base/strings.h"
#include "common/net/server_options.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

// Returns true if a Content-Type names the protobuf message of remote write 1.0, or no message.
bool IsRemoteWrite1(std::string_view type) {
  constexpr std::string_view kMessage = "proto=";
  const size_t at = type.find(kMessage);
  if (at == std::string_view::npos) return true;
  std::string_view message = type.substr(at + kMessage.size());
  message = StripSpace(message.substr(0, message.find(';')));
  return message == "prometheus.WriteRequest" || message == "\"prometheus.WriteRequest\"";
}

// Returns an ID for the sender's clock; 0 for a sender on this machine, which has the daemon's clock.
uint64_t SenderOf(const std::string& peer) {
  std::string_view address = std::string_view(peer).substr(0, peer.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  if (address.empty() || IsLoopback(address)) return 0;
  return std::hash<std::string_view>()(address) | 1;
}

HttpResponse PostWrite(const ApiCall& call, const FleetAccess& access) {
  const std::string* encoding = call.request.header("Content-Encoding");
  if (encoding == nullptr || !EqualsIgnoreCase(*encoding, "snappy")) {
    return ErrorResponse(400,
                         "remote write must be snappy-compressed protobuf: set Content-Encoding: snappy");
  }
  if (const std::string* type = call.request.header("Content-Type");
      type != nullptr && !IsRemoteWrite1(*type)) {
    return ErrorResponse(415, StrCat("unsupported Content-Type ", *type,
                                     ": expected application/x-protobuf;proto=prometheus.WriteRequest "
                                     "(remote write 1.0)"));
  }
  const absl::StatusOr<WriteResult> result =
      access.control().ingest().samples.Write(call.request.body, access.Now(), SenderOf(call.request.peer));
  if (!result.ok()) return ErrorResponse(result.status());
  HttpResponse taken;
  taken.status = 204;
  return taken;
}

}  // namespace

void AddWriteRoutes(const FleetAccess& access, RouteTable& routes) {
  routes.Add("POST", "/api/v1/write", Act::kWriteSamples,
             [&access](const ApiCall& call) { return PostWrite(call, access); });
}

}  // namespace taut::server
