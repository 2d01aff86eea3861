// What GitLab's API says of packages and their files. Of an answer only what is asked for is kept, as it is read (F2).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::fetch {

// A value.
struct ListedPackage {
  std::int64_t id = 0;
  std::string name, version;
  std::string status;  // "default"; "" where the server is too old to say
};

// A value.
struct ListedFile {
  std::int64_t id = 0;
  std::string name;
  std::string sha256;  // hexadecimal; "" where the server names none
};

// The entries of a list, one after the other. kInvalidArgument for what is no list; some may have been visited by then.
Status ReadPackages(std::string_view list, const std::function<void(ListedPackage package)>& visit);
Status ReadFiles(std::string_view list, const std::function<void(ListedFile file)>& visit);

}  // namespace capi::fetch
