// What draws: WebGL 2, or a plain canvas where there is none (and for print).
//
// Both are given a path: levels of vertices in tour order, each level with every fourth vertex of the one before.
// A picture is a level, the ranges of its edges that may be in view, and a style: a width, and a colour for each mark,
// red, green, blue and opacity. Coordinates are whole numbers
// below 2^24, which float32 holds exactly; the shader subtracts the whole part of the centre first, so that
// nothing trembles at any zoom.

const CHUNK = 256; // edges with one box
const COARSER = 4;
const LEAST_VERTICES = 4000; // of a level that gets a coarser one
const [OTHER, FIXED] = [1, 2]; // marks of edges

// The rectangle around the vertices from first to last.
function boundsOf(points, first, last) {
  let left = Infinity, right = -Infinity, bottom = Infinity, top = -Infinity;
  for (let i = first; i <= last; i++) {
    const x = points[2 * i], y = points[2 * i + 1];
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < bottom) bottom = y;
    if (y > top) top = y;
  }
  return { left, right, bottom, top };
}

class Level {
  constructor(points, marks) {
    this.points = points; // x, y of each vertex
    this.marks = marks; // of each edge: 0, OTHER or FIXED for another colour
    this.edges = points.length / 2 - 1;
    this.boxes = Array.from({ length: Math.ceil(this.edges / CHUNK) }, (_, c) =>
      boundsOf(points, c * CHUNK, Math.min((c + 1) * CHUNK, this.edges)),
    );
  }

  coarser() {
    const edges = Math.ceil(this.edges / COARSER);
    const points = new Float32Array(2 * (edges + 1)), marks = new Uint8Array(edges);
    for (let i = 0; i <= edges; i++) {
      const from = Math.min(i * COARSER, this.edges);
      points[2 * i] = this.points[2 * from];
      points[2 * i + 1] = this.points[2 * from + 1];
      if (i === edges) break;
      marks[i] = this.marks[from];
      for (let k = from + 1; k < Math.min(from + COARSER, this.edges); k++) if (this.marks[k] === FIXED) marks[i] = FIXED;
    }
    return new Level(points, marks);
  }

  // Ranges [first edge, end) of chunks whose box meets the window; close ones joined.
  inView(window) {
    const ranges = [];
    let edges = 0;
    for (let c = 0; c < this.boxes.length; c++) {
      const box = this.boxes[c];
      if (box.left > window.right || box.right < window.left || box.bottom > window.top || box.top < window.bottom) continue;
      const first = c * CHUNK, end = Math.min(first + CHUNK, this.edges), last = ranges[ranges.length - 1];
      if (last !== undefined && first - last[1] <= CHUNK) last[1] = end;
      else ranges.push([first, end]);
      edges += end - first;
    }
    return { ranges, edges };
  }
}

// The path of a tour; mark(i) is that of the edge behind its i-th city.
function tourPath(cities, tour, closed, mark) {
  const n = tour.length, edges = closed && n > 1 ? n : n - 1;
  const points = new Float32Array(2 * (edges + 1)), marks = new Uint8Array(edges);
  for (let i = 0; i <= edges; i++) {
    const city = tour[i === n ? 0 : i];
    points[2 * i] = cities.x[city];
    points[2 * i + 1] = cities.y[city];
    if (i < edges) marks[i] = mark(i);
  }
  return pathOf(points, marks);
}

// A path through vertices, finer and coarser.
function pathOf(points, marks) {
  const levels = [new Level(points, marks)];
  while (levels[levels.length - 1].edges > LEAST_VERTICES) levels.push(levels[levels.length - 1].coarser());
  return { levels };
}

