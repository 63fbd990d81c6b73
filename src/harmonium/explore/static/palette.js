// Colours of points as 32-bit pixels. Classes have the colours of the style sheet, numbers a scale from dark to light.

// cividis, which those who are colour-blind can read too, at nine even steps
const SCALE = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55"];
const SCALE_ON_DARK = ["#2c4a86", "#40598a", "#55698b", "#6c7a8c", "#848b8d", "#9d9d8a", "#b8b07f", "#d4c46f", "#f0d95a"];
export const CLASSES = 10; // as many as the style sheet has colours; further classes are grey
export const UNKNOWN = 255;

export function palettes(kind, isDark, element) {
  const style = getComputedStyle(element);
  const grey = style.getPropertyValue("--point-unknown").trim();
  const faint = style.getPropertyValue("--point-faded").trim();
  const full = new Uint32Array(256).fill(pixelOf(grey));
  if (kind === "number") {
    const stops = isDark ? SCALE_ON_DARK : SCALE;
    for (let value = 0; value < 255; value++) full[value] = pixelOf(between(stops, value / 254));
  } else {
    for (let number = 0; number < CLASSES; number++) {
      full[number] = pixelOf(style.getPropertyValue(`--class-${number}`).trim());
    }
  }
  const page = pixelOf(style.getPropertyValue("--page").trim());
  return { full, faded: new Uint32Array(256).fill(pixelOf(faint)), page };
}

export function scaleColours(isDark) {
  return isDark ? SCALE_ON_DARK : SCALE;
}

function between(stops, share) {
  const place = share * (stops.length - 1);
  const first = Math.min(Math.floor(place), stops.length - 2);
  const [one, other] = [parts(stops[first]), parts(stops[first + 1])];
  const mixed = one.map((value, channel) => Math.round(value + (other[channel] - value) * (place - first)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function parts(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

function pixelOf(colour) {
  const [red, green, blue] = parts(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0; // pixels of a canvas are red first in memory
}
