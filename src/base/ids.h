#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft {

// Dense ids: the value is an index into a table. Tables belong to ClusterState; everybody else holds ids.
enum class NodeId : uint32_t {};
enum class JobId : uint32_t {};
enum class QueueId : uint32_t {};
enum class UserId : uint32_t {};
enum class ShapeId : uint32_t {};
enum class DomainId : uint32_t {};
enum class LevelId : uint32_t {};        ///< 0 is the narrowest level above the node
enum class DeviceModelId : uint32_t {};  ///< index into the DeviceCatalogue
enum class PoolId : uint32_t {};         ///< nodes that carry the same device model
enum class LabelId : uint32_t {};        ///< an interned "key=value"
enum class TaskId : uint32_t {};         ///< row of the task table; a job's tasks are one contiguous range

template <typename Id>
concept IsId = std::is_enum_v<Id> && std::is_same_v<std::underlying_type_t<Id>, uint32_t>;

template <IsId Id>
inline constexpr Id kNone = static_cast<Id>(std::numeric_limits<uint32_t>::max());

template <IsId Id>
constexpr size_t index(Id id) {
  return static_cast<size_t>(id);
}

template <IsId Id>
constexpr Id make_id(size_t value) {
  return static_cast<Id>(static_cast<uint32_t>(value));
}

template <IsId Id>
constexpr bool is_set(Id id) {
  return id != kNone<Id>;
}

}  // namespace weft
