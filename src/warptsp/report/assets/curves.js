// Length, and gap on a logarithmic axis, over time.

const SVG = "http://www.w3.org/2000/svg";
const LEAST_GAP = 1e-6;
const CHART = { width: 300, height: 132, left: 54, right: 6, top: 8, bottom: 20 };

function drawn(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// A scale from values to pixels, with round marks; logarithmic or not.
class Scale {
  constructor(low, high, from, to, logarithmic) {
    if (!(high > low)) [low, high] = logarithmic ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
    this.logarithmic = logarithmic;
    [this.low, this.high, this.from, this.to] = [low, high, from, to];
  }

  at(value) {
    const f = this.logarithmic ? Math.log : (v) => v;
    const share = (f(value) - f(this.low)) / (f(this.high) - f(this.low));
    return this.from + share * (this.to - this.from);
  }

  value(pixel) {
    const share = (pixel - this.from) / (this.to - this.from);
    if (this.logarithmic) return this.low * (this.high / this.low) ** share;
    return this.low + share * (this.high - this.low);
  }

  marks(most) {
    if (this.logarithmic) {
      const decades = Math.log10(this.high / this.low);
      for (const [every, factors] of [[1, [1, 2, 5]], [1, [1, 3]], [1, [1]], [2, [1]], [4, [1]]]) {
        const found = [];
        for (let d = every * Math.floor(Math.log10(this.low) / every); d <= Math.log10(this.high); d += every) {
          const marks = factors.map((f) => f * 10 ** d);
          found.push(...marks.filter((mark) => mark >= this.low * 0.9999 && mark <= this.high * 1.0001));
        }
        if (found.length <= most && (found.length > 1 || decades < 1)) return found;
      }
      return [];
    }
    const rough = (this.high - this.low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
    const found = [];
    for (let i = Math.ceil(this.low / step - 1e-9); i * step <= this.high * (1 + 1e-12); i++) found.push(i * step);
    return found;
  }
}

function brief(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (size >= unit) return `${Number((value / (name === "k" ? 1e3 : unit)).toPrecision(4))} ${name}`;
  }
  return size >= 0.001 ? String(Number(value.toPrecision(4))) : value.toExponential(0);
}

class Chart {
  constructor(parent, title, text, logarithmic) {
    this.logarithmic = logarithmic;
    this.text = text;
    this.figure = document.createElement("figure");
    this.figure.className = "chart";
    const heading = document.createElement("h2");
    this.readout = document.createElement("output");
    heading.append(title, this.readout);
    const { width, height } = CHART;
    this.svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    this.title = title;
    this.figure.append(heading, this.svg);
    parent.append(this.figure);
  }

  // points: [seconds, value]; stops: of snapshots; shown: index of one; first, last: seconds of the axis.
  draw(points, stops, shown, [first, last]) {
    const { width, height, left, right, top, bottom } = CHART;
    const usable = this.logarithmic ? points.filter((p) => p[1] > 0) : points;
    this.figure.hidden = usable.length === 0;
    if (usable.length === 0) return;
    const wide = last > 30 * Math.max(first, 1e-4) && first > 0;
    const t = (this.t = new Scale(wide ? Math.max(first, 1e-4) : Math.min(first, 0), last, left, width - right, wide));
    const values = usable.map((p) => p[1]);
    let low = Math.min(...values), high = Math.max(...values);
    if (!this.logarithmic) {
      const room = 0.04 * (high - low);
      [low, high] = [low - room, high + room];
    }
    // A gap of 0 has no place on a logarithmic axis: it is the foot, below the smallest other one.
    const closed = usable.length < points.length, foot = height - bottom;
    const v = new Scale(low, high, closed ? foot - 16 : foot, top, this.logarithmic);
    const parts = [];
    for (const mark of v.marks(4)) {
      const y = v.at(mark);
      parts.push(drawn("line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y }));
      parts.push(drawn("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, this.text(mark)));
    }
    if (closed) {
      parts.push(drawn("line", { class: "grid", x1: left, x2: width - right, y1: foot, y2: foot }));
      parts.push(drawn("text", { x: left - 6, y: foot + 4, "text-anchor": "end" }, this.text(0)));
    }
    const marks = t.marks(5);
    marks.forEach((mark, i) => {
      const unit = i === marks.length - 1 ? " s" : "";
      parts.push(drawn("text", { x: t.at(mark), y: height - 5, "text-anchor": "middle" }, brief(mark) + unit));
    });
    let d = "";
    usable.forEach(([seconds, value], i) => {
      const x = t.at(Math.max(seconds, t.low)).toFixed(1), y = v.at(value).toFixed(1);
      d += i === 0 ? `M${x} ${y}` : `H${x}V${y}`;
    });
    if (closed) d += `H${t.at(points[usable.length][0]).toFixed(1)}V${foot}`;
    d += `H${width - right}`;
    parts.push(drawn("path", { class: "curve", d }));
    stops.forEach(([seconds, value], i) => {
      const none = this.logarithmic && !(value > 0);
      const x = t.at(Math.max(seconds, t.low)), y = none ? foot : v.at(Math.min(Math.max(value, low), high));
      parts.push(drawn("circle", { class: i === shown ? "dot shown" : "dot", cx: x, cy: y, r: i === shown ? 4 : 2.6 }));
    });
    this.svg.replaceChildren(...parts);
    const [begun, ended] = [points[0], points[points.length - 1]].map((point) => this.text(point[1]));
    this.svg.setAttribute("aria-label", `${this.title} over ${brief(last)} s, from ${begun} to ${ended}`);
  }
}

class Curves {
  constructor(parent, pick) {
    this.known = facts.known;
    this.points = facts.history.map((point) => [...point]);
    this.length = new Chart(parent, "Length", facts.metres > 0 ? distanceText : brief, false);
    this.gap = new Chart(parent, "Gap", (value) => `${brief(100 * value)} %`, true);
    for (const chart of [this.length, this.gap]) {
      chart.svg.addEventListener("click", (event) => {
        const box = chart.svg.getBoundingClientRect();
        const seconds = chart.t.value(((event.clientX - box.left) / box.width) * CHART.width);
        if (Number.isFinite(seconds)) pick(seconds);
      });
    }
  }

  add(seconds, length) {
    const last = this.points[this.points.length - 1];
    if (last !== undefined && length >= last[1]) return;
    this.points.push([seconds, length]);
    // Every second point goes when there are more than a picture shows.
    if (this.points.length > 4000) this.points = this.points.filter((_, i, all) => i % 2 === 0 || i === all.length - 1);
  }

  draw(snapshots, shown) {
    const points = this.points.length ? this.points : snapshots.map((s) => [s.seconds, s.length]);
    const stops = snapshots.map((s) => [s.seconds, s.length]);
    // Gaps are to the known length, or else to the shortest of this page; of real lengths, smaller ones may be rounding.
    const reference = this.known?.length ?? Math.min(...stops.map((s) => s[1]), ...this.points.map((p) => p[1]));
    const least = facts.integral ? 0 : LEAST_GAP;
    const gapOf = (length) => (reference === 0 || length / reference - 1 < least ? 0 : length / reference - 1);
    const gaps = (list) => list.map(([t, length]) => [t, gapOf(length)]);
    const drawn = facts.timed && points.length > 1;
    this.length.figure.hidden = this.gap.figure.hidden = !drawn;
    if (!drawn) return;
    const axis = [points[0][0], Math.max(points[points.length - 1][0], stops[stops.length - 1]?.[0] ?? 0)];
    this.length.draw(points, stops, shown, axis);
    this.gap.draw(gaps(points), gaps(stops), shown, axis);
    const kind = this.known === null ? "over the best of this run" : this.known.proven ? "to the optimum" : "to the best known";
    this.gap.readout.textContent = kind;
  }
}
