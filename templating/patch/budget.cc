#include "templating/patch/budget.h"

#include <fmt/format.h>

namespace capi::templating {

Status PatchBudget::Add(size_t bytes) {
  added_ += bytes;
  if (added_ <= room_) return Work(bytes);
  return Error{
      Code::kInvalidArgument, fmt::format("the patches add more than {} bytes to all objects together", room_), {}};
}

Status PatchBudget::Work(size_t bytes) {
  work_ += bytes;
  if (work_ <= kMaxWork) return Ok();
  return Error{
      Code::kInvalidArgument, "the patches take too long: there are too many, or too many objects that they match", {}};
}

}  // namespace capi::templating
