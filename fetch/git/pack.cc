#include "fetch/git/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/streams/inflate.h"
#include "fetch/git/delta.h"

namespace capi::fetch {
namespace {

constexpr size_t kHead = 12;  // "PACK", version, how many
constexpr unsigned kByOffset = 6, kById = 7;

Error Bad(std::string_view why) {
  return Error{Code::kInvalidArgument, fmt::format("what the server packed can't be used: {}", why), {}};
}

std::uint32_t NumberAt(std::string_view bytes, size_t at) {
  std::uint32_t out = 0;
  for (size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// The kind of an object, and how large it is. A value.
struct Head {
  unsigned kind = 0;
  std::uint64_t size = 0;
};

std::optional<Head> TakeHead(std::string_view bytes, size_t& at) {
  if (at >= bytes.size()) return std::nullopt;
  auto byte = static_cast<unsigned char>(bytes[at++]);
  Head head{byte >> 4 & 7u, byte & 15u};
  for (unsigned shift = 4; byte >= 0x80; shift += 7) {
    if (at >= bytes.size() || shift > 32) return std::nullopt;
    byte = static_cast<unsigned char>(bytes[at++]);
    head.size |= std::uint64_t{byte & 0x7fu} << shift;
  }
  return head;
}

// How far before it the base of a difference begins.
std::optional<std::uint64_t> TakeDistance(std::string_view bytes, size_t& at) {
  std::uint64_t distance = 0;
  for (int i = 0; i < 5 && at < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    distance = distance << 7 | (byte & 0x7fu);
    if (byte < 0x80) return distance;
    ++distance;
  }
  return std::nullopt;
}

}  // namespace

// An object whose text is kept while differences to it are worked out.
struct Pack::Frame {
  std::uint32_t index = 0;
  int depth = 0;
  std::string text;
  std::vector<std::uint32_t> left;  // differences to it
};

// Reads all objects of a pack, and finds out what they are called.
class Pack::Resolver {
 public:
  Resolver(const Context& ctx, Pack& pack) : ctx_(ctx), pack_(pack) {}

  bool beyond() const { return beyond_; }  // the limits are why it can't be read

  Status Run() {
    const size_t count = TRY(CheckHead());
    size_t at = kHead;
    for (size_t i = 0; i < count; ++i) TRY(ReadObject(at));
    if (at != end_) return Bad("something stands behind its last object");
    std::sort(by_offset_.begin(), by_offset_.end());
    std::sort(by_id_.begin(), by_id_.end());
    for (std::uint32_t i = 0; i < pack_.entries_.size(); ++i) {
      if (!pack_.entries_[i].is_difference) TRY(ResolveFrom(i, ids_[i]));
    }
    if (resolved_ != by_offset_.size() + by_id_.size()) return Bad("a difference is to something that isn't there");
    return Ok();
  }

 private:
  // How many objects there are.
  Result<size_t> CheckHead() {
    const std::string_view bytes = pack_.bytes_;
    constexpr size_t kSum = sizeof(ObjectId);
    if (bytes.size() < kHead + kSum || !bytes.starts_with("PACK")) return Bad("it is none, or is cut off");
    if (const auto version = NumberAt(bytes, 4); version != 2 && version != 3) return Bad("it is of another version");
    end_ = bytes.size() - kSum;
    Sha1 sum;
    sum.Add(bytes.substr(0, end_));
    if (const ObjectId is = sum.Finish(); std::string_view(is.data(), is.size()) != bytes.substr(end_))
      return Bad("it was changed or cut off on its way");
    const size_t count = NumberAt(bytes, 8);
    if (count > pack_.limits_.objects) {
      return Beyond(fmt::format("it has {} objects, and {} at most are read", count, pack_.limits_.objects));
    }
    return count;
  }

  Error Beyond(std::string_view why) {
    beyond_ = true;
    return Bad(why);
  }

  // Of one that is kept.
  Status CheckSize(size_t size) {
    if (size <= pack_.limits_.object) return Ok();
    return Beyond(fmt::format("an object has {} bytes, and {} at most are read", size, pack_.limits_.object));
  }

  Result<std::string> Unpack(const Entry& entry) {
    TRY(CheckSize(entry.size));
    return pack_.Unpack(entry);
  }

  Status Count(std::uint64_t bytes) {
    unpacked_ += bytes;
    if (unpacked_ <= pack_.limits_.unpacked) return Ok();
    return Beyond(fmt::format("it unpacks to more than {} bytes", pack_.limits_.unpacked));
  }

  Status ReadObject(size_t& at) {
    TRY(ctx_.Check());
    const std::string_view bytes = std::string_view(pack_.bytes_).substr(0, end_);
    Entry entry;
    entry.begins = static_cast<std::uint32_t>(at);
    const auto head = TakeHead(bytes, at);
    if (!head || head->size > UINT32_MAX) return Bad("an object has no size");
    TRY(Count(head->size));
    const auto index = static_cast<std::uint32_t>(pack_.entries_.size());
    TRY(ReadBase(head->kind, index, at, entry));
    entry.at = static_cast<std::uint32_t>(at);
    entry.size = static_cast<std::uint32_t>(head->size);
    ids_.emplace_back();
    if (entry.is_difference) {
      auto used = Inflate(bytes.substr(at), entry.size, [](std::string_view) {});
      if (!used.ok()) return Bad(used.error().message);
      at += *used;
    } else {
      at += TRY(ReadWhole(bytes.substr(at), entry, ids_.back()));
    }
    pack_.entries_.push_back(entry);
    return Ok();
  }

  // What stands between the head of a difference and its bytes.
  Status ReadBase(unsigned kind, std::uint32_t index, size_t& at, Entry& entry) {
    const std::string_view bytes = std::string_view(pack_.bytes_).substr(0, end_);
    entry.is_difference = kind == kByOffset || kind == kById;
    if (kind == kByOffset) {
      const auto distance = TakeDistance(bytes, at);
      if (!distance || *distance == 0 || *distance > entry.begins) return Bad("a difference has no base");
      by_offset_.emplace_back(static_cast<std::uint32_t>(entry.begins - *distance), index);
    } else if (kind == kById) {
      ObjectId id{};
      if (bytes.size() - at < id.size()) return Bad("it is cut off");
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), id.size(), id.begin());
      at += id.size();
      by_id_.emplace_back(id, index);
    } else if (kind < 1 || kind > 4) {
      return Bad("it has an object of a kind that isn't known");
    } else {
      entry.type = static_cast<ObjectType>(kind);
    }
    return Ok();
  }

