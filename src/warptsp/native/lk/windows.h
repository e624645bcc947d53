// Windows: all cities of a box, or of a piece of the tour, as a problem that a small population of its own solves. Host
// code only.
//
// A window's cities are paths of the tour; the edge from the end of one to the start of the next stands for the tour
// outside. It is fixed, as between the paths of a part (subproblem.h), but here paths may come to join their ends in other
// pairs: a window is a closed tour with fixed edges, and the present one is a member of its population. Windows are opened
// and put back in the order of their numbers: on one thread each on the tour that the one before left. Those that are
// in work together do not know of each other's pairs, and may leave several closed tours: the later one then takes another of
// its members, or joins them inside itself by the cheapest exchanges of two edges, or stays as it was.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/parallel.h"
#include "lk/partition.h"
#include "lk/population.h"

namespace warptsp::lk {

struct WindowPlan {
  int parts;
  bool boxes;                          // boxes in space, else consecutive pieces of the tour
  int members;                         // new ones, of each window
  double kicks_per_city, temperature;  // of a new member
  bool quick;                          // new members by shorter moves
  int selection, idle;                 // of a generation; generations without progress, after which a window is done
  unsigned long long seed, round;
  int threads;
};

// What a part of `cut` knows of the instance, in its own numbers: candidates [size, K], fixed edges [size, 2] or none.
inline void restrict_to_part(const Instance &instance, const Partition &cut, int b, std::vector<int> &candidates,
                             std::vector<int> &fixed) {
  const int begin = cut.start[b], size = cut.start[b + 1] - begin, count = instance.params.candidates;
  const int *members = cut.members.data() + begin;
  candidates.assign((size_t)size * count, -1);
  for (int i = 0; i < size; i++) {
    const int *all = instance.candidates.data() + (size_t)members[i] * count;
    int *own = candidates.data() + (size_t)i * count;
    for (int k = 0; k < count && all[k] >= 0; k++)
      if (cut.part[all[k]] == b) *own++ = cut.local[all[k]];
  }
  fixed.clear();
  if (instance.fixed.empty()) return;
  fixed.assign(2 * (size_t)size, -1);
  for (int i = 0; i < size; i++)
    for (int s = 0; s < 2; s++) {
      const int other = instance.fixed[2 * (size_t)members[i] + s];
      if (other >= 0 && cut.part[other] == b) fixed[2 * i + s] = cut.local[other];
    }
}

// The neighbours of each city on a window's paths, in its own numbers; -1 where the tour leaves the window.
typedef std::vector<int> PathLinks;

struct BetterWindow {
  double gain;
  PathLinks links;
};

template <class Source>
class Window {
 public:
  typedef typename Source::Metric::Value Value;

  bool open() const { return population_ != nullptr; }
  int part() const { return part_; }

  // `tour`: the window's cities in the order of the whole tour, in its own numbers, path after path; `last` tells
  // which of them end a path.
  void begin(const Source &source, const Instance &instance, const Partition &cut, int part,
             const std::vector<int> &tour, const std::vector<char> &last, const WindowPlan &plan, Value tolerance) {
    const int begin = cut.start[part], size = cut.start[part + 1] - begin;
    part_ = part;
    plan_ = plan;
    tolerance_ = tolerance;
    seed_ = Random(plan.seed, plan.round, part).next();
    instance_.size = size;
    instance_.params = instance.params;
    restrict_to_part(instance, cut, part, instance_.candidates, instance_.fixed);
    instance_.fixed.resize(2 * (size_t)size, -1);
    outside_.assign(2 * (size_t)size, -1);
    for (int p = 0; p < size; p++) {
      const int a = tour[p], b = tour[p + 1 < size ? p + 1 : 0];
      if (!last[p]) continue;
      for (const auto &[from, to] : {std::make_pair(a, b), std::make_pair(b, a)})
        for (int *const partners : {outside_.data() + 2 * (size_t)from, instance_.fixed.data() + 2 * (size_t)from})
          if (partners[0] != to) partners[partners[0] >= 0] = to;
    }
    const Source own = source.restricted(cut.members.data() + begin, size, buffer_);
    present_ = tour;
    typename Source::Buffer unused;
    begun_length_ = tour_length(own.bind(nullptr, size, unused), present_);
    population_ = std::make_unique<Population<Source>>(own, instance_, tolerance);
    population_->add(present_, begun_length_);
    counters_ = LkCounters();
    number_ = 0;
  }

