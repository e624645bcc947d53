// The page: what is shown, the keys, and the interface for a run that is still going on.

class Page extends Viewer {
  constructor() {
    super();
    this.follow = true;
    this.shown = -1;
    this.actions = find("actions");
    this.setFigures();
    if (!facts.timed) find("settings").querySelector("h2").textContent = "Tours";
    for (const id of ["settings", "machine"]) {
      find(id).hidden = facts[id].length === 0;
      for (const [name, value] of facts[id]) listed(find(id).querySelector("dl"), name, value);
    }
  }

  // For a live page

  // Show another tour: the cities, numbered from 0, in visiting order.
  addSnapshot(seconds, length, tour) {
    const wasLast = this.shown === this.snapshots.length - 1;
    this.snapshots.add(seconds, length, tour);
    this.curves.add(seconds, length);
    this.setBest(length);
    this.rankings = null;
    this.setSlider();
    const last = this.snapshots.length - 1;
    if (this.follow) this.show(last);
    else this.show(Math.min(this.shown, last), wasLast);
  }

  // Continue the curves.
  addPoint(seconds, length) {
    this.curves.add(seconds, length);
    this.setBest(length);
    this.drawCurves();
  }

  // text: a line below the title. state: "live", "done", "error" or "". figures: name -> text.
  // done: the part of the limit that is used up, null if that is unknown.
  setStatus({ text, state, figures, done }) {
    if (done !== undefined) {
      find("done").hidden = done === null;
      find("done").value = done ?? 0;
    }
    const status = find("status");
    if (text !== undefined && status.textContent !== text) status.textContent = text;
    if (state !== undefined) status.dataset.state = state;
    for (const [name, value] of Object.entries(figures ?? {})) this.setFigure(name, value);
  }

  // Beginning

  async load() {
    if (typeof DecompressionStream === "undefined") {
      throw new Error(
        "This browser cannot unpack the page's data (it lacks DecompressionStream). " +
          "Chrome 80, Firefox 113, Safari 16.4 and later ones can.",
      );
    }
    this.curves = new Curves(find("curves"), (seconds) => this.showAt(seconds));
    this.cities = await Cities.load();
    this.snapshots = new Snapshots(this.cities);
    this.fixed = new Set(facts.fixed.map(([a, b]) => linkOf(a, b)));
    if (facts.plane === null) {
      this.say("The instance has distances but no coordinates: there is nothing to draw, but curves and tour are available.");
    } else {
      this.view = new View(find("picture"));
      this.view.hover = (place, x, y) => this.tell(place, x, y);
      this.labels = new Labels(find("labels"), this.view, this.cities, () => this.tour);
      this.view.resize();
      if (facts.plane.mercator) {
        find("coasts-label").hidden = false;
        this.world = await World.load(find("world"), this.view);
      }
      if (facts.tiles !== null) {
        this.server = new URL(facts.tiles[0]).host;
        find("map-label").hidden = false;
        find("map-label").lastElementChild.textContent = `Map, loaded from ${this.server}`;
        find("attribution").textContent = facts.tiles[1];
        const foot = document.querySelector("footer");
        foot.textContent = foot.textContent.replace("Everything", "Everything but the map");
        this.map = new TileMap(find("tiles"), this.view, () => this.mapFailed());
      }
    }
    if (facts.dimensions === 3 && facts.plane !== null) this.setFigure("seen", "from above");
    this.legs = await integersOf("legs", false);
    this.arrivals = await integersOf("arrivals", true);
    this.measured = this.snapshots.length - 1; // the tour that the legs are of
    this.itinerary = new Itinerary(find("itinerary"), this.cities, (place) => this.goTo(place));
    this.listen();
    this.setSlider();
    if (this.snapshots.length) await this.show(this.snapshots.length - 1);
    this.drawCurves();
  }

  fail(error) {
    this.say(error.message);
    super.fail(error);
  }

  say(text) {
    find("message").hidden = text === "";
    find("message").textContent = text;
  }

  setFigures() {
    const best = facts.snapshots[facts.snapshots.length - 1];
    this.setFigure(this.lengthName, "…");
    if (best !== undefined) this.setBest(best.length, best.text);
    if (facts.proved !== null) this.setFigure("proof", facts.proved);
    else if (facts.bound !== null) this.setFigure(...facts.bound);
    this.setFigure("cities", grouped(facts.cities));
    if (facts.unit === "") this.setFigure("distances", facts.metric);
    if (!facts.closed) this.setFigure("kind", "open path");
    if (facts.fixed.length) this.setFigure("fixed links", grouped(facts.fixed.length));
  }

  get lengthName() {
    return ["length", ...facts.unit.split(" ").slice(1)].join(" ");
  }

  // The length of the shortest tour so far, and its gap.
  setBest(length, text = lengthText(length)) {
    if (length >= (this.best ?? Infinity)) return;
    this.best = length;
    this.setFigure(this.lengthName, facts.metres > 0 || facts.seconds ? distanceText(length) : grouped(text));
    if (facts.proved === null && facts.known !== null && facts.known.length > 0) {
      const name = facts.known.proven ? "over the optimum" : "over the best known length";
      const gap = length / facts.known.length - 1;
      this.setFigure(name, gap < 0 && !facts.known.proven ? `\u2212${percent(-gap)}` : percent(Math.max(0, gap)));
    }
  }