  static Result<size_t> ReadWhole(std::string_view bytes, const Entry& entry, ObjectId& id) {
    Sha1 sum;
    sum.Add(fmt::format("{} {}", ToString(entry.type), entry.size));
    sum.Add(std::string_view("\0", 1));
    auto used = Inflate(bytes, entry.size, [&](std::string_view piece) { sum.Add(piece); });
    if (!used.ok()) return Bad(used.error().message);
    id = sum.Finish();
    return *used;
  }

  // Each difference is given once, however often the object is there that it is to: what it comes to may be that object
  // again.
  std::vector<std::uint32_t> TakeDifferencesTo(std::uint32_t index, const ObjectId& id) {
    std::vector<std::uint32_t> out;
    const std::uint32_t begins = pack_.entries_[index].begins;
    auto one = std::lower_bound(by_offset_.begin(), by_offset_.end(), std::pair{begins, std::uint32_t{0}});
    for (; one != by_offset_.end() && one->first == begins; ++one) out.push_back(one->second);
    const auto first = std::lower_bound(by_id_.begin(), by_id_.end(), std::pair{id, std::uint32_t{0}});
    if (first == by_id_.end() || first->first != id || first->second == kNone) return out;
    for (auto other = first; other != by_id_.end() && other->first == id; ++other) out.push_back(other->second);
    first->second = kNone;  // they are taken
    return out;
  }

  Status ResolveFrom(std::uint32_t root, const ObjectId& id) {
    pack_.by_id_.emplace(id, root);
    std::vector<Frame> frames;
    Frame first{root, 0, {}, TakeDifferencesTo(root, id)};
    if (first.left.empty()) return Ok();
    const Entry& entry = pack_.entries_[root];
    TRY(Count(entry.size));
    first.text = TRY(Unpack(entry));
    TRY(Keep(first.text.size()));
    frames.push_back(std::move(first));
    while (!frames.empty()) TRY(Step(frames));
    return Ok();
  }

