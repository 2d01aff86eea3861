// What came from Secrets, and texts without it (behaviour.md I7): an API server's refusal repeats the values that it
// refuses.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/object.h"

namespace capi::ops {

// In the place of a text that can't be searched for values.
inline constexpr std::string_view kNotShown =
    "(not shown: it may repeat a Secret's value, and the Secrets in question can't be read, or are too large)";

// The values of a provider's Secrets. How eagerly one is hidden depends on its length, since a short one stands in many
// a message by chance:
//  - from 8 characters on wherever it stands, also in part of a word;
//  - from 3 on as a word of its own;
//  - shorter ones only where a server repeats a value: in quotes, or behind "Value:";
//  - never what everybody knows: true, false, yes, no, on, off, null, and nothing at all.
// Looks for 4,000 forms of 1 MiB together; where there are more, it hides whole texts.
// A value. Thread-compatible.
class SecretValues {
 public:
  // One value: as it is, each of its lines, as a number, in base64, and with the escapes of a quoted text.
  void Add(std::string_view value);
  // All of others'.
  void Add(const SecretValues& others);
  // Whether adding them would change nothing.
  bool Has(const SecretValues& others) const;
  // What a rendered object holds, where it is a Secret.
  void AddObject(const kube::Object& object);
  // Whatever stands in `text` is no secret: who may read what is told of a provider may read this, too.
  void Except(std::string_view text);

  // From now on there are too many values to look for.
  void HideAll();
  bool hides_all() const { return hides_all_; }

  // `text`, which others wrote, with "***" in the place of each value; kNotShown where there are too many of them.
  std::string Hide(std::string text) const;
  // The same for a text that is partly our own: it stays readable where there are too many values.
  std::string HideKnown(std::string text) const;
  // Whether one of the values, but the shortest, stands in the JSON `text`, wherever. True where that is too much to
  // look through.
  bool StandIn(std::string_view text) const;

 private:
  void AddForm(std::string_view form);
  struct LongestFirst {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };
  std::set<std::string, LongestFirst> forms_;   // every form of every value
  std::set<std::string, LongestFirst> values_;  // as they stand in an object's text
  size_t bytes_ = 0;                            // of all forms that were added
  bool hides_all_ = false;
};

}  // namespace capi::ops
