// A map below the tour: raster tiles of who the report names, loaded only while it is switched on.

const TILE = 256;
const DEEPEST = 19;

class TileMap {
  constructor(element, view, failed) {
    this.element = element;
    this.view = view;
    this.failed = failed;
    this.tiles = new Map();
    this.on = false;
    this.refused = false;
    view.listeners.push(() => this.update());
  }

  set(on) {
    this.on = on;
    this.refused = false;
    if (!on) {
      for (const tile of this.tiles.values()) this.remove(tile);
      this.tiles.clear();
    }
    this.update();
  }

  update() {
    if (!this.on || this.refused) return;
    const { view } = this, { step, low } = facts.plane, { camera, ratio } = view;
    const world = camera.scale / step / ratio; // pixels of the style sheet that the world is wide
    const depth = Math.min(DEEPEST, Math.max(0, Math.round(Math.log2(world / TILE))));
    const count = 2 ** depth, size = world / count;
    // The world from its north-west corner, in tiles.
    const column = (px) => ((low[0] + view.at(px, 0).x * step) * count);
    const row = (py) => ((1 - low[1] - view.at(0, py).y * step) * count);
    const left = Math.floor(column(0)), right = Math.floor(column(view.canvas.clientWidth));
    const top = Math.max(0, Math.floor(row(0)));
    const bottom = Math.min(count - 1, Math.floor(row(view.canvas.clientHeight)));
    const [x0, y0] = view.pixel((0 - low[0]) / step, (1 - low[1]) / step);
    const wanted = new Set();
    for (let y = top; y <= bottom; y++) {
      for (let x = left; x <= right; x++) {
        const around = ((x % count) + count) % count, key = `${depth}/${around}/${y}@${x}`;
        wanted.add(key);
        let tile = this.tiles.get(key);
        if (tile === undefined) {
          const place = { "{z}": depth, "{x}": around, "{y}": y };
          tile = this.made(facts.tiles[0].replace(/{[xyz]}/g, (name) => place[name]));
          this.tiles.set(key, tile);
        }
        tile.style.transform = `translate(${x0 + x * size}px, ${y0 + y * size}px) scale(${size / TILE})`;
      }
    }
    for (const [key, tile] of this.tiles) {
      if (!wanted.has(key)) {
        this.remove(tile);
        this.tiles.delete(key);
      }
    }
  }

  made(address) {
    const tile = new Image(TILE, TILE);
    tile.alt = "";
    tile.draggable = false;
    tile.dataset.address = address;
    this.element.append(tile);
    this.load(tile, address).catch(() => {
      tile.remove();
      if (!this.on || this.refused) return;
      this.refused = true; // asked again only when the map is switched on again
      this.failed();
    });
    return tile;
  }

  // An image that comes with status 403 loads like any other, and shows the words of who refused: so it is fetched.
  async load(tile, address) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${response.status}`);
    tile.src = URL.createObjectURL(await response.blob());
    await tile.decode();
  }

  remove(tile) {
    tile.remove();
    if (tile.src) URL.revokeObjectURL(tile.src);
  }
}
