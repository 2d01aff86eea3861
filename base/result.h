// Result<T>: a value or an Error. TRY passes the error on.
//
//   Result<Config> Load(const std::string& path) {
//     std::string text = TRY(ReadFile(path));
//     return TRY_WITH(Parse(text), path);
//   }
#pragma once

#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"

namespace capi {

// Thread-compatible. value() and error() on the wrong alternative end the process: check ok() first.
template <typename T>
class [[nodiscard]] Result {
 public:
  using Value = T;
  Result(T value) : data_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : data_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return data_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return Check(), std::get<0>(data_); }
  const T& value() const& { return Check(), std::get<0>(data_); }
  // By value: a reference into the temporary would dangle in `for (const auto& x : F().value())`.
  T value() && { return Check(), std::get<0>(std::move(data_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    if (ok()) std::abort();
    return std::get<1>(data_);
  }
  Code code() const { return error().code; }

 private:
  void Check() const {
    if (!ok()) std::abort();
  }
  std::variant<T, Error> data_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using Value = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const {
    if (!ok()) std::abort();
  }
  const Error& error() const {
    if (ok()) std::abort();
    return *error_;
  }
  Code code() const { return error().code; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

inline Status Ok() { return {}; }

}  // namespace capi

// The value of `expression` (a Result), or returns its error from the enclosing function. Not behind another member of
// a braced list: GCC doesn't destroy that one when the error returns (tools/check_try).
#define TRY(expression)                                               \
  (__extension__({                                                    \
    auto try_result_ = (expression);                                  \
    if (!try_result_.ok()) return ::capi::Error(try_result_.error()); \
    std::move(try_result_).value();                                   \
  }))

// TRY that puts `context` before the error's message.
#define TRY_WITH(expression, context)                                               \
  (__extension__({                                                                  \
    auto try_result_ = (expression);                                                \
    if (!try_result_.ok()) return ::capi::Error(try_result_.error().With(context)); \
    std::move(try_result_).value();                                                 \
  }))
