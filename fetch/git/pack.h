// Objects of git as they come from a server, all in one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "fetch/git/objects.h"

namespace capi::fetch {

// A value.
struct PackLimits {
  size_t objects = 100'000;
  size_t unpacked = 256u << 20;  // of all that is unpacked on the way, what is unpacked again too
  size_t object = 8u << 20;      // that is kept for others, or asked for
  size_t kept = 16u << 20;       // of them at a time
  int depth = 4'095;             // of differences; git makes no more
};

// A value. Each object has the id that its bytes have: nobody's word is taken for it.
class Pack {
 public:
  // Nothing in it, where there is nothing to unpack.
  Pack() = default;
  // kInvalidArgument for what is no pack, isn't whole, or is beyond the limits; that of `ctx` where it ends first.
  // `beyond`: whether the limits are why.
  static Result<Pack> Read(const Context& ctx, std::string bytes, const PackLimits& limits = {},
                           bool* beyond = nullptr);

  bool Has(const ObjectId& id) const { return by_id_.contains(id); }
  // kNotFound, and kInvalidArgument for one of another type, or too large.
  Result<std::string> Get(const ObjectId& id, ObjectType type) const;
  // kNotFound.
  Result<ObjectType> TypeOf(const ObjectId& id) const;
  size_t size() const { return entries_.size(); }
  std::vector<ObjectId> Ids() const;  // of all, in their order

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Entry {
    std::uint32_t begins = 0;    // in the pack; how differences name it
    std::uint32_t at = 0;        // of what is packed
    std::uint32_t size = 0;      // of what it unpacks to
    std::uint32_t base = kNone;  // another entry, to which this is a difference
    ObjectType type{};           // of a difference: known once its base is
    bool is_difference = false;
  };
  struct Frame;
  class Resolver;

  Result<std::string> Unpack(const Entry& entry) const;
  // What comes of its chain of bases.
  Result<std::string> Whole(std::uint32_t index) const;

  std::string bytes_;
  PackLimits limits_;
  std::vector<Entry> entries_;
  std::map<ObjectId, std::uint32_t> by_id_;
};

}  // namespace capi::fetch
