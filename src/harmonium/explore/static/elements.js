// Elements of pages. Texts are put in as texts, never as HTML.

import { scaleColours } from "./palette.js";

export function element(name, content = "", attributes = {}) {
  const made = document.createElement(name);
  made.append(...[content].flat());
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export function swatch(name) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ class: name, viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" })) drawing.setAttribute(key, value);
  for (const [key, value] of Object.entries({ class: "fill", width: 12, height: 12, rx: 3 })) box.setAttribute(key, value);
  drawing.append(box);
  return drawing;
}

// A scale of colours from low to high.
export function scale(isDark) {
  return element("span", scaleColours(isDark).map((_, number) => swatch(`s${number}`)), { class: "scale" });
}
