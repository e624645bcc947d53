// What lies above the tour: where it starts, in which direction it goes, and the numbers and names of stops.
// As in pictures, but anew at each zoom.

const LABELLED = 400; // stops in view up to which they have numbers
const ARROW_EDGE = 44; // pixels of an edge that has an arrow

class Labels {
  // tour() is the tour that is shown.
  constructor(canvas, view, cities, tour) {
    this.canvas = canvas;
    this.view = view;
    this.cities = cities;
    this.tour = tour;
    this.on = true;
    view.listeners.push(() => this.draw());
  }

  draw() {
    const { canvas, view } = this, colour = laidOver(canvas, view), context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    Object.assign(this, this.paint(context, view, colour, [this.buttons()]));
  }

  // The box of the buttons that lie above the picture.
  buttons() {
    const { left, top } = this.canvas.getBoundingClientRect(), box = document.getElementById("zoom").getBoundingClientRect();
    return [box.left - left, box.top - top, box.right - left, box.bottom - top];
  }

  // Over the picture that a camera sees, on the screen or on paper; view: its path, camera, ratio and pixel(). Nothing
  // is written into boxes that are covered. Returned is what is written.
  paint(context, view, colour, covered = []) {
    const { camera, ratio } = view, tour = this.tour();
    const shown = [], ends = [];
    if (tour === undefined) return { shown, ends };
    context.save();
    context.scale(ratio, ratio);
    const plain = `11px ${colour("--sans")}`, bold = `bold ${plain}`;
    context.font = plain;
    context.textBaseline = "middle";
    const at = (place) => view.pixel(this.cities.x[tour[place]], this.cities.y[tour[place]]);
    for (const [place, text] of facts.closed ? [[0, "start"]] : [[0, "start"], [tour.length - 1, "end"]]) {
      const [x, y] = at(place), box = [x + 8, y - 24, x + 20 + context.measureText(text).width, y - 6];
      context.fillStyle = colour("--ink");
      context.fillRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
      context.fillStyle = colour("--panel");
      context.fillText(text, box[0] + 6, y - 15);
      ends.push({ place, text, box });
    }
    const places = (this.on && this.inView(tour, view)) || [];
    context.fillStyle = colour("--line");
    for (const place of places) this.arrow(context, at(place), at((place + 1) % tour.length), place, tour.length);
    context.lineJoin = "round";
    context.strokeStyle = colour("--panel");
    context.lineWidth = 4; // of the halo, half of which the letters cover
    const dots = places.map((place) => at(place)), boxes = [...covered, ...ends.map((end) => end.box)];
    for (const [x, y] of dots) boxes.push([x - 4, y - 4, x + 4, y + 4]);
    const [wide, high] = [camera.width / ratio, camera.height / ratio];
    const fits = (box) =>
      box[0] >= 0 && box[1] >= 0 && box[2] <= wide && box[3] <= high &&
      boxes.every((b) => box[0] >= b[2] || box[2] <= b[0] || box[1] >= b[3] || box[3] <= b[1]);
    places.forEach((place, i) => {
      const number = String(place + 1), name = this.cities.labels?.[tour[place]] ?? "";
      const short = name.length > 28 ? `${name.slice(0, 27)}…` : name;
      for (const text of short === "" ? [""] : [short, ""]) {
        context.font = bold;
        const apart = context.measureText(number).width + (text === "" ? 0 : 6);
        context.font = plain;
        const box = this.around(dots[i], apart + context.measureText(text).width, fits);
        if (box === undefined) continue;
        boxes.push(box);
        const y = (box[1] + box[3]) / 2;
        // The number, bold and in the colour of the line, and the name, which may begin with one of its own.
        for (const [font, fill, written, x] of [[bold, "--line", number, 1], [plain, "--ink", text, 1 + apart]]) {
          context.font = font;
          context.fillStyle = colour(fill);
          context.strokeText(written, box[0] + x, y);
          context.fillText(written, box[0] + x, y);
        }
        shown.push({ place, number, text, box });
        break;
      }
    });
    context.restore();
    return { shown, ends };
  }

  // The first box beside a dot in which there is nothing yet.
  around([x, y], width, fits) {
    const half = 7, apart = 6;
    return [
      [x + apart, y - half], [x - apart - width - 2, y - half], [x - width / 2, y - apart - 2 * half], [x - width / 2, y + apart],
      [x + apart, y - apart - 2 * half], [x + apart, y + apart],
    ].map(([left, top]) => [left, top, left + width + 2, top + 2 * half]).find(fits);
  }

  // Places of the tour in view; null if they are too many to be told apart.
  inView(tour, { camera, path }) {
    if (path === null || path.levels[0].points.length < 2) return null;
    const window = windowOf(camera);
    const { ranges, edges } = path.levels[0].inView(window), found = [];
    if (edges > 40 * LABELLED) return null;
    for (const [first, end] of ranges) {
      for (let place = first; place <= Math.min(end, tour.length - 1); place++) {
        const x = this.cities.x[tour[place]], y = this.cities.y[tour[place]];
        if (x >= window.left && x <= window.right && y >= window.bottom && y <= window.top) found.push(place);
        if (found.length > LABELLED) return null;
      }
    }
    return [...new Set(found)];
  }

  // In the middle of an edge, towards the next stop.
  arrow(context, [x, y], [u, v], place, n) {
    const length = Math.hypot(u - x, v - y);
    if ((place + 1 === n && !facts.closed) || length < (place === 0 ? 18 : ARROW_EDGE)) return;
    const [a, b] = [(u - x) / length, (v - y) / length], [mx, my] = [(x + u) / 2, (y + v) / 2];
    context.beginPath();
    context.moveTo(mx + 5 * a, my + 5 * b);
    context.lineTo(mx - 4 * a - 4 * b, my - 4 * b + 4 * a);
    context.lineTo(mx - 4 * a + 4 * b, my - 4 * b - 4 * a);
    context.fill();
  }
}
