// The one kind of cut: every tour passes through every class of cities. Host code only.
//
// The cities are divided into classes, none of them empty, and `length` is a metric of whole numbers between classes.
// A tour of the cities is a closed walk through all classes, so that it is at least as long in this metric as the
// shortest such walk: sum over edges of length(class u, class v) x_uv >= bound. Subtour constraints, blossoms, combs
// and the facets of small contracted graphs all have this form. It stays valid when cities move to other classes, as
// long as no class is left empty.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "proof/support.h"

namespace warptsp::proof {

struct Cut {
  int classes = 0;
  int bound = 0;
  std::vector<uint8_t> class_of;  // of each city; class 0 is the largest
  std::vector<int> length;        // [classes, classes]
  std::vector<int> members;       // the cities outside class 0
  std::vector<int> count;         // of the cities in each class
  std::vector<std::vector<uint8_t>>
      comb;  // the classes in the handle, or nested ones, then in each tooth; empty: no comb
  uint64_t hash = 0;
  double violation = 0.0;
  int idle_rounds = 0;
  int vain = 0, rests = 0;  // attempts to tighten it, and rounds until the next one
  int sleeps = 0;           // rounds in which the pool does not look at it

  int between(int i, int j) const { return length[(size_t)i * classes + j]; }
  int coefficient(int u, int v) const { return between(class_of[u], class_of[v]); }
  bool is_subtour() const { return classes == 2 && bound == 2; }
};

constexpr int max_classes = 250;

// Whether every closed walk has an even length, as sums of cuts have.
inline bool is_even(const Cut &cut) {
  for (int i = 0; i < cut.classes; ++i)
    for (int j = 0; j < i; ++j)
      if ((cut.between(i, j) + cut.between(i, 0) + cut.between(j, 0)) % 2 != 0) return false;
  return true;
}

inline double value_of(const Cut &cut, const Support &support) {
  double sum = 0.0;
  for (const int u : cut.members)
    for (const Support::Edge &edge : support.around(u)) {
      const int q = cut.coefficient(u, edge.to);
      if (q != 0) sum += (cut.class_of[edge.to] != 0 ? 0.5 : 1.0) * q * edge.value;
    }
  return sum;
}

// Numbers the classes anew, the largest one 0 and the others by their first city, without empty ones, so that equal
// cuts are equal arrays; fills `members`, `count` and `hash`.
inline void make_canonical(Cut &cut) {
  const int n = (int)cut.class_of.size();
  std::vector<int> count(cut.classes, 0), number(cut.classes, -1);
  for (int v = 0; v < n; ++v) ++count[cut.class_of[v]];
  number[std::max_element(count.begin(), count.end()) - count.begin()] = 0;
  int classes = 1;
  for (int v = 0; v < n; ++v)
    if (number[cut.class_of[v]] < 0) number[cut.class_of[v]] = classes++;
  std::vector<int> length((size_t)classes * classes);
  for (int i = 0; i < cut.classes; ++i)
    for (int j = 0; j < cut.classes; ++j)
      if (number[i] >= 0 && number[j] >= 0) length[(size_t)number[i] * classes + number[j]] = cut.between(i, j);
  for (std::vector<uint8_t> &set : cut.comb) {
    std::vector<uint8_t> renamed;
    for (const uint8_t i : set)
      if (number[i] >= 0) renamed.push_back((uint8_t)number[i]);
    set = std::move(renamed);
  }
  cut.classes = classes;
  cut.length = std::move(length);
  cut.count.resize(classes);
  for (size_t i = 0; i < number.size(); ++i)
    if (number[i] >= 0) cut.count[number[i]] = count[i];
  cut.members.clear();
  const auto mixed = [](uint64_t h, uint64_t value) {
    h = (h ^ value) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
  };
  uint64_t hash = mixed(1, (uint64_t)cut.bound);
  for (int v = 0; v < n; ++v) {
    cut.class_of[v] = (uint8_t)number[cut.class_of[v]];
    if (cut.class_of[v] == 0) continue;
    cut.members.push_back(v);
    hash = mixed(hash, (uint64_t)v << 8 | cut.class_of[v]);
  }
  for (const int q : cut.length) hash = mixed(hash, (uint64_t)q);
  cut.hash = hash;
}

// The edges that leave these cities number 2 at least.
inline Cut subtour_cut(int n, const std::vector<int> &set) {
  Cut cut;
  cut.classes = cut.bound = 2;
  cut.class_of.assign(n, 0);
  for (const int v : set) cut.class_of[v] = 1;
  cut.length = {0, 1, 1, 0};
  make_canonical(cut);
  return cut;
}

struct Tooth {
  int inside, outside;  // of the handle
};

// A handle with an odd number of edges as teeth that share no city: together these sets are left 3 t + 1 times. False
// if there are too many classes.
inline bool blossom_cut(int n, const std::vector<int> &handle, const std::vector<Tooth> &teeth, Cut &cut) {
  const int t = (int)teeth.size(), classes = 2 * t + 2;
  if (classes > max_classes) return false;
  cut = Cut();
  cut.classes = classes;
  cut.bound = 3 * t + 1;
  cut.class_of.assign(n, 0);
  for (const int v : handle) cut.class_of[v] = 1;
  for (int i = 0; i < t; ++i) {
    cut.class_of[teeth[i].inside] = (uint8_t)(2 + 2 * i);
    cut.class_of[teeth[i].outside] = (uint8_t)(3 + 2 * i);
  }
  const auto in_handle = [](int c) { return c == 1 || (c >= 2 && c % 2 == 0); };
  cut.length.resize((size_t)classes * classes);
  for (int i = 0; i < classes; ++i)
    for (int j = 0; j < classes; ++j) {
      const int a = i < 2 ? 0 : i / 2, b = j < 2 ? 0 : j / 2;  // the tooth, counted from 1
      cut.length[(size_t)i * classes + j] = (in_handle(i) != in_handle(j)) + (a == b ? 0 : (a > 0) + (b > 0));
    }
  cut.comb.resize(t + 1);
  cut.comb[0].push_back(1);
  for (int i = 0; i < t; ++i) {
    cut.comb[0].push_back((uint8_t)(2 + 2 * i));
    cut.comb[i + 1] = {(uint8_t)(2 + 2 * i), (uint8_t)(3 + 2 * i)};
  }
  make_canonical(cut);
  return true;
}

}  // namespace warptsp::proof
