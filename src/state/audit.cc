#include "state/audit.h"

#include <algorithm>

namespace weft {

std::vector<std::string> ClusterState::audit(std::span<const TakenPlace> beside) const {
  Auditor auditor(*this);
  auditor.check_indices();
  auditor.check_tasks(beside);
  return std::move(auditor).findings();
}

std::vector<std::string> ClusterState::audit_indices() const {
  Auditor auditor(*this);
  auditor.check_indices();
  return std::move(auditor).findings();
}

void Auditor::check_indices() {
  masks();
  devices();
  domains();
  capacity();
  timeline();
  shapes();
}

void Auditor::check_tasks(std::span<const TakenPlace> beside) {
  owners();
  holdings(beside);
  usage(beside);
}

void Auditor::masks() {
  const NodeTable& nodes = state_.nodes_;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const DeviceMask all = low_bits(nodes.device_count[n]);
    const DeviceMask any = nodes.free[n] | nodes.shared[n] | nodes.mig[n] | nodes.healthy[n] | nodes.cordoned[n];
    expect((any & ~all) == 0, "node {}: a mask names a device that does not exist", n);
    expect((nodes.free[n] & nodes.shared[n]) == 0, "node {}: devices both free and shared", n);
    expect((nodes.mig[n] & (nodes.free[n] | nodes.shared[n])) == 0, "node {}: devices in MIG mode are free or shared",
           n);
    const bool is_schedulable = nodes.is_up[n] == 1 && nodes.is_cordoned[n] == 0;
    DeviceMask available = 0;
    for (unsigned d = 0; d < nodes.device_count[n]; ++d) {
      const auto has = [&](DeviceMask mask) { return ((mask >> d) & 1U) != 0; };
      if (is_schedulable && has(nodes.free[n]) && has(nodes.healthy[n]) && !has(nodes.cordoned[n]))
        available |= uint64_t{1} << d;
    }
    expect(state_.available(make_id<NodeId>(n)) == available, "node {}: available() is not free & healthy & ~cordoned",
           n);
    expect(in_range(nodes.free_cpu_milli[n], nodes.total_cpu_milli[n]), "node {}: free CPUs out of range", n);
    expect(in_range(nodes.free_memory_bytes[n], nodes.total_memory_bytes[n]), "node {}: free memory out of range", n);
    expect(in_range(nodes.free_disk_bytes[n], nodes.total_disk_bytes[n]), "node {}: free disk out of range", n);
    for (size_t z = 0; z < nodes.zone_count[n]; ++z) {
      const size_t row = nodes.first_zone[n] + z;
      expect(in_range(state_.zones_.free_cpu_milli[row], state_.zones_.total_cpu_milli[row]),
             "node {}: zone {}: free CPUs out of range", n, z);
    }
  }
}

void Auditor::devices() {
  const NodeTable& nodes = state_.nodes_;
  const DeviceTable& table = state_.devices_;
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (unsigned d = 0; d < nodes.device_count[n]; ++d) {
      const size_t row = nodes.first_device[n] + d;
      const bool is_shared = ((nodes.shared[n] >> d) & 1U) != 0;
      const bool is_mig = ((nodes.mig[n] >> d) & 1U) != 0;
      expect(is_shared == (table.share_count[row] > 0), "node {}: device {}: shared, but {} fractions", n, d,
             table.share_count[row]);
      expect(table.free_milli[row] >= 0 && table.free_milli[row] <= 1000, "node {}: device {}: free milli out of range",
             n, d);
      expect(in_range(table.free_memory_bytes[row], table.memory_bytes[row]),
             "node {}: device {}: free memory out of range", n, d);
      if (!is_shared) {
        expect(table.free_milli[row] == 1000 && table.free_memory_bytes[row] == table.memory_bytes[row],
               "node {}: device {}: not shared, but a part is taken", n, d);
      }
      if (!is_mig) {
        expect(table.mig_occupied[row] == 0 && table.mig_compute_used[row] == 0 && table.mig_fixed_busy[row] == 0,
               "node {}: device {}: instances in use outside of MIG mode", n, d);
      }
    }
  }
}

void Auditor::shapes() {
  std::vector<std::pair<uint64_t, size_t>> by_key;
  for (size_t i = 0; i < state_.shapes_.size(); ++i)
    by_key.emplace_back(shape_key(state_.shapes_[make_id<ShapeId>(i)]), i);
  std::ranges::sort(by_key);
  for (size_t a = 0; a < by_key.size(); ++a) {
    for (size_t b = a + 1; b < by_key.size() && by_key[b].first == by_key[a].first; ++b) {
      const Shape& one = state_.shapes_[make_id<ShapeId>(by_key[a].second)];
      const Shape& other = state_.shapes_[make_id<ShapeId>(by_key[b].second)];
      expect(one != other, "shapes {} and {} are equal", by_key[a].second, by_key[b].second);
    }
  }
}

void Auditor::timeline() {
  const JobTable& jobs = state_.jobs_;
  const Timeline& timeline = state_.timeline_;
  std::vector<std::pair<Instant, size_t>> expected;
  for (size_t job = 0; job < jobs.size(); ++job) {
    if (jobs.expected_end[job] != kNever) expected.emplace_back(jobs.expected_end[job], job);
  }
  std::ranges::sort(expected);
  expect(timeline.size() == expected.size(), "the timeline holds {} jobs, not {}", timeline.size(), expected.size());
  JobId at = timeline.first();
  for (const auto& [end, job] : expected) {
    if (!is_set(at) || index(at) != job || timeline.end_of(at) != end) {
      expect(false, "the timeline has another job where job {} ends", job);
      return;
    }
    at = timeline.next(at);
  }
  expect(!is_set(at), "the timeline goes on after its last job");
}

}  // namespace weft
