// The panel beside the map: what a selection is about, and what colours mean. Texts are put in as texts, never as HTML.

import { scaleColours } from "./palette.js";

function element(name, content = "", attributes = {}) {
  const made = document.createElement(name);
  made.append(...[content].flat());
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function swatch(name) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ class: name, viewBox: "0 0 12 12", width: 12, height: 12 })) drawing.setAttribute(key, value);
  for (const [key, value] of Object.entries({ class: "fill", width: 12, height: 12, rx: 3 })) box.setAttribute(key, value);
  drawing.append(box);
  return drawing;
}

const short = (value) => (typeof value === "number" ? Number(value.toPrecision(3)).toString() : `${value}`);

export function showLegend(place, colours, isDark) {
  place.replaceChildren();
  if (colours.kind === "class") {
    colours.names.forEach((name, number) => place.append(element("span", [swatch(`c${number}`), ` ${name}`])));
    if (colours.values.includes(255)) place.append(element("span", [swatch("c-none"), " others"]));
  } else {
    const steps = scaleColours(isDark).map((_, number) => swatch(`s${number}`));
    place.append(element("span", short(colours.low)), element("span", steps, { class: "scale" }), element("span", short(colours.high)));
  }
}

export function showSelection(place, selection) {
  const topics = selection.topics.filter((topic) => topic.ahead > 0);
  place.replaceChildren(element("h2", `${selection.n.toLocaleString("en")} item${selection.n === 1 ? "" : "s"} selected`));
  if (selection.target) {
    const { column, mean, classes } = selection.target;
    place.append(element("h3", column));
    if (mean !== null) place.append(element("p", `mean ${short(mean)}`));
    place.append(element("ul", classes.map((entry) => element("li", `${entry.name}: ${Math.round(100 * entry.share)} %`))));
  }
  if (topics.length) {
    place.append(element("h3", "Topics that stand out"));
    const line = (topic) => element("li", [element("a", topic.label, { href: `/topics/${topic.topic}` }), ` +${topic.ahead.toFixed(1)} sd`]);
    place.append(element("ul", topics.map(line)));
  }
  place.append(element("h3", "Most typical"));
  place.append(element("ul", selection.items.map(itemLine), { class: "items" }));
}

function itemLine(card) {
  const link = element("a", card.title, { href: `/items/${card.row}` });
  if (!card.has_picture) return element("li", link);
  const picture = element("img", "", { class: "thumb", src: `/pictures/${card.row}.png`, alt: "" });
  return element("li", [picture, element("div", link)], { class: "with-picture" });
}