  // One more member, or generation; true when nothing more is to be gained, or the token said stop.
  bool step(const StopToken &token) {
    const int members = (int)population_->members().size();
    if (members <= plan_.members) {
      counters_ += population_->grow(
          {1, plan_.kicks_per_city, plan_.temperature, seed_, 0, 1, plan_.quick ? quick_steps : 0}, token);
      return token.stopped();
    }
    if (number_ == 0) generations_ = Generations(shortest(), population_->mean_length());
    population_->generation(plan_.selection, generations_.blocks(), seed_, (unsigned long long)++number_, 1, token);
    return generations_.ended(shortest(), population_->mean_length(), plan_.idle) || token.stopped();
  }

  const LkCounters &counters() const { return counters_; }

  // The members of different lengths that are shorter than the present tour, the shortest first, so many at most.
  std::vector<BetterWindow> better(size_t most) const {
    std::vector<const Member *> shortest;
    for (const Member &member : population_->members())
      if (begun_length_ - member.length > (double)tolerance_) shortest.push_back(&member);
    std::stable_sort(shortest.begin(), shortest.end(),
                     [](const Member *x, const Member *y) { return x->length < y->length; });
    std::vector<BetterWindow> better;
    for (const Member *member : shortest) {
      const double gain = begun_length_ - member->length;
      if (!better.empty() && better.back().gain - gain <= (double)tolerance_) continue;
      if (better.size() == most) break;
      better.push_back({gain, links(member->tour.order)});
    }
    return better;
  }

  void end() { population_.reset(); }

 private:
  int part_ = -1;
  WindowPlan plan_{};
  Value tolerance_{};
  unsigned long long seed_ = 0;
  Instance instance_{};
  typename Source::Buffer buffer_;
  std::vector<int> outside_, present_;  // [size, 2] partners across the tour outside; the present tour
  std::unique_ptr<Population<Source>> population_;
  LkCounters counters_;
  double begun_length_ = 0;
  int number_ = 0;  // of the last generation
  Generations generations_;

  double shortest() const {
    double length = begun_length_;
    for (const Member &member : population_->members()) length = std::min(length, member.length);
    return length;
  }
  PathLinks links(const std::vector<int> &tour) const {
    PathLinks links(tour.size() * 2, -1);
    for (size_t i = 0; i < tour.size(); i++) {
      const int a = tour[i], b = tour[i + 1 < tour.size() ? i + 1 : 0];
      if (outside_[2 * (size_t)a] == b || outside_[2 * (size_t)a + 1] == b) continue;
      links[2 * (size_t)a + (links[2 * (size_t)a] >= 0)] = b;
      links[2 * (size_t)b + (links[2 * (size_t)b] >= 0)] = a;
    }
    return links;
  }
};

// One pass over all windows.
template <class Source>
class WindowPass {
 public:
  typedef typename Source::Metric Metric;
  typedef typename Metric::Value Value;