  // The next difference to the last of `frames`, or its end.
  Status Step(std::vector<Frame>& frames) {
    Frame& base = frames.back();
    if (base.left.empty()) {
      kept_ -= base.text.size();
      frames.pop_back();
      return Ok();
    }
    TRY(ctx_.Check());
    const std::uint32_t index = base.left.back();
    base.left.pop_back();
    Entry& entry = pack_.entries_[index];
    entry.base = base.index;
    entry.type = pack_.entries_[base.index].type;
    if (base.depth >= pack_.limits_.depth) return Beyond("its differences go too deep");
    TRY(Count(entry.size));
    const std::string delta = TRY(Unpack(entry));
    const size_t size = TRY(SizeOfDelta(base.text.size(), delta));
    TRY(Count(size));
    TRY(CheckSize(size));
    std::string text = TRY(ApplyDelta(base.text, delta, pack_.limits_.object));
    if (base.left.empty()) kept_ -= std::exchange(base.text, {}).size();  // nobody needs it any more
    Frame frame{index, base.depth + 1, std::move(text), {}};
    const ObjectId id = IdOf(entry.type, frame.text);
    ++resolved_;
    pack_.by_id_.emplace(id, index);
    frame.left = TakeDifferencesTo(index, id);
    if (frame.left.empty()) return Ok();
    TRY(Keep(frame.text.size()));
    frames.push_back(std::move(frame));
    return Ok();
  }

  Status Keep(size_t bytes) {
    kept_ += bytes;
    if (kept_ <= pack_.limits_.kept) return Ok();
    return Beyond("its differences need too much memory");
  }

  const Context& ctx_;
  Pack& pack_;
  size_t end_ = 0;
  std::vector<ObjectId> ids_;                                       // of the entries; of differences none
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_offset_;  // where a base begins, and a difference to it
  std::vector<std::pair<ObjectId, std::uint32_t>> by_id_;
  std::uint64_t unpacked_ = 0;
  size_t kept_ = 0, resolved_ = 0;
  bool beyond_ = false;
};

Result<Pack> Pack::Read(const Context& ctx, std::string bytes, const PackLimits& limits, bool* beyond) {
  Pack pack;
  if (bytes.size() > UINT32_MAX) return Bad("it is too large");
  pack.bytes_ = std::move(bytes);
  pack.limits_ = limits;
  Resolver resolver(ctx, pack);
  Status read = resolver.Run();
  if (beyond != nullptr) *beyond = resolver.beyond();
  TRY(read);
  return pack;
}

Result<std::string> Pack::Unpack(const Entry& entry) const {
  if (entry.size > limits_.object) {
    return Bad(fmt::format("an object has {} bytes, and {} at most are read", entry.size, limits_.object));
  }
  std::string text;
  text.reserve(entry.size);
  auto used =
      Inflate(std::string_view(bytes_).substr(entry.at), entry.size, [&](std::string_view piece) { text += piece; });
  if (!used.ok()) return Bad(used.error().message);
  return text;
}

Result<std::string> Pack::Whole(std::uint32_t index) const {
  std::vector<std::uint32_t> chain;
  for (; entries_[index].is_difference; index = entries_[index].base) chain.push_back(index);
  std::string text = TRY(Unpack(entries_[index]));
  for (; !chain.empty(); chain.pop_back()) {
    const std::string delta = TRY(Unpack(entries_[chain.back()]));
    text = TRY(ApplyDelta(text, delta, limits_.object));
  }
  return text;
}

std::vector<ObjectId> Pack::Ids() const {
  std::vector<ObjectId> out;
  for (const auto& [id, index] : by_id_) out.push_back(id);
  return out;
}

Result<ObjectType> Pack::TypeOf(const ObjectId& id) const {
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return Error{Code::kNotFound, fmt::format("object {} isn't there", ToHex(id)), {}};
  return entries_[found->second].type;
}

Result<std::string> Pack::Get(const ObjectId& id, ObjectType type) const {
  const ObjectType is = TRY(TypeOf(id));
  if (is != type) return Bad(fmt::format("object {} is a {}, and no {}", ToHex(id), ToString(is), ToString(type)));
  return Whole(by_id_.find(id)->second);
}

}  // namespace capi::fetch