// Vertices are fetched from textures by their number: instances, one for each edge, are many times slower in
// software, and where there is a graphics card this is as fast.
const ROW = 2048; // texels
const EXTRA = 2; // pixels that a fixed edge is wider
const FETCH = `#version 300 es
uniform highp sampler2D points;
uniform vec2 whole, rest, half_size;
uniform float scale;
vec2 point(int i) {
  return (texelFetch(points, ivec2(i % ${ROW}, i / ${ROW}), 0).xy - whole - rest) * scale;
}
// The corners of two triangles: 0 1 2, 1 2 3.
int corner(int vertex) {
  int k = vertex % 6;
  return k > 2 ? k - 2 : k;
}`;
const LINE_VERTICES = `${FETCH}
uniform highp sampler2D marks;
uniform float width;
out float across;
flat out float wide;
flat out int mark;
void main() {
  int edge = gl_VertexID / 6, k = corner(gl_VertexID);
  vec2 p = point(edge), q = point(edge + 1);
  mark = int(texelFetch(marks, ivec2(edge % ${ROW}, edge / ${ROW}), 0).x * 255.0 + 0.5);
  wide = mark == ${FIXED} ? width + ${EXTRA}.0 : width;
  vec2 along = q - p;
  float size = length(along);
  along = size > 1e-6 ? along / size : vec2(1.0, 0.0);
  vec2 beside = vec2(-along.y, along.x);
  float reach = 0.5 * wide + 0.5, side = (k & 1) == 0 ? -1.0 : 1.0;
  // Ends reach out by a third of the width, so that corners close.
  vec2 at = (k & 2) == 0 ? p - along * 0.35 * wide : q + along * 0.35 * wide;
  across = side * reach;
  gl_Position = vec4((at + beside * side * reach) / half_size, 0.0, 1.0);
}`;
const LINE_PIXELS = `#version 300 es
precision highp float;
in float across;
flat in float wide;
flat in int mark;
uniform vec4 colours[3];
out vec4 pixel;
void main() {
  vec4 c = colours[mark];
  float cover = clamp(0.5 * wide + 0.5 - abs(across), 0.0, 1.0) * min(1.0, wide) * c.a;
  pixel = vec4(c.rgb * cover, cover);
}`;
const DOT_VERTICES = `${FETCH}
uniform float radius;
out vec2 from;
void main() {
  int k = corner(gl_VertexID);
  from = (vec2(k & 1, k >> 1) * 2.0 - 1.0) * (radius + 0.5);
  gl_Position = vec4((point(gl_VertexID / 6) + from) / half_size, 0.0, 1.0);
}`;
const DOT_PIXELS = `#version 300 es
precision highp float;
in vec2 from;
uniform vec4 colour, inside;
uniform float radius, ring;
out vec4 pixel;
void main() {
  float d = length(from);
  float cover = clamp(radius + 0.5 - d, 0.0, 1.0);
  vec4 c = mix(inside, colour, clamp(d - (radius - ring) + 0.5, 0.0, 1.0));
  pixel = vec4(c.rgb * cover * c.a, cover * c.a);
}`;