  // Snapshots

  setSlider() {
    const slider = find("slider"), count = this.snapshots.length;
    slider.max = Math.max(0, count - 1);
    find("timeline").hidden = count < (facts.snapshots.length ? 2 : 1);
    find("changes-label").hidden = count < 2;
    find("download").hidden = count === 0;
  }

  async show(i, again = true) {
    const snapshot = this.snapshots.list[i];
    if (snapshot === undefined) return;
    this.shown = i;
    this.describe(i);
    this.drawCurves();
    if (!again) return;
    const tour = await this.snapshots.tour(i);
    const ranks = this.view === undefined || !find("changes").checked ? null : await this.rank();
    // A later call may have come in between.
    if (this.shown !== i || this.snapshots.list[i] !== snapshot) return;
    this.tour = tour;
    if (i === this.snapshots.length - 1) this.itinerary.set(tour, ...(i === this.measured ? [this.legs, this.arrivals] : [null, null]));
    if (this.view === undefined) return;
    const n = tour.length;
    const mark = (k) => {
      const a = tour[k], b = tour[k + 1 === n ? 0 : k + 1];
      if (this.fixed.size > 0 && this.fixed.has(linkOf(a, b))) return FIXED;
      const apart = ranks === null ? 1 : Math.abs(ranks[a] - ranks[b]);
      return apart === 1 || (facts.closed && apart === n - 1) ? 0 : OTHER;
    };
    this.view.setPath(tourPath(this.cities, tour, facts.closed, mark));
  }

  // The place of each city in the best tour.
  async rank() {
    if (this.rankings == null) {
      const best = await this.snapshots.tour(this.snapshots.length - 1);
      this.rankings = new Int32Array(best.length);
      for (let k = 0; k < best.length; k++) this.rankings[best[k]] = k;
    }
    return this.rankings;
  }

  showAt(seconds) {
    const far = (s) => Math.abs(Math.log(Math.max(s.seconds, 1e-4) / Math.max(seconds, 1e-4)));
    let nearest = 0;
    this.snapshots.list.forEach((s, i, list) => {
      if (far(s) < far(list[nearest])) nearest = i;
    });
    this.choose(nearest);
  }

  // The user's choice.
  choose(i) {
    const last = this.snapshots.length - 1;
    i = Math.min(Math.max(i, 0), last);
    this.follow = i === last;
    if (i !== this.shown) return this.show(i);
  }

  describe(i) {
    const snapshot = this.snapshots.list[i], last = this.snapshots.length - 1;
    const slider = find("slider");
    slider.value = i;
    const best = this.snapshots.list[last].length;
    const over = i === last || !(best > 0) ? "" : `, ${percent(snapshot.length / best - 1)} over the best`;
    const when = facts.timed ? `after ${duration(snapshot.seconds)}` : (facts.settings[i]?.[1] ?? `tour ${i + 1}`);
    const size = facts.metres > 0 ? distanceText(snapshot.length) : snapshot.text;
    this.setShown(facts.metres > 0 ? size : grouped(size), "", over, `${i + 1} of ${last + 1}, ${when}`);
    const text = `length ${size}${over}, ${when}`;
    slider.setAttribute("aria-valuetext", `${i + 1} of ${last + 1}: ${text}`);
    const kind = facts.closed ? "Closed tour" : "Open path";
    (this.view?.canvas ?? find("picture")).setAttribute("aria-label", `${kind} of ${facts.cities} cities, ${text}`);
    find("download-what").textContent = i === last ? "The best tour." : `The tour shown, ${when}.`;
  }

  drawCurves() {
    if (this.curves !== undefined && this.snapshots !== undefined) this.curves.draw(this.snapshots.list, this.shown);
  }

  async play(on) {
    this.setPlaying(on && this.snapshots.length > 1);
    if (!this.playing) return;
    let i = this.shown === this.snapshots.length - 1 ? 0 : this.shown + 1;
    while (this.playing && i < this.snapshots.length) {
      const begun = performance.now();
      await this.choose(i);
      await new Promise((resolve) => setTimeout(resolve, Math.max(60, 650 - (performance.now() - begun))));
      if (this.shown !== i) break; // the user went elsewhere
      i++;
    }
    if (this.playing) this.play(false);
  }

  // The picture

  // What is at a place of the tour, beside the pixel (px, py).
  tell(place, px, py) {
    const here = find("here");
    if (place === null) {
      here.textContent = "";
      return;
    }
    const city = this.tour[place % this.tour.length];
    const digits = (v) => (facts.columns[0] === "lat" ? v.toFixed(5) : Number(v.toPrecision(7)));
    const at = this.cities.place(city)?.map(digits).join(", ");
    const name = this.cities.labels === null ? "" : `${this.cities.labels[city]}, `;
    const stop = place % this.tour.length, way = this.shown === this.measured ? this.itinerary.way : null;
    const when = way === null ? "" : this.itinerary.when(stop);
    const far = way === null ? "" : `, ${distanceText(way[stop], stop)} from the start${when && ` (${when})`}`;
    here.textContent = `${name}city ${this.cities.id(city)}${at ? ` at ${at}` : ""}; stop ${stop + 1} of ${this.tour.length}${far}`;
    const { clientWidth: width, clientHeight: height } = find("stage");
    const x0 = Math.max(4, Math.min(px + 14, width - here.offsetWidth - 4));
    const y0 = py + 14 + here.offsetHeight > height ? py - 10 - here.offsetHeight : py + 14;
    here.style.transform = `translate(${x0}px, ${y0}px)`;
  }

