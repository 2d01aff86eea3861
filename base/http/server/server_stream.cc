#include "base/http/server/server_stream.h"

#include <utility>

namespace capi::http {

bool ServerStream::Send(std::string bytes) {
  MutexLock lock(mu_);
  if (ended_) return false;
  if (pending_.size() + bytes.size() > most_) {
    cut_ = ended_ = true;
    std::string().swap(pending_);
  } else {
    pending_ += bytes;
  }
  if (wake_) wake_();
  return !cut_;
}

void ServerStream::End() {
  MutexLock lock(mu_);
  if (ended_) return;
  ended_ = true;
  if (wake_) wake_();
}

bool ServerStream::ended() const {
  MutexLock lock(mu_);
  return ended_;
}

size_t ServerStream::held() const {
  MutexLock lock(mu_);
  return pending_.capacity();
}

void ServerStream::Attach(std::function<void()> wake) {
  MutexLock lock(mu_);
  wake_ = std::move(wake);
}

void ServerStream::Detach() {
  MutexLock lock(mu_);
  wake_ = nullptr;
  ended_ = true;
  std::string().swap(pending_);
}

bool ServerStream::HasNews() const {
  MutexLock lock(mu_);
  return ended_ || !pending_.empty();
}

ServerStream::Piece ServerStream::Take() {
  MutexLock lock(mu_);
  return {std::exchange(pending_, {}), ended_, cut_};
}

}  // namespace capi::http
