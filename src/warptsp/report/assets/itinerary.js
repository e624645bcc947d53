// The stops of the best tour as a list: only the rows in view exist.

const ROW_HEIGHT = 38; // as in the style sheet
const PRINTED = 1000; // stops up to which paper has them all

class Itinerary {
  // choose(place) is called with a place of the tour.
  constructor(section, cities, choose) {
    this.section = section;
    this.cities = cities;
    this.choose = choose;
    this.list = section.querySelector("#stops");
    this.room = document.createElement("div");
    this.list.append(this.room);
    this.search = section.querySelector("#find");
    this.speed = section.querySelector("#speed");
    this.tour = null;
    this.chosen = -1;
    this.search.addEventListener("input", () => this.filter());
    this.speed.addEventListener("input", () => this.draw());
    this.list.addEventListener("scroll", () => this.draw());
    this.list.addEventListener("keydown", (event) => this.key(event));
    if (facts.metres > 0) section.querySelector("#speed-unit").textContent = "km/h";
    if (facts.speed !== null) this.speed.value = facts.speed;
  }

  // legs: of this tour in steps of facts.leg, arrivals: seconds from the start; null if nobody knows them.
  set(tour, legs, arrivals) {
    this.tour = tour;
    this.arrivals = arrivals;
    this.way = null;
    if (legs !== null) {
      this.way = new Float64Array(legs.length + 1);
      for (let i = 0; i < legs.length; i++) this.way[i + 1] = this.way[i] + facts.leg * legs[i];
    }
    this.section.hidden = false;
    this.speed.parentElement.hidden = legs === null || (arrivals !== null && facts.speed === null);
    this.filter();
  }

  name(place) {
    const city = this.tour[place];
    return this.cities.labels === null ? `city ${this.cities.id(city)}` : this.cities.labels[city];
  }

  filter() {
    const wanted = this.search.value.trim().toLocaleLowerCase(), id = wanted.replace(/^city\s+/, "");
    this.rows = null;
    if (wanted !== "") {
      const exact = [], others = []; // what has the name or number itself comes first
      for (let place = 0; place < this.tour.length; place++) {
        const name = this.name(place).toLocaleLowerCase();
        if (name === wanted || String(this.cities.id(this.tour[place])) === id) exact.push(place);
        else if (name.includes(wanted) || String(place + 1) === wanted) others.push(place);
      }
      this.rows = [...exact, ...others];
    }
    const back = facts.closed && this.way !== null && wanted === "" ? 1 : 0; // the way back to the start
    this.count = (this.rows ?? this.tour).length + back;
    this.section.querySelector("#found").textContent = this.rows === null ? "" : `${grouped(this.rows.length)} found`;
    this.room.style.height = `${this.count * ROW_HEIGHT}px`;
    this.draw();
  }

  draw() {
    if (this.tour === null) return;
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW_HEIGHT) - 2);
    const last = Math.min(this.count, Math.ceil((this.list.scrollTop + this.list.clientHeight) / ROW_HEIGHT) + 2);
    const rows = [];
    for (let i = first; i < last; i++) rows.push(this.row(i));
    this.room.replaceChildren(...rows);
  }

  // All stops, whatever the list shows, in place of the rows in view; false if they are too many.
  print() {
    const { rows, tour } = this, few = tour !== null && tour.length <= PRINTED;
    this.rows = null;
    const count = few ? tour.length + (facts.closed && this.way !== null ? 1 : 0) : 0;
    this.room.replaceChildren(...Array.from({ length: count }, (_, i) => this.row(i)));
    this.rows = rows;
    return few;
  }

  row(i) {
    const place = this.rows === null ? i : this.rows[i], home = place === this.tour.length;
    const row = document.createElement("div");
    const cell = (kind, text, more) => {
      const made = document.createElement(more?.href ? "a" : "span");
      row.append(Object.assign(made, { className: kind, textContent: text, ...more }));
    };
    row.className = "stop";
    row.setAttribute("role", "listitem");
    row.setAttribute("aria-current", String(place === this.chosen));
    row.style.top = `${i * ROW_HEIGHT}px`;
    cell("number", home ? "" : grouped(place + 1));
    cell("name", home ? `back to ${this.name(0)}` : this.name(place));
    if (this.way !== null) {
      cell("way", distanceText(this.way[place], place));
      cell("leg", place === 0 ? "start" : `+ ${distanceText(this.way[place] - this.way[place - 1])}`);
      cell("time", this.when(place));
    }
    if (facts.columns[0] === "lat") {
      const at = this.cities.place(this.tour[home ? 0 : place]).map((v) => v.toFixed(6)).join();
      cell("go", "➤", { href: `geo:${at}?q=${at}`, tabIndex: -1, ariaLabel: `Navigate to ${this.name(home ? 0 : place)}` });
    }
    row.addEventListener("click", () => this.pick(home ? 0 : place));
    return row;
  }

  // When a place is reached: as the page was made, or at the speed that was typed.
  when(place) {
    const speed = Number(this.speed.value);
    let seconds = this.arrivals?.[place];
    if (this.arrivals === null || (facts.speed !== null && speed !== facts.speed)) {
      if (!(speed > 0)) return "";
      seconds = (3.6 * this.way[place] * (facts.metres || 1000)) / speed + facts.stopTime * Math.max(0, place - 1);
    }
    return facts.depart === null ? hoursText(seconds / 3600) : clockText(facts.depart + seconds);
  }

  pick(place) {
    this.chosen = place;
    this.draw();
    this.choose(place);
  }

  key(event) {
    if (event.key === "Enter") this.room.querySelector("[aria-current=true] .go")?.click();
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (by === undefined || this.count === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const rows = this.rows ?? this.tour, now = this.rows === null ? this.chosen : this.rows.indexOf(this.chosen);
    const next = Math.min(Math.max(now + by, 0), rows.length - 1), place = this.rows === null ? next : rows[next];
    this.list.scrollTop = Math.min(Math.max(this.list.scrollTop, (next + 1) * ROW_HEIGHT - this.list.clientHeight), next * ROW_HEIGHT);
    this.pick(place);
  }
}

// Of a sum of legs without a unit as many digits as the steps of its legs tell.
function distanceText(distance, legs = 1) {
  if (facts.seconds) return hoursText(distance / 3600);
  const metres = distance * facts.metres;
  if (facts.metres > 0) return metres < 1000 ? `${metres.toFixed(0)} m` : `${grouped((metres / 1000).toFixed(metres < 1e5 ? 1 : 0))} km`;
  if (facts.integral) return grouped(Math.round(distance));
  const sure = Math.floor(Math.log10(distance / (facts.leg * Math.max(1, legs))));
  return grouped(Number(distance.toPrecision(Math.min(Math.max(sure, 1), 6))));
}

// A time of day, as GTFS has it: 25:10 is ten past one of the next day.
function clockText(seconds) {
  const minutes = Math.floor(Math.round(seconds) / 60);
  return [Math.floor(minutes / 60), minutes % 60].map((n) => String(n).padStart(2, "0")).join(":");
}

function hoursText(hours) {
  const exact = Math.round(3600 * hours), whole = exact < 3600 ? exact : 60 * Math.round(60 * hours);
  const pieces = [[Math.floor(whole / 86400), "d"], [Math.floor(whole / 3600) % 24, "h"], [Math.floor(whole / 60) % 60, "min"], [whole % 60, "s"]];
  return pieces.filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`).join(" ") || "0 s";
}
