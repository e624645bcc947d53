// The view: camera, what is in view, how fine it is drawn, pointer and wheel.

const MARGIN = 0.04; // of the picture's side, around the whole tour
const MOST_PIXELS_A_STEP = 24; // the deepest zoom
const FINE = 3_000_000; // edges of a picture that is not moving
const QUICK_FRAME = 24; // milliseconds; moving pictures get coarser until they take no longer
const DOTTED = 20_000; // cities in view up to which they are dots

class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.painter = null;
    if (location.hash !== "#plain") {
      try {
        this.painter = new GlPainter(canvas);
      } catch {
        // A canvas that was asked for one kind of context gives no other.
        const fresh = canvas.cloneNode(true);
        canvas.replaceWith(fresh);
        this.canvas = fresh;
      }
    }
    this.painter ??= new CanvasPainter(this.canvas);
    const isPlain = this.painter instanceof CanvasPainter;
    this.budget = isPlain ? 60_000 : 400_000; // edges of a moving picture
    this.fine = isPlain ? 400_000 : FINE;
    this.path = null;
    this.bounds = null; // the rectangle of all cities, once there is a path
    this.until = Infinity; // edges of the path that are drawn, from its start on
    this.camera = { x: 0, y: 0, scale: 1, width: 1, height: 1 };
    this.isWhole = true;
    this.listeners = [];
    this.moving = false;
    this.asked = false;
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.painter = new GlPainter(this.canvas);
      if (this.path !== null) this.painter.setPath(this.path);
      this.redraw();
    });
    this.listen();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (width === this.camera.width && height === this.camera.height && this.canvas.width === width) return;
    this.camera.width = this.canvas.width = width;
    this.camera.height = this.canvas.height = height;
    this.ratio = ratio;
    if (this.isWhole) this.fit();
    else this.redraw(true);
  }

  fitted(width, height) {
    const { left, right, bottom, top } = this.bounds;
    const across = Math.max(right - left, 1e-9), up = Math.max(top - bottom, 1e-9);
    const inner = 1 - 2 * MARGIN;
    let scale = Math.min((width * inner) / across, (height * inner) / up);
    scale = Math.min(scale, MOST_PIXELS_A_STEP * 100);
    return { x: (left + right) / 2, y: (bottom + top) / 2, scale, width, height };
  }

  fit() {
    if (this.bounds === null) return;
    Object.assign(this.camera, this.fitted(this.camera.width, this.camera.height));
    this.least = this.camera.scale / 4;
    this.most = Math.max(this.camera.scale * 4, MOST_PIXELS_A_STEP * this.ratio);
    this.isWhole = true;
    this.redraw(true);
  }

  setPath(path) {
    this.path = path;
    this.painter.setPath(path);
    const [{ points, edges }] = path.levels;
    this.typicalEdge = typicalEdge(path.levels[0]);
    if (this.bounds === null) {
      this.bounds = boundsOf(points, 0, edges);
      this.fit();
    }
    this.redraw(true);
  }

  // Moves

  pan(dx, dy) {
    this.camera.x -= (dx * this.ratio) / this.camera.scale;
    this.camera.y += (dy * this.ratio) / this.camera.scale;
    this.isWhole = false;
    this.redraw(true);
  }

  // Zoom by a factor; the point under (px, py), in pixels of the style sheet from the top left corner, stays.
  zoom(factor, px = this.canvas.clientWidth / 2, py = this.canvas.clientHeight / 2) {
    const before = this.at(px, py);
    this.camera.scale = Math.min(Math.max(this.camera.scale * factor, this.least), this.most);
    const after = this.at(px, py);
    this.camera.x += before.x - after.x;
    this.camera.y += before.y - after.y;
    this.isWhole = false;
    this.redraw(true);
  }

  at(px, py) {
    const { x, y, scale, width, height } = this.camera;
    return { x: x + (px * this.ratio - width / 2) / scale, y: y - (py * this.ratio - height / 2) / scale };
  }

  // Pixels of the style sheet at which a point of the plane is.
  pixel(x, y, camera = this.camera, ratio = this.ratio) {
    const { scale, width, height } = camera;
    return [((x - camera.x) * scale + width / 2) / ratio, ((camera.y - y) * scale + height / 2) / ratio];
  }

  // A city in the middle, near enough to tell it from its neighbours.
  goTo(x, y) {
    Object.assign(this.camera, { x, y });
    const near = (60 * this.ratio) / Math.max(this.typicalEdge, 1e-9);
    this.camera.scale = Math.min(Math.max(this.camera.scale, near, this.least), this.most);
    this.isWhole = false;
    this.redraw(true);
  }

  // Pictures

  redraw(moving = false) {
    this.canvas.classList.toggle("whole", this.isWhole);
    if (moving) {
      this.moving = true;
      clearTimeout(this.rest);
      this.rest = setTimeout(() => {
        this.moving = false;
        this.redraw();
      }, 140);
    }
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => {
      this.asked = false;
      this.draw(now);
    });
  }

  draw(now) {
    if (this.path === null || this.canvas.width < 2) return;
    // Frames that follow each other closely tell how long one takes.
    const took = now - (this.drawn ?? 0);
    this.drawn = now;
    if (this.moving && took < 500) {
      if (took > 2 * QUICK_FRAME) this.budget = Math.max(10_000, this.budget / 1.6);
      else if (took < QUICK_FRAME) this.budget = Math.min(FINE, this.budget * 1.05);
    }
    const picture = this.picture(this.camera, this.moving ? Math.min(this.budget, this.fine) : this.fine, style());
    this.painter.paint(this.camera, picture);
    this.settled = !this.moving;
    for (const listener of this.listeners) listener();
  }

  // What to draw for a camera, with so many edges at most.
  picture(camera, budget, colours, ratio = this.ratio) {
    const window = windowOf(camera);
    let level = 0, seen = this.path.levels[0].inView(window);
    const cities = seen.edges;
    const near = this.begun(seen.ranges, 0);
    while ((seen.edges > budget || level < this.painter.finest) && level + 1 < this.path.levels.length) {
      seen = this.path.levels[++level].inView(window);
    }
    // Short edges: a thin line, and a fainter one, so that what is dense looks dense.
    const edge = (this.typicalEdge * camera.scale) / ratio;
    const width = Math.min(2.1, Math.max(0.75, 0.55 + 0.3 * Math.log2(1 + edge))) * ratio;
    const strength = level > 0 && edge < 2 ? 0.75 : Math.min(1, Math.max(0.5, 0.45 + edge / 8));
    let dots = null;
    if (cities <= DOTTED && edge > 7 && this.painter.finest === 0) {
      const radius = Math.min(4.2, 0.9 + edge / 14);
      dots = { radius: radius * ratio, ring: Math.min(1.5, 0.45 * radius) * ratio, ranges: near };
      if (dots.ranges.length === 0 && this.path.levels[0].edges === 0) dots.ranges = [[0, 0]];
    }
    const { line, other, fixed, paper } = colours;
    const marked = [[...line, strength], [...other, Math.max(strength, 0.6)], [...fixed, 1]];
    return { level, ranges: this.begun(seen.ranges, level), style: { colours: marked, paper, width }, dots };
  }

  // The parts of ranges that are drawn.
  begun(ranges, level) {
    const end = Math.ceil(this.until / COARSER ** level);
    return end === Infinity ? ranges : ranges.filter(([first]) => first < end).map(([first, last]) => [first, Math.min(last, end)]);
  }

  // For print: what is in view, or the whole tour, on white; returned is what Labels need to write over it.
  print(canvas, colours) {
    const ratio = 3.4, { clientWidth, clientHeight } = this.canvas;
    const shape = this.isWhole
      ? { wide: Math.max(this.bounds.right - this.bounds.left, 1e-9), high: Math.max(this.bounds.top - this.bounds.bottom, 1e-9) }
      : { wide: clientWidth, high: clientHeight };
    const long = 2200;
    canvas.width = Math.max(300, Math.round(Math.min(long, (long * shape.wide) / shape.high)));
    canvas.height = Math.max(300, Math.round(Math.min(long, (long * shape.high) / shape.wide)));
    const camera = this.isWhole
      ? this.fitted(canvas.width, canvas.height)
      : { ...this.camera, width: canvas.width, height: canvas.height, scale: (this.camera.scale * canvas.width) / this.camera.width };
    const painter = new CanvasPainter(canvas);
    painter.setPath(this.path);
    painter.paint(camera, this.picture(camera, 400_000, colours, ratio));
    return { camera, ratio, path: this.path, pixel: (x, y) => this.pixel(x, y, camera, ratio) };
  }

  // The city nearest to a place of the picture, if one is within some pixels and there is time to look.
  nearest(px, py, reach = 14) {
    if (this.path === null) return null;
    const { x, y } = this.at(px, py), far = (reach * this.ratio) / this.camera.scale;
    const level = this.path.levels[0];
    const seen = level.inView({ left: x - far, right: x + far, bottom: y - far, top: y + far });
    if (seen.edges > 300_000) return null;
    let best = null, least = far * far;
    for (const [first, end] of seen.ranges.length || level.edges ? seen.ranges : [[0, 0]]) {
      for (let i = first; i <= end; i++) {
        const dx = level.points[2 * i] - x, dy = level.points[2 * i + 1] - y, distance = dx * dx + dy * dy;
        if (distance <= least) {
          least = distance;
          best = i;
        }
      }
    }
    return best;
  }

  // Pointer

  listen() {
    const canvas = this.canvas, pointers = new Map();
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      this.zoom(Math.exp((-event.deltaY * lines * (event.ctrlKey ? 4 : 1)) / 500), ...place(event));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
      this.pressed = place(event);
      canvas.classList.add("dragged");
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId), now = place(event);
      if (before === undefined) {
        this.hover?.(this.nearest(...now), ...now);
        return;
      }
      pointers.set(event.pointerId, now);
      if (pointers.size === 1) {
        this.pan(now[0] - before[0], now[1] - before[1]);
        return;
      }
      // Two fingers: the middle moves the picture, their distance zooms it.
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const middle = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
      this.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
      const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
      const is = Math.hypot(now[0] - other[0], now[1] - other[1]);
      if (was > 4) this.zoom(is / was, ...middle);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => {
        pointers.delete(event.pointerId);
        const now = place(event), still = Math.hypot(now[0] - this.pressed[0], now[1] - this.pressed[1]) < 6;
        if (name === "pointerup" && still) this.hover?.(this.nearest(...now, event.pointerType === "mouse" ? 14 : 24), ...now);
        if (pointers.size === 0) canvas.classList.remove("dragged");
      });
    }
    canvas.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.hover?.(null); // a finger leaves as soon as it is lifted
    });
    canvas.addEventListener("dblclick", (event) => this.zoom(2, ...place(event)));
  }
}

