// A real line of instance_usage for tests and benchmarks.
#pragma once

#include <string_view>

namespace taut::tools {

// Source: instance_usage-000000000000.json of cell a (Google cluster-usage traces v3, CC-BY 4.0).
inline constexpr std::string_view kRealRow =
    R"({"start_time":"1838400000000","end_time":"1838700000000","collection_id":"330587238433","instance_index":"111",)"
    R"("machine_id":"23624491139","alloc_collection_id":"330587160469","alloc_instance_index":"111",)"
    R"("collection_type":"0","average_usage":{"cpus":0.008392333984375,"memory":0.0094757080078125},)"
    R"("maximum_usage":{"cpus":0.04791259765625,"memory":0.019378662109375},)"
    R"("random_sample_usage":{"cpus":0.016632080078125},"assigned_memory":0,"page_cache_memory":0.0032196044921875,)"
    R"("cycles_per_instruction":0.89924430847167969,"memory_accesses_per_instruction":0.00151212012860924,)"
    R"("sample_rate":0.996666669845581,"cpu_usage_distribution":[0.0004711151123046875,0.0006809234619140625,)"
    R"(0.00075817108154296875,0.00083160400390625,0.00096225738525390625,0.0084381103515625,0.008880615234375,)"
    R"(0.0133056640625,0.016448974609375,0.021942138671875,0.04779052734375],"tail_cpu_usage_distribution":)"
    R"([0.022308349609375,0.023681640625,0.024200439453125,0.025360107421875,0.02606201171875,0.02685546875,)"
    R"(0.028411865234375,0.030853271484375,0.0369873046875]})";

}  // namespace taut::tools