  // A stop of the list.
  goTo(place) {
    if (this.view === undefined) return;
    if (this.shown !== this.snapshots.length - 1) this.choose(this.snapshots.length - 1);
    const city = this.itinerary.tour[place];
    this.view.goTo(this.cities.x[city], this.cities.y[city]);
    this.tell(place, ...this.view.pixel(this.cities.x[city], this.cities.y[city]));
  }

  mapFailed() {
    if (find("status").dataset.state !== "live") {
      this.setStatus({ text: `The map could not be loaded: no network, or ${this.server} refused.`, state: "error" });
    }
  }

  async download(kind) {
    const snapshot = this.snapshots.list[this.shown], tour = await this.snapshots.tour(this.shown);
    if (kind === "tour") save(fileName(".tour"), tourFile(this.cities, snapshot, tour), "text/plain");
    else save(fileName(".csv"), tableFile(this.cities, tour), "text/csv");
  }

  print() {
    const canvas = find("print");
    document.body.classList.toggle("listed", this.itinerary.print());
    if (this.view?.path == null) {
      canvas.hidden = true;
      return;
    }
    const colour = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
    const colours = { line: colour("#1f5499"), other: colour("#c8401f"), fixed: colour("#7a5c00"), paper: [1, 1, 1] };
    const printed = this.view.print(canvas, colours), context = canvas.getContext("2d");
    const onPaper = {
      "--line": "#1f5499", "--ink": "#000", "--panel": "#fff", "--sans": "sans-serif", "--land": "#f3f1ea", "--coast": "#b5b0a2",
    };
    this.world?.paint(canvas, printed, (name) => onPaper[name]);
    if (this.labels.on) this.labels.paint(context, printed, (name) => onPaper[name]);
  }

  // The other theme, or, pressed again, that of the system: the rules for dark pages hold always, or never.
  switchTheme() {
    const system = "screen and (prefers-color-scheme: dark)", { style } = document.documentElement;
    this.darkRules ??= [...document.styleSheets[0].cssRules].filter((rule) => rule.media?.mediaText === system);
    if (style.colorScheme !== "") style.colorScheme = "";
    else style.colorScheme = window.matchMedia(system).matches ? "light" : "dark";
    for (const { media } of this.darkRules) media.mediaText = { dark: "screen", light: "not all" }[style.colorScheme] ?? system;
    this.view?.redraw();
  }

  // Keys and buttons

  listen() {
    super.listen();
    on("slider", "input", (event) => {
      this.play(false);
      this.choose(Number(event.target.value));
    });
    on("changes", "change", () => this.show(this.shown));
    on("download-tour", "click", () => this.download("tour"));
    on("download-table", "click", () => this.download("table"));
    on("theme", "click", () => this.switchTheme());
    on("numbers", "change", (event) => {
      this.labels.on = event.target.checked;
      this.labels.draw();
    });
    on("coasts", "change", (event) => {
      this.world.on = event.target.checked;
      this.world.draw();
    });
    on("keys", "click", () => find("help").showModal());
    on("map", "change", (event) => {
      this.map.set(event.target.checked);
      find("attribution").hidden = !event.target.checked;
      if (!event.target.checked && find("status").dataset.state === "error") this.setStatus({ text: "", state: "" });
    });
    window.addEventListener("beforeprint", () => this.print());
    window.addEventListener("afterprint", () => this.itinerary.draw());
    window.matchMedia("print").addEventListener("change", (event) => {
      if (event.matches) this.print();
      else this.itinerary.draw();
    });
    if (this.view === undefined) for (const id of ["zoom", "picture", "numbers-label"]) find(id).hidden = true;
  }

  keys(at, step) {
    if (find("help").open || at === find("find") || at === find("speed")) return {};
    const toggle = (id) => {
      if (!find(`${id}-label`).hidden) find(id).click();
    };
    const actions = Object.assign(super.keys(at, step), {
      ",": () => this.choose(this.shown - 1),
      ".": () => this.choose(this.shown + 1),
      "?": () => find("help").showModal(),
      d: () => toggle("changes"),
      m: () => toggle("map"),
      n: () => toggle("numbers"),
    });
    if (at !== find("slider")) {
      actions.Home = () => this.choose(0);
      actions.End = () => this.choose(this.snapshots.length - 1);
    }
    return actions;
  }
}

// A number for the link of two cities, whichever comes first.
function linkOf(a, b) {
  return Math.min(a, b) * facts.cities + Math.max(a, b);
}

window.warptspPage = new Page();
