// The panel beside the map: what sets a selection apart from the rest, or what is known of an item.

import { element } from "./elements.js";
import { addressOf, addresses, isSite } from "./source.js";

const short = (value) => (typeof value === "number" ? Number(value.toPrecision(3)).toString() : `${value}`);
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
const HEADINGS = { topic: "Topics", word: "Words", column: "Columns" };

export function heading(n) {
  return element("h2", `${n.toLocaleString("en")} item${n === 1 ? "" : "s"} selected`);
}

// What a selection is about, as the server tells.
export function selectionParts(selection) {
  const parts = [];
  if (selection.target) {
    const { column, mean, classes } = selection.target;
    parts.push(element("h3", column));
    if (mean !== null) parts.push(element("p", `mean ${short(mean)}`));
    parts.push(element("ul", classes.map((entry) => element("li", `${entry.name}: ${Math.round(100 * entry.share)} %`))));
  }
  if (selection.differences.length) {
    parts.push(element("h3", "What sets these apart"));
    parts.push(element("p", "Selected, and the rest; bars show the correlation with being selected, left of the line if the rest has more.", { class: "quiet" }));
  }
  for (const [kind, title] of Object.entries(HEADINGS)) {
    const found = selection.differences.filter((entry) => entry.kind === kind);
    if (!found.length) continue;
    parts.push(element("table", [element("caption", title), ...found.map(differenceLine)], { class: "differences" }));
  }
  parts.push(element("h3", "Most typical"));
  parts.push(element("ul", selection.items.map(itemLine), { class: "items" }));
  return parts;
}

function differenceLine(entry) {
  const number = entry.by?.match(/^topic:(\d+)$/)?.[1];
  const name = number === undefined ? element("span", entry.name) : element("a", entry.name, { href: addressOf("topic", number) });
  const value = entry.value === null ? [] : [`: ${entry.value}`];
  const spelled = entry.unit === "share" ? percent : (value) => (typeof value === "number" ? Number(value.toPrecision(2)).toString() : value);
  const cells = [[name, ...value], signedBar(entry.correlation), `${spelled(entry.selected)} / ${spelled(entry.rest)}`];
  return element("tr", cells.map((content, place) => element("td", content, place === 2 ? { class: "number" } : {})));
}

function signedBar(size) {
  const made = element("span", "", { class: size < 0 ? "signed negative" : "signed", role: "img", "aria-label": `correlation ${size.toFixed(2)}` });
  const part = element("span", "");
  part.style.width = `${50 * Math.min(1, Math.abs(size))}%`;
  part.style.left = size < 0 ? `${50 - 50 * Math.min(1, -size)}%` : "50%";
  made.append(part);
  return made;
}

export function itemLine(card) {
  const link = element("a", card.title, { href: addressOf("item", card.row) });
  if (!card.has_picture) return element("li", link);
  const picture = element("img", "", { class: "thumb", src: addressOf("picture", card.row), alt: "" });
  return element("li", [picture, element("div", link)], { class: "with-picture" });
}

// All that a site knows of an item.
export function showItem(place, item, close) {
  const back = element("button", "Back", { type: "button", class: "small" });
  back.addEventListener("click", close);
  const cell = (value) => (value === null ? "–" : Array.isArray(value) ? value.join(", ") : `${value}`);
  const line = ([name, value]) => element("tr", [element("th", name, { scope: "row" }), element("td", cell(value))]);
  const topic = (entry) => element("li", [element("a", entry.label, { href: addressOf("topic", entry.topic) }), ` ${entry.ahead < 0 ? "−" : "+"}${Math.abs(entry.ahead).toFixed(1)} sd`]);
  place.replaceChildren(back, element("h2", item.title));
  if (item.has_picture) place.append(element("img", "", { class: "large-picture", src: addressOf("picture", item.row), alt: "" }));
  place.append(element("table", Object.entries(item.values).map(line), { class: "values" }));
  place.append(element("h3", "Topics"), element("ul", item.topics.map(topic)));
}

// Ways to take a selection along: addresses of a server, or files that the browser makes of what a site holds.
export function exportParts(query, n, items) {
  if (!isSite) {
    const written = query.toString();
    const links = [["Table", `${addresses.table}?${written}`], ["CSV", `${addresses.table}.csv?${written}`], ["JSON", `${addresses.table}.json?${written}&n=${n}`]];
    return element("p", ["Take along: ", ...links.flatMap(([words, href]) => [element("a", words, { href }), " "])]);
  }
  const made = [["CSV", asCsv, "text/csv"], ["JSON", (rows) => JSON.stringify(rows, null, 1), "application/json"]].map(([words, write, type]) => {
    const button = element("button", words, { type: "button", class: "small" });
    button.addEventListener("click", async () => {
      const rows = (await items()).map((item) => ({ row: item.row, ...item.values }));
      const href = URL.createObjectURL(new Blob([write(rows)], { type }));
      element("a", "", { href, download: `items.${words.toLowerCase()}` }).click();
      URL.revokeObjectURL(href);
    });
    return button;
  });
  return element("p", ["Take along: ", ...made]);
}

function asCsv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : Array.isArray(value) ? JSON.stringify(value) : `${value}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const names = Object.keys(rows[0] ?? {});
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => cells.map(cell).join(",")).join("\n") + "\n";
}
