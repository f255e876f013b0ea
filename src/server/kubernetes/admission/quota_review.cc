#include "server/kubernetes/admission/quota_review.h"

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "server/kubernetes/admission/admission.h"

namespace taut::server {
namespace {

constexpr size_t kMaxWarning = 256, kMaxWarnings = 4096;

}  // namespace

std::string QuotaAnswer(std::string_view uid, bool allowed, std::span<const std::string> sentences) {
  std::string more;
  if (!allowed) {
    std::string message = "quota:";
    for (const std::string& sentence : sentences) StrAppend(&message, " ", sentence);
    StrAppend(&more, R"(,"status":{"code":403,"reason":"Forbidden","message":)", JsonString(message), "}");
  } else if (!sentences.empty()) {
    size_t left = kMaxWarnings;
    std::string warnings;
    for (const std::string& sentence : sentences) {
      const std::string whole = StrCat("quota: ", sentence);
      const std::string_view text = CutUtf8(whole, kMaxWarning);
      if (text.size() > left) break;
      left -= text.size();
      StrAppend(&warnings, warnings.empty() ? "" : ",", JsonString(text));
    }
    StrAppend(&more, R"(,"warnings":[)", warnings, "]");
  }
  return ReviewAnswer(uid, allowed, more);
}

}  // namespace taut::server
