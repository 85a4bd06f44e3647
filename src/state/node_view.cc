#include "base/check.h"
#include "state/cluster_state.h"

namespace weft {

namespace {

int32_t sevenths_to_milli(unsigned free_slices, unsigned all_slices) {
  return all_slices == 0 ? 0 : static_cast<int32_t>(free_slices * 1000 / all_slices);
}

}  // namespace

int32_t ClusterState::device_free_milli(size_t node, unsigned device) const {
  const DeviceMask bit = uint64_t{1} << device;
  if ((usable(make_id<NodeId>(node)) & bit) == 0) return 0;
  if ((nodes_.free[node] & bit) != 0) return 1000;
  const size_t row = nodes_.first_device[node] + device;
  if ((nodes_.shared[node] & bit) != 0) return devices_.free_milli[row];
  if ((nodes_.mig[node] & bit) == 0) return 0;  // a task owns it
  const DeviceModel& model = names_.devices.model(devices_.model[row]);
  if (devices_.mig_cut[row] == MigCut::kByScheduler) {
    return sevenths_to_milli(model.mig_compute_slices - unsigned{devices_.mig_compute_used[row]},
                             model.mig_compute_slices);
  }
  unsigned free_slices = 0;
  const std::vector<FixedInstance>& instances = devices_.mig_fixed[row];
  for (size_t i = 0; i < instances.size(); ++i) {
    if (((devices_.mig_fixed_busy[row] >> i) & 1U) == 0)
      free_slices += model.mig_profiles[instances[i].profile].compute_slices;
  }
  return sevenths_to_milli(free_slices, model.mig_compute_slices);
}

NodeView ClusterState::view_node(NodeId node) const {
  WEFT_CHECK(index(node) < nodes_.size(), "the node exists");
  const size_t n = index(node);
  NodeView view;
  view.id = node;
  view.name = names_.nodes.text(node);
  view.is_up = nodes_.is_up[n] != 0;
  view.is_cordoned = nodes_.is_cordoned[n] != 0;
  view.device_count = nodes_.device_count[n];
  if (view.device_count > 0) view.device_model = names_.devices.model(devices_.model[nodes_.first_device[n]]).name;
  view.free_devices = available(node);
  view.healthy_devices = nodes_.healthy[n];
  for (unsigned d = 0; d < nodes_.device_count[n]; ++d) view.device_free_milli.push_back(device_free_milli(n, d));
  view.cpu_milli = nodes_.total_cpu_milli[n];
  view.free_cpu_milli = nodes_.free_cpu_milli[n];
  view.memory_bytes = nodes_.total_memory_bytes[n];
  view.free_memory_bytes = nodes_.free_memory_bytes[n];
  for (const DomainId domain : nodes_.domains[n]) {
    view.domains.push_back(is_set(domain) ? names_.domains[index(domain)] : std::string());
  }
  return view;
}

}  // namespace weft
