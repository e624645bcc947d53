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
#include <cstdlib>
#include <vector>

#include "common/random.h"
#include "proof/support.h"

namespace warptsp::proof {

// What was sought in vain rests: for 1 round, then for 3, then for 7.
struct Rest {
  int vain = 0, rounds = 0;

  bool is_over() {
    const bool over = rounds == 0;
    if (!over) --rounds;
    return over;
  }
  void took(bool is_of_use, int most_vain) {
    vain = is_of_use ? 0 : std::min(vain + 1, most_vain);
    rounds = (1 << vain) - 1;
  }
};

struct Cut {
  int classes = 0;
  int bound = 0;
  std::vector<uint8_t> class_of;  // of each city; class 0 is the largest
  std::vector<int> length;        // [classes, classes]
  std::vector<int> members;       // the cities outside class 0
  std::vector<int> count;         // of the cities in each class
  std::vector<std::vector<uint8_t>>
      comb;  // the classes in the handle, or nested ones, then in each tooth or in a domino's A and B; empty: no comb
  uint64_t hash = 0;
  double violation = 0.0;
  int idle_rounds = 0;
  Rest rest;       // of attempts to tighten it
  int sleeps = 0;  // rounds in which the pool does not look at it

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
  uint64_t hash = mix64((uint64_t)cut.bound);
  for (int v = 0; v < n; ++v) {
    cut.class_of[v] = (uint8_t)number[cut.class_of[v]];
    if (cut.class_of[v] == 0) continue;
    cut.members.push_back(v);
    hash = mix64(hash ^ ((uint64_t)v << 8 | cut.class_of[v]));
  }
  for (const int q : cut.length) hash = mix64(hash ^ (uint64_t)q);
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

// Nested handles and teeth that share no city. Of each city: in which tooth it is, from 1 on, or 0; and its level: handle h
// is all cities of the levels 0 to h. Teeth count `weight` times [teeth + 1], of which the first is 0.
inline Cut star_cut(int handles, const std::vector<int> &tooth_of, const std::vector<int> &level,
                    const std::vector<int> &weight) {
  const int t = (int)weight.size() - 1, each = handles + 1;
  Cut cut;
  cut.classes = each * (t + 1);
  cut.bound = handles * (t + t % 2);
  for (const int b : weight) cut.bound += 2 * b;
  for (size_t v = 0; v < tooth_of.size(); ++v) cut.class_of.push_back((uint8_t)(tooth_of[v] * each + level[v]));
  for (int i = 0; i < cut.classes; ++i)
    for (int j = 0; j < cut.classes; ++j) {
      const int a = i / each, b = j / each;
      cut.length.push_back(std::abs(i % each - j % each) + (a == b ? 0 : weight[a] + weight[b]));
    }
  cut.comb.resize(handles + t);
  for (int i = 0; i < cut.classes; ++i) {
    for (int h = i % each; h < handles; ++h) cut.comb[h].push_back((uint8_t)i);
    if (i >= each) cut.comb[handles + i / each - 1].push_back((uint8_t)i);
  }
  make_canonical(cut);
  return cut;
}

}  // namespace warptsp::proof
