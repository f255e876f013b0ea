// Silences the messages that gRPC and protobuf log to standard error on their own.
#pragma once

namespace taut {

// Disables the logs of gRPC and protobuf. gRPC logs each failed connection, although the call's status contains
// the error. GRPC_VERBOSITY or GRPC_TRACE in the environment keeps gRPC's log enabled. Idempotent, thread-safe.
void KeepGrpcSilent();

}  // namespace taut