// The rectangle of the plane that a camera sees.
function windowOf({ x, y, width, height, scale }) {
  const across = width / 2 / scale, up = height / 2 / scale;
  return { left: x - across, right: x + across, bottom: y - up, top: y + up };
}

// The canvas that lies above or below a view, as large as its own; returned is what tells colours of the style sheet.
function laidOver(canvas, view) {
  const { width, height } = view.canvas, computed = getComputedStyle(document.documentElement);
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  return (name) => computed.getPropertyValue(name).trim();
}

function typicalEdge(level) {
  if (level.edges === 0) return Infinity;
  const { points } = level, stride = Math.max(1, Math.floor(level.edges / 20_000));
  const lengths = [];
  for (let i = 0; i < level.edges; i += stride) {
    lengths.push(Math.hypot(points[2 * i + 2] - points[2 * i], points[2 * i + 3] - points[2 * i + 1]));
  }
  lengths.sort((a, b) => a - b);
  return lengths[lengths.length >> 1] || lengths[lengths.length - 1];
}

// The colours of the style sheet, as three numbers from 0 to 1 each.
function style() {
  const computed = getComputedStyle(document.documentElement);
  const colour = (name) => {
    const hex = computed.getPropertyValue(name).trim().replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3");
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
  };
  return { line: colour("--line"), other: colour("--other"), fixed: colour("--fixed"), paper: colour("--panel") };
}
