#include "common/model/counted.h"

#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut {

std::string Counted(uint64_t n, std::string_view one) {
  return StrCat(FormatCount(n), " ", one, n == 1 ? "" : "s");
}

}  // namespace taut