class GlPainter {
  // Throws where there is no WebGL 2.
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true });
    if (gl === null) throw new Error("no WebGL 2");
    this.gl = gl;
    this.lines = this.program(LINE_VERTICES, LINE_PIXELS);
    this.dots = this.program(DOT_VERTICES, DOT_PIXELS);
    this.most = ROW * gl.getParameter(gl.MAX_TEXTURE_SIZE); // points of a level
    this.textures = [];
    this.name = "WebGL";
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  program(vertices, pixels) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertices], [gl.FRAGMENT_SHADER, pixels]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const uniforms = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(program, i);
      uniforms[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniforms };
  }

  texture(data, size, inside, format, type) {
    const gl = this.gl, texture = gl.createTexture(), count = data.length / size;
    const rows = Math.max(1, Math.ceil(count / ROW)), whole = Math.floor(count / ROW);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texStorage2D(gl.TEXTURE_2D, 1, inside, ROW, rows);
    if (whole) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, ROW, whole, format, type, data);
    if (count > whole * ROW) {
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, whole, count - whole * ROW, 1, format, type, data, whole * ROW * size);
    }
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    return texture;
  }

  setPath(path) {
    const gl = this.gl;
    for (const level of this.textures) {
      gl.deleteTexture(level.points);
      gl.deleteTexture(level.marks);
    }
    // What does not fit is drawn by the next coarser level.
    this.finest = path.levels.findIndex((level) => level.points.length / 2 <= this.most);
    this.textures = path.levels.map((level, i) =>
      i < this.finest
        ? {}
        : {
            points: this.texture(level.points, 2, gl.RG32F, gl.RG, gl.FLOAT),
            marks: this.texture(level.marks, 1, gl.R8, gl.RED, gl.UNSIGNED_BYTE),
          },
    );
  }

  use({ program, uniforms }, camera, points, marks) {
    const gl = this.gl;
    gl.useProgram(program);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, points);
    gl.uniform1i(uniforms.points, 0);
    if (marks !== undefined) {
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, marks);
      gl.uniform1i(uniforms.marks, 1);
      gl.activeTexture(gl.TEXTURE0);
    }
    gl.uniform2f(uniforms.whole, Math.floor(camera.x), Math.floor(camera.y));
    gl.uniform2f(uniforms.rest, camera.x - Math.floor(camera.x), camera.y - Math.floor(camera.y));
    gl.uniform2f(uniforms.half_size, camera.width / 2, camera.height / 2);
    gl.uniform1f(uniforms.scale, camera.scale);
    return uniforms;
  }

  // Pixels are those of the canvas, not of the style sheet.
  paint(camera, { level, ranges, style, dots }) {
    const gl = this.gl;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const { points, marks } = this.textures[level];
    let uniforms = this.use(this.lines, camera, points, marks);
    gl.uniform4fv(uniforms["colours[0]"], style.colours.flat());
    gl.uniform1f(uniforms.width, style.width);
    for (const [first, end] of ranges) gl.drawArrays(gl.TRIANGLES, 6 * first, 6 * (end - first));
    if (dots !== null) {
      uniforms = this.use(this.dots, camera, this.textures[0].points);
      gl.uniform4fv(uniforms.colour, [...style.colours[0].slice(0, 3), 1]);
      gl.uniform4fv(uniforms.inside, [...style.paper, 1]);
      gl.uniform1f(uniforms.radius, dots.radius);
      gl.uniform1f(uniforms.ring, dots.ring);
      for (const [first, end] of dots.ranges) gl.drawArrays(gl.TRIANGLES, 6 * first, 6 * (end - first + 1));
    }
  }
}

function css([red, green, blue, opacity = 1]) {
  return `rgb(${[red, green, blue].map((c) => Math.round(255 * c)).join(" ")} / ${opacity})`;
}

class CanvasPainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    if (this.context === null) throw new Error("no canvas");
    this.name = "canvas";
    this.finest = 0;
  }

  setPath(path) {
    this.path = path;
  }

  paint(camera, { level, ranges, style, dots }) {
    const { context } = this, { points, marks } = this.path.levels[level];
    const { scale } = camera;
    const dx = this.canvas.width / 2 - camera.x * scale, dy = this.canvas.height / 2 + camera.y * scale;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.lineCap = context.lineJoin = "round";
    style.colours.forEach((colour, wanted) => {
      context.strokeStyle = css(colour);
      context.lineWidth = wanted === FIXED ? style.width + EXTRA : style.width;
      for (const [first, end] of ranges) {
        let drawn = false, count = 0;
        context.beginPath();
        for (let i = first; i < end; i++) {
          if (marks[i] !== wanted) {
            drawn = false;
            continue;
          }
          if (!drawn) context.moveTo(points[2 * i] * scale + dx, dy - points[2 * i + 1] * scale);
          context.lineTo(points[2 * i + 2] * scale + dx, dy - points[2 * i + 3] * scale);
          drawn = true;
          // Very long paths take longer than many short ones.
          if (++count % 2000 === 0) {
            context.stroke();
            context.beginPath();
            drawn = false;
          }
        }
        context.stroke();
      }
    });
    if (dots !== null) {
      context.fillStyle = css(style.paper);
      context.strokeStyle = css(style.colours[0].slice(0, 3));
      context.lineWidth = dots.ring;
      const radius = Math.max(0.1, dots.radius - dots.ring / 2), { points } = this.path.levels[0];
      for (const [first, end] of dots.ranges) {
        for (let i = first; i <= end; i++) {
          context.beginPath();
          context.arc(points[2 * i] * scale + dx, dy - points[2 * i + 1] * scale, radius, 0, 2 * Math.PI);
          context.fill();
          context.stroke();
        }
      }
    }
  }
}
