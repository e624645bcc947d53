// Coastlines and borders below the tour, from the page itself: Natural Earth, 1:110 million (public domain).

const DEGREE = 20; // steps
const COARSE = 20_000; // pixels of the world's width from which these lines are too coarse to be of use

class World {
  static async load(canvas, view) {
    const world = new World(), [x, y, sizes] = await Promise.all([
      integersOf("world-x", true), integersOf("world-y", true), integersOf("world-sizes", false),
    ]);
    const { step, low } = facts.plane;
    world.x = Float64Array.from(x, (lon) => (lon / DEGREE / 360 + 0.5 - low[0]) / step);
    world.y = Float64Array.from(y, (lat) => (Math.asinh(Math.tan((lat / DEGREE) * (Math.PI / 180))) / (2 * Math.PI) + 0.5 - low[1]) / step);
    Object.assign(world, { sizes, canvas, view, on: true });
    view.listeners.push(() => world.draw());
    return world;
  }

  draw() {
    const { canvas, view } = this;
    const colour = laidOver(canvas, view);
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    this.drawn = this.paint(canvas, view, colour);
  }

  // Below what is on a canvas; returned is whether the lines are wanted, and fine enough.
  paint(canvas, { camera, ratio }, colour) {
    const { x, y } = this, { width, height } = canvas;
    const context = canvas.getContext("2d"), round = 1 / facts.plane.step;
    if (!this.on || (camera.scale * round) / ratio >= COARSE) return false;
    context.globalCompositeOperation = "destination-over"; // what comes first lies on top
    context.fillStyle = colour("--land");
    context.strokeStyle = colour("--coast");
    context.lineWidth = 0.8 * ratio;
    const { left, right } = windowOf(camera);
    const start = x.reduce((least, v) => Math.min(least, v), Infinity);
    for (let turn = Math.floor((left - start) / round); turn <= Math.floor((right - start) / round); turn++) {
      context.beginPath();
      let i = 0;
      for (const size of this.sizes) {
        for (const end = i + size, first = i; i < end; i++) {
          const px = (x[i] + turn * round - camera.x) * camera.scale + width / 2;
          const py = height / 2 - (y[i] - camera.y) * camera.scale;
          if (i === first) context.moveTo(px, py);
          else context.lineTo(px, py);
        }
      }
      context.stroke();
      context.fill();
    }
    context.globalCompositeOperation = "source-over";
    return true;
  }
}
