// The page of strokes: two orders of a drawing, and the way of the tool along the chosen one.

const find = (id) => document.getElementById(id);
const STEPS = 1000; // of the slider
const PLAYED = 12_000; // milliseconds for the whole way

class StrokePage {
  constructor() {
    this.playing = false;
    for (const [name, text] of facts.figures) {
      const box = document.createElement("div"), term = document.createElement("dt"), value = document.createElement("dd");
      term.textContent = name;
      value.textContent = text;
      box.append(term, value);
      find("figures").append(box);
    }
    this.ready = this.load().catch((error) => {
      find("status").textContent = error.message;
      find("status").dataset.state = "error";
    });
  }

  async load() {
    this.orders = await Promise.all(["before", "after"].map((name) => this.order(name)));
    const { points } = this.orders[1].levels[0], n = points.length / 2;
    const x = Float32Array.from({ length: n }, (_, i) => points[2 * i]);
    const y = Float32Array.from({ length: n }, (_, i) => points[2 * i + 1]);
    this.view = new View(find("picture"), { x, y, n }, { forcePlain: location.hash === "#plain" });
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
    return { levels: levelsOf(points, marks), way, travelled };
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
    const length = document.createElement("b");
    length.textContent = text;
    find("shown").replaceChildren("travel ", length, document.createElement("br"), `after ${Math.round(step / (STEPS / 100))} % of the way`);
    find("slider").setAttribute("aria-valuetext", `${Math.round(step / (STEPS / 100))} %, travel ${text}`);
    this.view.redraw(true);
  }

  async play(on) {
    this.playing = on;
    find("play").setAttribute("aria-pressed", String(on));
    find("play-name").textContent = on ? "Pause" : "Play";
    find("play").title = on ? "Pause (space)" : "Play (space)";
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
    const on = (id, name, action) => find(id).addEventListener(name, action);
    on("slider", "input", (event) => {
      this.play(false);
      this.move(Number(event.target.value));
    });
    on("play", "click", () => this.play(!this.playing));
    on("before", "change", () => this.choose(0));
    on("after", "change", () => this.choose(1));
    on("closer", "click", () => this.view.zoom(1.5));
    on("farther", "click", () => this.view.zoom(1 / 1.5));
    on("whole", "click", () => this.view.fit());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.view.redraw());
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || ["BUTTON", "INPUT"].includes(event.target.tagName)) return;
      const actions = {
        " ": () => this.play(!this.playing),
        "+": () => this.view.zoom(1.5),
        "-": () => this.view.zoom(1 / 1.5),
        0: () => this.view.fit(),
        ArrowLeft: () => this.view.pan(60, 0),
        ArrowRight: () => this.view.pan(-60, 0),
        ArrowUp: () => this.view.pan(0, 60),
        ArrowDown: () => this.view.pan(0, -60),
      };
      if (!Object.hasOwn(actions, event.key)) return;
      event.preventDefault();
      actions[event.key]();
    });
  }
}

window.warptspPage = new StrokePage();