  // The partition is that of the pass's plan.
  WindowPass(const Source &source, const Instance &instance, const Partition &cut, const WindowPlan &plan,
             Value tolerance)
      : source_(source), instance_(instance), cut_(cut), plan_(plan), tolerance_(tolerance),
        metric_(source_.bind(nullptr, instance.size, buffer_)), windows_(plan.threads), results_(plan.parts) {
    const int runs = (int)cut.runs.size();
    ends_of_.assign(2 * (size_t)instance.size, -1);
    city_.resize(2 * (size_t)runs);
    mate_.resize(2 * (size_t)runs);
    runs_of_.resize(plan.parts);
    for (int r = 0; r < runs; r++) runs_of_[cut.runs[r].part].push_back(r);
    for (int b = 0; b < plan.parts; b++) {
      const int begin = cut.start[b], size = cut.start[b + 1] - begin, paths = (int)runs_of_[b].size();
      for (int k = 0; k < paths; k++) {
        const int r = runs_of_[b][k], from = cut.runs[r].begin;
        const int to = k + 1 < paths ? cut.runs[runs_of_[b][k + 1]].begin : size;
        for (const auto &[end, place] : {std::make_pair(2 * r, from), std::make_pair(2 * r + 1, to - 1)}) {
          city_[end] = cut.order[begin + place];
          int *const ends = ends_of_.data() + 2 * (size_t)(begin + city_[end]);
          ends[ends[0] >= 0] = end;
        }
        mate_[2 * r] = 2 * r + 1;
        mate_[2 * r + 1] = 2 * r;
      }
      results_[b].links.assign(2 * (size_t)size, -1);
      for (int p = 0; p + 1 < size; p++) {
        const int a = cut.order[begin + p], c = cut.order[begin + p + 1];
        if (cut.path[begin + a] != cut.path[begin + c]) continue;
        results_[b].links[2 * (size_t)a + 1] = c;
        results_[b].links[2 * (size_t)c] = a;
      }
    }
  }

  // Works on the windows for some seconds; true when the pass is complete or the token said stop.
  bool proceed(double seconds, const StopToken &token) {
    const StopToken slice(token, seconds);
    for_each_task(plan_.threads, plan_.threads, [&](int t) { work(windows_[t], slice, token); });
    return put_back_ == plan_.parts || token.stopped();
  }
  // Takes what the windows in work have come to.
  void end() {
    for (Window<Source> &window : windows_)
      if (window.open()) close(window);
    for (; put_back_ < plan_.parts; put_back_++)
      if (results_[put_back_].done) put_back(put_back_);
  }

  double gain() const { return gain_; }
  const LkCounters &counters() const { return counters_; }
  // Windows that are done, whether put back or not.
  int done() const { return closed_; }
  // New members of the windows that are opened from now on. Not while the pass proceeds.
  void members(int count) { plan_.members = count; }

  // The tour as it is.
  void link(std::vector<int> &tour) const {
    size_t to = 0;
    int end = 0;
    do {
      const int b = cut_.runs[end >> 1].part, *const members = cut_.members.data() + cut_.start[b];
      const PathLinks &links = results_[b].links;
      follow(links, city_[end], [&](int c) { tour[to++] = members[c]; });
      end = beyond(mate_[end]);
    } while (end != 0);
  }

 private:
  struct Result {
    PathLinks links;  // as they are on the tour
    std::vector<BetterWindow> better;
    LkCounters counters;
    bool done = false;
  };

  Source source_;
  const Instance &instance_;
  const Partition &cut_;
  WindowPlan plan_;
  Value tolerance_;
  typename Source::Buffer buffer_;
  Metric metric_;
  std::vector<Window<Source>> windows_;  // of each thread
  std::vector<Result> results_;
  std::mutex mutex_;  // of what follows, and of results_ once they are done
  std::condition_variable done_;
  int next_part_ = 0, put_back_ = 0, closed_ = 0;
  double gain_ = 0;
  LkCounters counters_;
  // Path r of the tour has the ends 2 r and 2 r + 1, which are cities of its window.
  std::vector<std::vector<int>> runs_of_;
  std::vector<int> city_;     // of an end, in its window's numbers
  std::vector<int> mate_;     // the end at the other end of the path that begins there now
  std::vector<int> ends_of_;  // [size, 2] of a city; by window, as cut_.members are
  // For each end of the next windows, those that are not put back and come before window skipped_: to which end of them the
  // tour outside leads. All windows in work are among them, so that the others stay as they are.
  std::vector<int> skip_;
  int skipped_ = 0;
  std::vector<int> tour_of_;

  // The end to which the tour outside leads from an end.
  int beyond(int end) const {
    const int last = (int)mate_.size() - 1;
    return end % 2 == 1 ? (end < last ? end + 1 : 0) : end > 0 ? end - 1 : last;
  }

