// Fuzzes the parsers of the log of quota requests, of lists of ResourceQuotas and of requested amounts with
// arbitrary text. The text is rejected or parsed. A parsed request is unchanged after it is written and parsed
// again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "brain/economy/quota_requests.h"
#include "server/kubernetes/act/quota_writer.h"
#include "server/pool/request_text.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void ReadRequest(std::string_view text) {
  absl::StatusOr<brain::QuotaRequest> request = server::DecodeRequest(text);
  if (!request.ok()) return;
  const std::string written = server::EncodeRequest(*request);
  const absl::StatusOr<brain::QuotaRequest> again = server::DecodeRequest(written);
  Require(again.ok() && server::EncodeRequest(*again) == written);
  brain::QuotaRequests requests = *brain::QuotaRequests::Make({{{"a", "", {{"batch", "cpu", 1000}}}}}, {});
  requests.Apply(*std::move(request));
  const brain::JobUse use{"shop/web", "a", "batch", 10, 0};
  requests.SetUse({&use, 1}, Timestamp::FromSeconds(300));
  for (brain::QuotaRequest& due : requests.Due(Timestamp::FromSeconds(300))) requests.Apply(std::move(due));
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  taut::ReadRequest(text);
  (void)taut::server::QuotaWriter::NamespacesOf(text);
  for (const std::string_view resource :
       {taut::brain::kQuotaCpu, taut::brain::kQuotaMemory, std::string_view("gpu")})
    (void)taut::brain::ParseQuotaAmount(resource, std::string(text));
  return 0;
}
