#include "common/rpc/grpc_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <cstdlib>

namespace taut {

void KeepGrpcSilent() {
  [[maybe_unused]] static const bool done = [] {
    google::protobuf::SetLogHandler(nullptr);
    if (std::getenv("GRPC_VERBOSITY") != nullptr || std::getenv("GRPC_TRACE") != nullptr) return false;
    gpr_set_log_function([](gpr_log_func_args*) {});
    return true;
  }();
}

}  // namespace taut
