#pragma once

#include "base/result.h"
#include "sim/simulation/speed.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace weft::sim {

/// Speeds from a file: the product of what each of its tables says.
///
///     models: {V100: 1, T4: 0.4}                       # on devices of a model
///     networks: {resnet50: {T4: 0.5}}                  # of a network there, in place of the above
///     nodes: {2: 0.95, 4: 0.85}                        # spread over so many nodes or more
///     sharing: {2: 0.6, 3: 0.4}                        # so many jobs or more on one device
///
/// What no table names is at full speed. Names are compared as they stand.
class SpeedTable final : public SpeedModel {
 public:
  int64_t speed_ppm(const JobPlace& place) const override;
  bool reads_sharers() const override { return !sharing_.empty(); }

 private:
  friend class SpeedTableReader;
  using ByName = std::map<std::string, int64_t, std::less<>>;
  using ByCount = std::map<int64_t, int64_t>;

  static int64_t of_count(const ByCount& table, int32_t count);

  ByName models_;
  std::map<std::string, ByName, std::less<>> networks_;
  ByCount nodes_;
  ByCount sharing_;
};

/// Error: the first thing that is wrong, "file:line:column: …".
Result<std::shared_ptr<const SpeedModel>> read_speeds(const std::string& path);
Result<std::shared_ptr<const SpeedModel>> parse_speeds(std::string_view text, const std::string& name);

}  // namespace weft::sim
