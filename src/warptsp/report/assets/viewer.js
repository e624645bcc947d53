// What the pages have in common: key figures, something that plays, and buttons and keys for a view.

const find = (id) => document.getElementById(id);
const on = (id, name, action) => find(id).addEventListener(name, action);

class Viewer {
  constructor() {
    this.playing = false;
    this.figures = new Map();
    this.ready = this.load().catch((error) => this.fail(error));
  }

  fail(error) {
    find("status").textContent = error.message;
    find("status").dataset.state = "error";
  }

  // An empty text takes a figure away.
  setFigure(name, text) {
    let cell = this.figures.get(name);
    if (text === "") {
      cell?.parentElement.remove();
      this.figures.delete(name);
      return;
    }
    if (cell === undefined) {
      const box = document.createElement("div");
      cell = listed(box, name, "");
      find("figures").append(box);
      this.figures.set(name, cell);
    }
    cell.textContent = text;
  }

  setPlaying(playing) {
    this.playing = playing;
    find("play").setAttribute("aria-pressed", String(playing));
    find("play").ariaLabel = playing ? "Pause" : "Play";
    find("play").title = `${find("play").ariaLabel} (space)`;
  }

  // Which snapshot is shown, or how far the way is: a figure, what is said of it, and a line below.
  setShown(figure, before, after, below) {
    const bold = document.createElement("b");
    bold.textContent = figure;
    find("shown").replaceChildren(before, bold, after, document.createElement("br"), below);
  }

  listen() {
    on("play", "click", () => this.play(!this.playing));
    on("closer", "click", () => this.view.zoom(1.5));
    on("farther", "click", () => this.view.zoom(1 / 1.5));
    on("whole", "click", () => this.view.fit());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.view?.redraw());
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const actions = this.keys(event.target, event.shiftKey ? 200 : 60);
      if (!Object.hasOwn(actions, event.key)) return;
      event.preventDefault();
      actions[event.key]();
    });
  }

  // What keys do where the focus is; arrows move the picture by a step.
  keys(at, step) {
    const { view } = this, actions = {};
    if (at.tagName !== "BUTTON" && !["checkbox", "radio"].includes(at.type)) actions[" "] = () => this.play(!this.playing);
    if (view === undefined) return actions;
    Object.assign(actions, {
      "+": () => view.zoom(1.5),
      "=": () => view.zoom(1.5),
      "-": () => view.zoom(1 / 1.5),
      0: () => view.fit(),
    });
    if (at !== view.canvas && at !== document.body) return actions;
    return Object.assign(actions, {
      ArrowLeft: () => view.pan(step, 0),
      ArrowRight: () => view.pan(-step, 0),
      ArrowUp: () => view.pan(0, step),
      ArrowDown: () => view.pan(0, -step),
    });
  }
}

// A name and a value at the end of a list; returned is the element of the value.
function listed(list, name, text) {
  const term = document.createElement("dt"), value = document.createElement("dd");
  term.textContent = name;
  value.textContent = text;
  list.append(term, value);
  return value;
}