  // Makes skips: a walk along all paths of the tour, so that one for each window leads only along those of so many windows. A
  // million cities in 5000 windows of one new member, one thread: 4.5 instead of 8.0 CPU s.
  void make_skips() {
    const int from = put_back_, count = std::max(4 * ahead(), (int)std::sqrt((double)plan_.parts));
    skipped_ = std::min(plan_.parts, from + count);
    skip_.resize(mate_.size());
    int first = -1, last = -1;
    for (int b = from; b < skipped_ && first < 0; b++)
      if (!runs_of_[b].empty()) first = 2 * runs_of_[b][0];
    if (first < 0) return;
    int end = first;
    do {
      const int b = cut_.runs[end >> 1].part;
      if (b >= from && b < skipped_) {
        if (last >= 0) skip_[skip_[end] = last] = end;
        last = mate_[end];
      }
      end = beyond(mate_[end]);
    } while (end != first);
    skip_[skip_[first] = last] = first;
  }

  // Calls `visit` with the cities of the path from its end `city` on.
  template <class Visit>
  static void follow(const PathLinks &links, int city, Visit &&visit) {
    for (int before = -1; city >= 0;) {
      visit(city);
      const int *const two = links.data() + 2 * (size_t)city, next = two[0] == before ? two[1] : two[0];
      before = city;
      city = next;
    }
  }

  // One step at least, so that windows come to an end even where tasks have to wait for each other.
  void work(Window<Source> &window, const StopToken &slice, const StopToken &token) {
    do {
      if (!window.open() && !open(window, slice)) return;
      if (window.step(token)) {
        close(window);
        const std::lock_guard<std::mutex> lock(mutex_);
        put_back_what_is_done();
      }
    } while (!slice.stopped());
  }

  // Opens the next window; false if there is none, or none before the slice ends.
  bool open(Window<Source> &window, const StopToken &slice) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (next_part_ < plan_.parts) {
      put_back_what_is_done();
      if (next_part_ < put_back_ + ahead()) {
        if (next_part_ == skipped_) make_skips();
        const int b = next_part_++;
        if (cut_.start[b + 1] - cut_.start[b] < 8) {
          results_[b].done = true;
          closed_++;
          continue;
        }
        std::vector<int> tour;
        std::vector<char> last;
        in_order(b, tour, last);
        put_back_what_is_done();
        lock.unlock();
        window.begin(source_, instance_, cut_, b, tour, last, plan_, tolerance_);
        return true;
      }
      if (slice.stopped()) return false;
      done_.wait_for(lock, std::chrono::milliseconds(5));
    }
    put_back_what_is_done();
    return false;
  }

  // Window k is opened when window k - ahead() has been put back, and the one after that has not.
  int ahead() const { return 2 * plan_.threads - 1; }
  void put_back_what_is_done() {
    while (put_back_ < plan_.parts && results_[put_back_].done &&
           next_part_ >= std::min(plan_.parts, put_back_ + ahead()))
      put_back(put_back_++);
    done_.notify_all();
  }

  // The cities of window b along the tour, and whether each is the last of its path.
  void in_order(int b, std::vector<int> &tour, std::vector<char> &last) const {
    tour.clear();
    last.clear();
    if (runs_of_[b].empty()) return;
    const int first = 2 * runs_of_[b][0];
    int end = first;
    do {
      if (cut_.runs[end >> 1].part == b) {
        follow(results_[b].links, city_[end], [&](int c) {
          tour.push_back(c);
          last.push_back(0);
        });
        last.back() = 1;
      }
      end = skip_[mate_[end]];
    } while (end != first);
  }

  void close(Window<Source> &window) {
    Result &result = results_[window.part()];
    result.counters = window.counters();
    // Alone in work, the best one always leaves one tour.
    result.better = window.better(ahead() > 1 ? 8 : 1);
    window.end();
    const std::lock_guard<std::mutex> lock(mutex_);
    result.done = true;
    closed_++;
  }

