// A small program that tests put into an image: linked statically, it runs wherever its architecture does. It prints
// its arguments and its folder.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) std::printf("%s\n", arguments[i]);
  char folder[4096];
  std::printf("in %s, %s\n", getcwd(folder, sizeof folder) != nullptr ? folder : "?", std::getenv("GREETING"));
  return 0;
}
