// Many points as a density: the mixed colour of the points of each cell, the stronger the more there are.

const CELL = 3; // pixels of the page along a side of a cell
const BLURS = 2; // passes of a box over five cells, which together are nearly a normal density
const BOX = 2;

// Write the density of points into pixels. Those that are not picked are grey, and count for little.
export function drawDensity(cloud, pixels, width, height, view, palette, faded, page, ratio) {
  const side = Math.max(1, Math.round(CELL * ratio));
  const [across, down] = [Math.ceil(width / side), Math.ceil(height / side)];
  const layers = Array.from({ length: 4 }, () => new Float32Array(across * down)); // red, green, blue, weight
  const { x, y, colour, picked } = cloud;
  for (let point = 0; point < x.length; point++) {
    const column = Math.floor((x[point] * view.scale + view.left) / side);
    const row = Math.floor((y[point] * view.scale + view.top) / side);
    if (column < 0 || row < 0 || column >= across || row >= down) continue;
    const isPicked = picked === null || picked[point];
    const shade = isPicked ? palette[colour[point]] : faded[0];
    const weight = isPicked ? 1 : 0.1;
    const cell = row * across + column;
    for (let channel = 0; channel < 3; channel++) layers[channel][cell] += weight * ((shade >>> (8 * channel)) & 255);
    layers[3][cell] += weight;
  }
  for (const layer of layers) for (let pass = 0; pass < BLURS; pass++) blur(layer, across, down);
  let most = 0;
  for (const weight of layers[3]) if (weight > most) most = weight;
  if (!most) return;
  const strength = layers[3].map((weight) => 0.92 * (Math.log1p(60 * weight / most) / Math.log1p(60)) ** 0.8);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const cell = Math.floor(row / side) * across + Math.floor(column / side);
      const alpha = strength[cell];
      if (alpha < 0.02) continue;
      let pixel = 0xff000000;
      for (let channel = 0; channel < 3; channel++) {
        const mixed = layers[channel][cell] / layers[3][cell];
        const below = (page >>> (8 * channel)) & 255;
        pixel |= Math.round(below + alpha * (mixed - below)) << (8 * channel);
      }
      pixels[row * width + column] = pixel >>> 0;
    }
  }
}

function blur(layer, across, down) {
  const line = new Float32Array(Math.max(across, down));
  const pass = (start, step, length) => {
    for (let place = 0; place < length; place++) line[place] = layer[start + place * step];
    let sum = 0;
    for (let place = 0; place < Math.min(BOX, length); place++) sum += line[place];
    for (let place = 0; place < length; place++) {
      if (place + BOX < length) sum += line[place + BOX];
      if (place - BOX - 1 >= 0) sum -= line[place - BOX - 1];
      layer[start + place * step] = sum / (2 * BOX + 1);
    }
  };
  for (let row = 0; row < down; row++) pass(row * across, 1, across);
  for (let column = 0; column < across; column++) pass(column, across, down);
}
