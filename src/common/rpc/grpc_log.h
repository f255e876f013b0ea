// What gRPC and protobuf would write to standard error by themselves.
#pragma once

namespace taut {

// gRPC logs each connection that fails; what of it matters is in a status anyway. Keeps it silent unless the
// environment asks for it (GRPC_VERBOSITY, GRPC_TRACE). Once is enough; any thread.
void KeepGrpcSilent();

}  // namespace taut
