// A simulated cgroup tree of plain files in a temporary folder, removed with the object: for tests of
// behaviour that the kernel does not show on demand.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "common/testing/temp_dir.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

class MadeUpTree {
 public:
  // Returns mounts with v2 alone. The path "" is the root itself.
  CgroupMounts V2() const {
    CgroupMounts out;
    out.unified = root_;
    return out;
  }
  // Returns mounts with all four hierarchies: memory, cpu, cpuacct and v2.
  CgroupMounts V1() const {
    CgroupMounts out;
    out.memory = root_ + "/memory";
    out.cpu = root_ + "/cpu";
    out.cpuacct = root_ + "/cpuacct";
    out.unified = root_ + "/unified";
    return out;
  }
  void MakeGroup(const std::string& path) const { Write(path + "/cgroup.procs", ""); }
  // Writes a file and creates its directories.
  void Write(const std::string& file, std::string_view text) const {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string Read(const std::string& file) const {
    std::ifstream in(root_ + "/" + file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Remove(const std::string& path) const { std::filesystem::remove_all(root_ + "/" + path); }

 private:
  TempDir dir_;
  const std::string root_ = dir_.path();
};

}  // namespace taut::node
