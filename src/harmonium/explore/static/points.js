// Points drawn straight into the pixels of a canvas: no library, no graphics card, and smooth with 100,000 of them.
//
// A `PointCloud` knows places, colours and which points are picked; `view` says how places become pixels. Drawing a frame
// is one pass over the points that writes a few pixels each, and one copy of the pixels to the canvas.

const OUTSIDE = 0xffff;
const HALVES = 0xfefefefe; // the bits of a pixel that stay within their channel when it is halved

export class PointCloud {
  // x and y are whole numbers from 0 to 65535, so that places need 4 bytes
  constructor(x, y) {
    this.size = x.length;
    this.x = Uint16Array.from(x);
    this.y = Uint16Array.from(y);
    this.colour = new Uint8Array(this.size);
    this.picked = null; // a Uint8Array of 0 and 1, or null: all points count alike
    this.order = shuffled(this.size); // no class is drawn on top of all others
    this.grid = new Grid(this.x, this.y);
  }

  // Return the point nearest to a place within a distance, both in units of places; -1 if there is none.
  nearest(x, y, reach) {
    let best = -1;
    let least = reach * reach;
    this.grid.visit(x - reach, y - reach, x + reach, y + reach, (point) => {
      const dx = this.x[point] - x;
      const dy = this.y[point] - y;
      const distance = dx * dx + dy * dy;
      if (distance <= least) {
        least = distance;
        best = point;
      }
    });
    return best;
  }

  // Return the points inside a polygon, which is a list of [x, y] in units of places.
  inside(polygon) {
    const xs = polygon.map((corner) => corner[0]);
    const ys = polygon.map((corner) => corner[1]);
    const isInside = new Uint8Array(this.size);
    this.grid.visit(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (point) => {
      if (contains(xs, ys, this.x[point], this.y[point])) isInside[point] = 1;
    });
    const found = [];
    for (let point = 0; point < this.size; point++) if (isInside[point]) found.push(point);
    return found;
  }

  // Write the points into pixels (a Uint32Array of width * height), with palettes of 32-bit colours.
  draw(pixels, width, height, view, palette, faded, radius) {
    const { inner, edge } = discOf(radius);
    const { x, y, colour, picked, order } = this;
    const margin = Math.ceil(radius) + 2;
    const strokes = picked === null ? [[null, palette]] : [[0, faded], [1, palette]];
    for (const [wanted, colours] of strokes) {
      for (let place = 0; place < order.length; place++) {
        const point = order[place];
        if (wanted !== null && picked[point] !== wanted) continue;
        const column = (x[point] * view.scale + view.left + 0.5) | 0;
        const row = (y[point] * view.scale + view.top + 0.5) | 0;
        if (column < margin || row < margin || column >= width - margin || row >= height - margin) continue;
        const centre = row * width + column;
        const shade = colours[colour[point]];
        for (let step = 0; step < inner.length; step += 2) pixels[centre + inner[step] * width + inner[step + 1]] = shade;
        const half = (shade & HALVES) >>> 1;
        for (let step = 0; step < edge.length; step += 2) {
          const pixel = centre + edge[step] * width + edge[step + 1];
          pixels[pixel] = half + ((pixels[pixel] & HALVES) >>> 1);
        }
      }
    }
  }
}

// Points sorted into the cells of a grid, so that only those near a place are looked at.
class Grid {
  constructor(x, y) {
    this.bits = 9; // 128 × 128 cells of 512 × 512 places
    const across = 65536 >> this.bits;
    this.across = across;
    this.start = new Uint32Array(across * across + 1);
    const cell = (point) => (y[point] >> this.bits) * across + (x[point] >> this.bits);
    for (let point = 0; point < x.length; point++) this.start[cell(point) + 1]++;
    for (let number = 0; number < across * across; number++) this.start[number + 1] += this.start[number];
    const next = this.start.slice();
    this.points = new Uint32Array(x.length);
    for (let point = 0; point < x.length; point++) this.points[next[cell(point)]++] = point;
  }

  visit(left, top, right, bottom, call) {
    const clip = (value) => Math.max(0, Math.min(OUTSIDE, value)) >> this.bits;
    for (let row = clip(top); row <= clip(bottom); row++) {
      const line = row * this.across;
      const end = this.start[line + clip(right) + 1];
      for (let place = this.start[line + clip(left)]; place < end; place++) call(this.points[place]);
    }
  }
}

function contains(xs, ys, x, y) {
  let isInside = false;
  for (let one = 0, other = xs.length - 1; one < xs.length; other = one++) {
    const crosses = ys[one] > y !== ys[other] > y;
    if (crosses && x < ((xs[other] - xs[one]) * (y - ys[one])) / (ys[other] - ys[one]) + xs[one]) isInside = !isInside;
  }
  return isInside;
}

// Rows and columns of the pixels of a disc around its centre: those inside, and those at its edge, which are mixed.
function discOf(radius) {
  const [inner, edge] = [[], []];
  const reach = Math.ceil(radius + 0.7);
  for (let row = -reach; row <= reach; row++) {
    for (let column = -reach; column <= reach; column++) {
      const distance = Math.hypot(row, column);
      if (distance <= radius) inner.push(row, column);
      else if (distance <= radius + 0.7) edge.push(row, column);
    }
  }
  return { inner: Int32Array.from(inner), edge: Int32Array.from(edge) };
}

// The same order in every session.
function shuffled(size) {
  const order = Uint32Array.from({ length: size }, (_, number) => number);
  let state = 12345;
  for (let last = size - 1; last > 0; last--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}
