// The map of items: pan, zoom, lasso, by mouse, finger or keyboard.

import { drawDensity } from "./density.js";
import { PointCloud } from "./points.js";
import { palettes } from "./palette.js";

const SPAN = 65535; // places are whole numbers from 0 to this
const CELL = 44; // pixels of the page between thumbnails
const TRIED = 8; // items of a cell that are tried until one covers no other
const MOST_ZOOM = 400;
const FEW = 2000; // points in sight that are drawn one by one above a density
const CLICK = 4; // a pointer that moves less than this has clicked

export class ItemMap extends EventTarget {
  constructor(canvas, points, { thumbnails = null } = {}) {
    super();
    this.canvas = canvas;
    this.cloud = new PointCloud(points.x, points.y);
    this.thumbnails = thumbnails; // the address of the picture of an item, with {row} for its number; or null
    this.pictures = new Map();
    this.pictureless = new Set(points.without_pictures);
    this.showsPictures = thumbnails !== null;
    this.kind = "class";
    this.mode = "move";
    this.density = false;
    this.lasso = null;
    this.marked = [];
    this.place = null; // of an item that is not among the points
    this.pending = false;
    this.frames = []; // milliseconds that the last frames took
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.recolour());
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.listen();
    this.resize();
    this.reset();
    this.recolour();
  }

  // ---- what is shown ------------------------------------------------------------------------------------------------
  colourBy(kind, values) {
    this.kind = kind;
    this.cloud.colour.set(values);
    this.recolour();
  }

  recolour() {
    this.palettes = palettes(this.kind, this.dark.matches, this.canvas);
    this.redraw();
  }

  // Points whose byte in a mask is 0 are faded; null fades none.
  pick(mask) {
    this.cloud.picked = mask;
    this.redraw();
  }

  mark(points, place = null) {
    this.marked = points;
    this.place = place;
    this.redraw();
  }

  // ---- where one looks ----------------------------------------------------------------------------------------------
  resize() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (width === this.width && height === this.height) return;
    const before = this.view && { ...this.view, width: this.width, height: this.height };
    [this.width, this.height, this.ratio] = [width, height, ratio];
    this.canvas.width = width;
    this.canvas.height = height;
    this.context = this.canvas.getContext("2d");
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    if (before) {
      this.view.left += (width - before.width) / 2;
      this.view.top += (height - before.height) / 2;
    }
    this.redraw();
  }

  reset() {
    const scale = (0.94 * Math.min(this.width, this.height)) / SPAN;
    this.least = scale;
    this.view = { scale, left: (this.width - scale * SPAN) / 2, top: (this.height - scale * SPAN) / 2 };
    this.redraw();
  }

  // Where one looks as numbers that hold on a screen of any size: the place in the middle, and the zoom; null for all.
  looksAt() {
    const zoom = this.view.scale / this.least;
    const [x, y] = this.placeOf(this.width / 2, this.height / 2);
    const isWhole = Math.abs(zoom - 1) < 0.01 && Math.max(Math.abs(x - SPAN / 2), Math.abs(y - SPAN / 2)) < SPAN / 200;
    return isWhole ? null : [x, y, zoom];
  }

  lookAt([x, y, zoom]) {
    const scale = this.least * Math.max(0.5, Math.min(MOST_ZOOM, zoom));
    this.view = { scale, left: this.width / 2 - x * scale, top: this.height / 2 - y * scale };
    this.redraw();
  }

  pan(dx, dy) {
    this.view.left += dx;
    this.view.top += dy;
    this.redraw();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.max(this.least * 0.5, Math.min(this.least * MOST_ZOOM, this.view.scale * factor));
    const change = scale / this.view.scale;
    this.view = { scale, left: x - (x - this.view.left) * change, top: y - (y - this.view.top) * change };
    this.redraw();
  }

  placeOf(x, y) {
    return [(x - this.view.left) / this.view.scale, (y - this.view.top) / this.view.scale];
  }

  pixelOf(point, [x, y] = [this.cloud.x[point], this.cloud.y[point]]) {
    return [x * this.view.scale + this.view.left, y * this.view.scale + this.view.top];
  }

  // The corners of what can be seen.
  sight() {
    const [left, top] = this.placeOf(0, 0);
    const [right, bottom] = this.placeOf(this.width, this.height);
    return [[left, top], [right, top], [right, bottom], [left, bottom]];
  }

  // All points that can be seen.
  visible() {
    return this.cloud.inside(this.sight());
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------
  redraw() {
    if (this.pending || !this.view || !this.palettes) return;
    this.pending = true;
    this.tell("view");
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  draw() {
    const begin = performance.now();
    const { full, faded, page } = this.palettes;
    this.pixels.fill(page);
    if (this.density) drawDensity(this.cloud, this.pixels, this.width, this.height, this.view, full, faded, page, this.ratio);
    if (!this.density || this.visible().length < FEW) {
      this.cloud.draw(this.pixels, this.width, this.height, this.view, full, faded, this.radius());
    }
    this.context.putImageData(this.image, 0, 0);
    if (this.showsPictures) this.drawPictures();
    this.drawMarks();
    if (this.lasso) this.drawLasso();
    this.frames.push(performance.now() - begin);
    if (this.frames.length > 600) this.frames.shift();
  }

  // Points grow as they become fewer in sight: about a fifth of the area is covered.
  radius() {
    const inSight = this.cloud.size * Math.min(1, (this.least / this.view.scale) ** 2);
    const area = (0.2 * this.width * this.height) / Math.max(1, inSight);
    const wanted = Math.max(this.ratio, Math.min(7 * this.ratio, Math.sqrt(area / Math.PI)));
    return Math.round(2 * wanted) / 2; // discs of whole and half pixels are round
  }

  // At most one picture in each cell of the page, none over another; by cells, they are the same while one pans.
  drawPictures() {
    const cell = CELL * this.ratio;
    const size = cell - 6 * this.ratio;
    const step = cell / this.view.scale;
    const cellOf = (point) => [Math.floor(this.cloud.x[point] / step), Math.floor(this.cloud.y[point] / step)];
    const tried = new Map();
    for (const point of this.visible()) {
      if ((this.cloud.picked !== null && !this.cloud.picked[point]) || this.pictureless.has(point)) continue;
      const key = cellOf(point).join();
      if (!tried.has(key)) tried.set(key, []);
      if (tried.get(key).length < TRIED) tried.get(key).push(point);
    }
    const drawn = new Map();
    const isCovered = (point, column, row) => {
      for (const across of [-1, 0, 1])
        for (const down of [-1, 0, 1]) {
          const other = drawn.get(`${column + across},${row + down}`);
          if (other === undefined) continue;
          const apart = Math.max(
            Math.abs(this.cloud.x[point] - this.cloud.x[other]),
            Math.abs(this.cloud.y[point] - this.cloud.y[other]),
          );
          if (apart * this.view.scale < size) return true;
        }
      return false;
    };
    for (const point of [...tried.values()].flat().sort((one, other) => one - other)) {
      const [column, row] = cellOf(point);
      if (drawn.has(`${column},${row}`) || isCovered(point, column, row)) continue;
      drawn.set(`${column},${row}`, point);
      const picture = this.pictureOf(point);
      if (!picture.complete || !picture.naturalWidth) continue;
      const [x, y] = this.pixelOf(point);
      this.context.drawImage(picture, x - size / 2, y - size / 2, size, size);
    }
  }

  pictureOf(point) {
    if (!this.pictures.has(point)) {
      const picture = new Image();
      picture.onload = () => this.redraw();
      picture.src = this.thumbnails.replace("{row}", point);
      this.pictures.set(point, picture);
    }
    return this.pictures.get(point);
  }

  drawMarks() {
    const size = this.radius() + 4 * this.ratio;
    this.context.strokeStyle = getComputedStyle(this.canvas).getPropertyValue("--accent").trim();
    this.context.lineWidth = 2 * this.ratio;
    this.context.beginPath();
    for (const point of this.marked) {
      const [x, y] = this.pixelOf(point);
      this.context.moveTo(x + size, y);
      this.context.arc(x, y, size, 0, 2 * Math.PI);
    }
    this.context.stroke();
    if (this.place) this.drawCross(this.pixelOf(null, this.place), 2 * size);
  }

  drawCross([x, y], size) {
    this.context.lineWidth = 4 * this.ratio;
    this.context.beginPath();
    for (const [across, down] of [[size, 0], [0, size]]) {
      this.context.moveTo(x - across, y - down);
      this.context.lineTo(x + across, y + down);
    }
    this.context.stroke();
  }

  drawLasso() {
    const style = getComputedStyle(this.canvas);
    this.context.beginPath();
    for (const [x, y] of this.lasso) this.context.lineTo(x, y);
    this.context.closePath();
    this.context.lineWidth = 1.5 * this.ratio;
    this.context.strokeStyle = style.getPropertyValue("--accent").trim();
    this.context.stroke();
  }

  // ---- mouse, fingers, keys -----------------------------------------------------------------------------------------
  listen() {
    const { canvas } = this;
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.tell("hover", -1));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [x, y] = this.where(event);
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), x, y);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  where(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
  }

  press(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const place = this.where(event);
    this.pointers.set(event.pointerId, { begin: place, last: place });
    if (this.pointers.size > 1) this.lasso = null;
    else if (this.mode === "lasso" || event.shiftKey) this.lasso = [place];
  }

  move(event) {
    const pointer = this.pointers.get(event.pointerId);
    const place = this.where(event);
    if (!pointer) {
      this.tell("hover", this.pointAt(place), place);
    } else if (this.lasso) {
      this.lasso.push(place);
      this.redraw();
    } else if (this.pointers.size > 1) {
      this.pinch(event.pointerId, place);
    } else {
      this.pan(place[0] - pointer.last[0], place[1] - pointer.last[1]);
    }
    if (pointer) pointer.last = place;
  }

  pinch(moved, place) {
    const [other] = [...this.pointers].filter(([number]) => number !== moved).map(([, pointer]) => pointer.last);
    const before = this.pointers.get(moved).last;
    const distance = (one) => Math.max(1, Math.hypot(one[0] - other[0], one[1] - other[1]));
    this.zoom(distance(place) / distance(before), (place[0] + other[0]) / 2, (place[1] + other[1]) / 2);
  }

  release(event) {
    const pointer = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (!pointer) return;
    const place = this.where(event);
    if (this.lasso) {
      const corners = this.lasso.map(([x, y]) => this.placeOf(x, y));
      this.lasso = null;
      this.redraw();
      this.tell("lasso", corners.length > 2 ? corners : null);
    } else if (Math.hypot(place[0] - pointer.begin[0], place[1] - pointer.begin[1]) < CLICK * this.ratio) {
      const point = this.pointAt(place);
      if (point >= 0) this.tell("open", point);
    }
  }

  pointAt(place) {
    const [x, y] = this.placeOf(...place);
    return this.cloud.nearest(x, y, ((this.showsPictures ? 16 : 6) * this.ratio + this.radius()) / this.view.scale);
  }

  key(event) {
    const step = 60 * this.ratio;
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) this.pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.reset();
    else if (event.key === "Escape") this.tell("lasso", null);
    else if (event.key === "Enter") this.tell("lasso", this.sight());
    else return;
    event.preventDefault();
  }

  tell(name, point, place = null) {
    this.dispatchEvent(new CustomEvent(name, { detail: { point, place } }));
  }
}
