// The page's facts and arrays; the inverse of plotting/packed.py.

const facts = JSON.parse(document.getElementById("facts").textContent);

// Bytes of an array of the page, null if it has no such array.
async function bytesOf(name) {
  const element = document.getElementById(`array-${name}`);
  if (element === null) return null;
  const text = atob(element.textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Integers, from byte planes and zigzag; summed up if the page holds their differences.
async function integersOf(name, differences) {
  const bytes = await bytesOf(name);
  if (bytes === null) return null;
  const n = bytes.length / 4;
  const values = new Int32Array(n);
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const zigzag = bytes[i] | (bytes[n + i] << 8) | (bytes[2 * n + i] << 16) | (bytes[3 * n + i] << 24);
    const value = (zigzag >>> 1) ^ -(zigzag & 1);
    sum = differences ? (sum + value) | 0 : value;
    values[i] = sum;
  }
  return values;
}

async function realsOf(name) {
  const bytes = await bytesOf(name);
  if (bytes === null) return null;
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
}

async function textOf(name) {
  const bytes = await bytesOf(name);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

// The cities, numbered along the best tour that the page was made with.
class Cities {
  static async load() {
    const cities = new Cities();
    [cities.order, cities.x, cities.y] = await Promise.all([
      integersOf("order", false),
      integersOf("x", true),
      integersOf("y", true),
    ]);
    cities.n = cities.order.length;
    cities.ids = (await textOf("ids"))?.split("\n") ?? null;
    cities.columns = await Promise.all(facts.columns.map((title) => realsOf(`column-${title}`)));
    const labels = await textOf("labels");
    cities.labels = labels === null ? null : JSON.parse(labels);
    return cities;
  }

  // The number that files give to a city.
  id(city) {
    return this.ids === null ? this.order[city] + 1 : this.ids[city];
  }

  // A tour in the numbers of the instance, counted from 0, in the page's numbers.
  fromInstance(tour) {
    if (this.numbers === undefined) {
      this.numbers = new Int32Array(this.n);
      for (let i = 0; i < this.n; i++) this.numbers[this.order[i]] = i;
    }
    if (tour.length !== this.n) throw new RangeError(`a tour of ${tour.length} cities, not of ${this.n}`);
    return Int32Array.from(tour, (city) => this.numbers[city]);
  }

  // The coordinates of a city, null if the page does not hold all their digits.
  place(city) {
    if (this.columns.length) return this.columns.map((column) => column[city]);
    return facts.exact ? [this.x[city], this.y[city]].map((steps, axis) => facts.plane.low[axis] + steps) : null;
  }
}

// Tours of the run in order of time; those of the page are unpacked when they are first shown.
class Snapshots {
  constructor(cities) {
    this.cities = cities;
    this.list = facts.snapshots.map((snapshot, i) => ({ ...snapshot, name: `tour-${i}`, tour: null }));
    // At most a quarter of a gigabyte.
    this.most = Math.max(4, Math.min(64, Math.floor(2 ** 26 / cities.n)));
  }

  get length() {
    return this.list.length;
  }

  async tour(i) {
    const snapshot = this.list[i];
    if (snapshot.tour === null) snapshot.tour = await integersOf(snapshot.name, true);
    return snapshot.tour;
  }

  add(seconds, length, tour) {
    this.list.push({ seconds, length, text: lengthText(length), tour: this.cities.fromInstance(tour) });
    if (this.list.length > this.most) this.dropOne();
  }

  // The one between the two closest neighbours goes, on a logarithmic axis of time; the first and the last stay.
  dropOne() {
    const when = this.list.map((snapshot) => Math.log(Math.max(snapshot.seconds, 1e-6)));
    let closest = 1;
    for (let i = 1; i < when.length - 1; i++) {
      if (when[i + 1] - when[i - 1] < when[closest + 1] - when[closest - 1]) closest = i;
    }
    this.list.splice(closest, 1);
  }
}

// As warptsp writes lengths: integers in full, others with ten digits, and so those that a browser has rounded.
function lengthText(length) {
  return facts.integral && Number.isSafeInteger(length) ? String(length) : String(Number(length.toPrecision(10)));
}

function grouped(number) {
  const [whole, part] = String(number).split(".");
  const digits = whole.length > 4 && /^-?\d+$/.test(whole) ? whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") : whole;
  return part === undefined ? digits : `${digits}.${part}`;
}

function percent(share) {
  if (share === 0) return "0 %";
  const value = 100 * share;
  return `${value >= 100 ? value.toFixed(0) : value >= 0.001 ? value.toPrecision(3) : value.toExponential(1)} %`;
}

function duration(seconds) {
  if (seconds >= 3600) return hoursText(seconds / 3600);
  if (seconds >= 600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${seconds >= 100 ? seconds.toFixed(0) : seconds >= 10 ? seconds.toFixed(1) : seconds.toFixed(2)} s`;
}