  void put_back(int b) {
    Result &result = results_[b];
    counters_ += result.counters;
    for (BetterWindow &better : result.better) {
      std::swap(result.links, better.links);
      if (tours(b) == 1) {
        gain_ += better.gain;
        result.better.clear();
        return;
      }
      std::swap(result.links, better.links);
    }
    if (result.better.empty()) return;
    BetterWindow &best = result.better[0];
    std::swap(result.links, best.links);
    while (tours(b) > 1 && best.gain > (double)tolerance_)
      if (!join(b, best.gain)) best.gain = 0;
    if (best.gain > (double)tolerance_) {
      gain_ += best.gain;
    } else {
      std::swap(result.links, best.links);
      tours(b);
    }
    result.better.clear();
  }

  // Returns how many closed tours there are; tour_of_ becomes that of each city of window b. All of them lead through
  // it, since there was one before.
  int tours(int b) {
    const PathLinks &links = results_[b].links;
    const int *const ends = ends_of_.data() + 2 * (size_t)cut_.start[b];
    tour_of_.assign(links.size() / 2, -1);
    for (int r : runs_of_[b])
      for (int end : {2 * r, 2 * r + 1}) {
        int last = -1;
        follow(links, city_[end], [&](int c) { last = c; });
        mate_[end] = ends[2 * (size_t)last + (ends[2 * (size_t)last] == end)];
      }
    int tours = 0;
    // Either end of a run: once other windows have joined their ends in other pairs, a tour may enter this window at the
    // second ends of its runs alone.
    for (int r : runs_of_[b])
      for (const int begin : {2 * r, 2 * r + 1}) {
        if (tour_of_[city_[begin]] >= 0) continue;
        int end = begin;
        do {
          if (cut_.runs[end >> 1].part == b) follow(links, city_[end], [&](int c) { tour_of_[c] = tours; });
          end = skip_[mate_[end]];
        } while (end != begin);
        tours++;
      }
    return tours;
  }

  // Joins two of the closed tours where that costs least; false if candidates lead from none to another.
  bool join(int b, double &gain) {
    PathLinks &links = results_[b].links;
    const int *const members = cut_.members.data() + cut_.start[b];
    const auto fixed = [&](int c, int d) {
      if (instance_.fixed.empty()) return false;
      const int *const partners = instance_.fixed.data() + 2 * (size_t)members[c];
      return partners[0] == members[d] || partners[1] == members[d];
    };
    const auto distance = [&](int c, int d) { return (double)metric_(members[c], members[d]); };
    double least = 0;
    int best[4] = {-1, -1, -1, -1};
    for (int c = 0; c < (int)tour_of_.size(); c++) {
      const int *const all = instance_.candidates.data() + (size_t)members[c] * instance_.params.candidates;
      for (int k = 0; k < instance_.params.candidates && all[k] >= 0; k++) {
        const int d = cut_.local[all[k]];
        if (cut_.part[all[k]] != b || tour_of_[d] == tour_of_[c]) continue;
        for (int s = 0; s < 4; s++) {
          const int c2 = links[2 * (size_t)c + s % 2], d2 = links[2 * (size_t)d + s / 2];
          if (c2 < 0 || d2 < 0 || fixed(c, c2) || fixed(d, d2)) continue;
          const double added = distance(c, d) + distance(c2, d2) - distance(c, c2) - distance(d, d2);
          if (best[0] >= 0 && added >= least) continue;
          least = added;
          best[0] = c, best[1] = c2, best[2] = d, best[3] = d2;
        }
      }
    }
    if (best[0] < 0) return false;
    const auto relink = [&](int city, int from, int to) {
      links[2 * (size_t)city + (links[2 * (size_t)city] != from)] = to;
    };
    relink(best[0], best[1], best[2]);
    relink(best[1], best[0], best[3]);
    relink(best[2], best[3], best[0]);
    relink(best[3], best[2], best[1]);
    gain -= least;
    return true;
  }
};

}  // namespace warptsp::lk
