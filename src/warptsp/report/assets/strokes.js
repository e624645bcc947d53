// The page of strokes: two orders of a drawing, and the way of the tool along the chosen one.

const STEPS = 1000; // of the slider
const PLAYED = 12_000; // milliseconds for the whole way

class StrokePage extends Viewer {
  async load() {
    for (const [name, text] of facts.figures) this.setFigure(name, text);
    this.orders = await Promise.all(["before", "after"].map((name) => this.order(name)));
    this.view = new View(find("picture"));
    this.view.resize();
    this.listen();
    this.choose(1);
  }

  // An order as a line through all its vertices, and how far the tool has come, and travelled, at each of them.
  async order(name) {
    const [x, y, travel] = await Promise.all([
      integersOf(`x-${name}`, true), integersOf(`y-${name}`, true), integersOf(`travel-${name}`, false),
    ]);
    const n = x.length, points = new Float32Array(2 * n), marks = new Uint8Array(Math.max(0, n - 1));
    const way = new Float64Array(n), travelled = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      points[2 * i] = x[i];
      points[2 * i + 1] = y[i];
      if (i === 0) continue;
      const length = facts.step * Math.hypot(x[i] - x[i - 1], y[i] - y[i - 1]);
      marks[i - 1] = travel[i];
      way[i] = way[i - 1] + length;
      travelled[i] = travelled[i - 1] + (travel[i] ? length : 0);
    }
    return { ...pathOf(points, marks), way, travelled };
  }

  choose(number) {
    this.shown = this.orders[number];
    this.view.setPath(this.shown);
    this.move(Number(find("slider").value));
  }

  // The tool has done a part of its way.
  move(step) {
    const { way, travelled } = this.shown, whole = way[way.length - 1];
    let low = 0, high = way.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (way[middle] <= (whole * step) / STEPS) low = middle;
      else high = middle - 1;
    }
    find("slider").value = step;
    this.view.until = step >= STEPS ? Infinity : low;
    const unit = facts.unit === "" ? "" : ` ${facts.unit}`;
    const text = `${grouped(Number(travelled[low].toPrecision(5)))}${unit}`;
    const done = Math.round(step / (STEPS / 100));
    this.setShown(text, "travel ", "", `after ${done} % of the way`);
    find("slider").setAttribute("aria-valuetext", `${done} %, travel ${text}`);
    this.view.redraw(true);
  }

  async play(on) {
    this.setPlaying(on);
    if (!on) return;
    const from = Number(find("slider").value) % STEPS, begun = performance.now();
    while (this.playing) {
      const now = await new Promise(requestAnimationFrame);
      const step = Math.min(STEPS, from + Math.max(0, now - begun) * (STEPS / PLAYED));
      this.move(step);
      if (step === STEPS) this.play(false);
    }
  }

  listen() {
    super.listen();
    on("slider", "input", (event) => {
      this.play(false);
      this.move(Number(event.target.value));
    });
    on("before", "change", () => this.choose(0));
    on("after", "change", () => this.choose(1));
  }
}

window.warptspPage = new StrokePage();
