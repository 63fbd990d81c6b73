// Filters that one can see: names with their numbers to choose from, or a histogram with two ends.

import { element, scale, swatch } from "./elements.js";
import { CLASSES } from "./palette.js";
import { MISSING } from "./values.js";

const MOST_NAMES = 12; // further names are chosen from a list

// A facet of `values` under a title; `change` is called with the filter, or null for none.
export function facet(title, values, wanted, mask, { coloured, isDark, change, close }) {
  const all = values.counts(null);
  const kept = values.counts(mask);
  const head = element("div", [element("h3", title)], { class: "facet-head" });
  const button = (words, act) => {
    const made = element("button", words, { type: "button", class: "small" });
    made.addEventListener("click", act);
    head.append(made);
  };
  if (wanted !== undefined) button("All", () => change(null));
  if (close) button("Remove", close);
  const body = values.isNumber
    ? range(title, values, wanted, all, kept, { coloured, isDark, change })
    : names(values, wanted, all, kept, { coloured, change });
  return element("section", [head, ...body], { class: "facet", "aria-label": title });
}

function names(values, wanted, all, kept, { coloured, change }) {
  const chosen = new Set(wanted === undefined ? [] : wanted.split("|"));
  const toggled = (name) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    change(next.size ? [...next].join("|") : null);
  };
  const most = Math.max(1, ...all.counts);
  const line = (name, number, [n, ofAll]) => {
    const colour = number === null || number >= CLASSES ? "c-none" : `c${number}`;
    const words = [...(coloured ? [swatch(colour)] : []), element("span", name, { class: "name" }), element("span", n.toLocaleString("en"), { class: "number" })];
    const made = element("button", [bar(n / most, ofAll / most), ...words], { type: "button", class: "choice", "aria-pressed": chosen.has(name) });
    made.addEventListener("click", () => toggled(name));
    return element("li", made);
  };
  const shown = values.names.map((name, number) => number).filter((number) => number < MOST_NAMES || chosen.has(values.names[number]));
  const lines = shown.map((number) => line(values.names[number], number, [kept.counts[number], all.counts[number]]));
  if (all.missing) lines.push(line(MISSING, null, [kept.missing, all.missing]));
  const body = [element("ul", lines, { class: "choices" })];
  if (values.names.length > MOST_NAMES) {
    const more = element("select", [element("option", `${values.names.length - MOST_NAMES} more …`, { value: "" })], { "aria-label": "More values" });
    values.names.slice(MOST_NAMES).forEach((name) => more.append(element("option", name, { value: name })));
    more.addEventListener("change", () => more.value && toggled(more.value));
    body.push(more);
  }
  return body;
}

function bar(share, ofAll) {
  const part = (width, name) => {
    const made = element("span", "", { class: name });
    made.style.width = `${100 * Math.min(1, width)}%`; // by script, which the policy of pages allows
    return made;
  };
  return element("span", [part(ofAll, "of-all"), part(share, "kept")], { class: "choice-bar", "aria-hidden": "true" });
}

function range(title, values, wanted, all, kept, { coloured, isDark, change }) {
  const [low, high] = wanted === undefined || wanted === MISSING ? ["", ""] : wanted.split("..");
  const [from, to] = [["from", low, values.least], ["to", high ?? low, values.most]].map(([word, value, open]) => {
    const attributes = { type: values.kind === "date" ? "date" : "number", step: "any", value, placeholder: values.spelled(open), "aria-label": `${title} ${word}` };
    const made = element("input", "", attributes);
    // later, when whoever leaves one end for the other has arrived there: both are drawn anew
    made.addEventListener("change", () => setTimeout(() => change(from.value || to.value ? `${from.value}..${to.value}` : null)));
    return made;
  });
  const ends = element("div", [element("span", values.spelled(values.least)), element("span", values.spelled(values.most))], { class: "ends" });
  const body = [histogram(all.counts, kept.counts), ends, element("div", [from, "to", to], { class: "range" })];
  if (coloured) body.unshift(element("div", [values.spelled(values.low), scale(isDark), values.spelled(values.high)], { class: "scale-line" }));
  if (all.missing) body.push(element("p", `${kept.missing.toLocaleString("en")} missing`, { class: "quiet" }));
  return body;
}

function histogram(all, kept) {
  const most = Math.max(1, ...all);
  const bars = (counts, name) => [...counts].map((n, bin) => ({ class: name, x: bin * 10, y: 60 - (60 * n) / most, width: 9, height: (60 * n) / most }));
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ class: "histogram", viewBox: `0 0 ${10 * all.length} 60`, preserveAspectRatio: "none", "aria-hidden": "true" })) drawing.setAttribute(key, value);
  for (const attributes of [...bars(all, "of-all"), ...bars(kept, "kept")]) {
    const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [key, value] of Object.entries(attributes)) box.setAttribute(key, value);
    drawing.append(box);
  }
  return drawing;
}
