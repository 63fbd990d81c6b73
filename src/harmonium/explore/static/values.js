// Values of all items by a column or topic: which match a filter, how many there are of each, and their colours.

import { CLASSES, UNKNOWN } from "./palette.js";

export const MISSING = "(missing)";
const MOST_BINS = 24;

export class Values {
  constructor({ kind, names, values }) {
    this.kind = kind;
    this.names = names;
    this.values = values;
    this.isNumber = kind === "number" || kind === "date";
    if (this.isNumber) this.findEnds();
  }

  findEnds() {
    const there = Float64Array.from(this.values.filter((value) => value !== null)).sort();
    const at = (share) => there[Math.round(share * (there.length - 1))];
    [this.least, this.low, this.high, this.most] = [0, 0.01, 0.99, 1].map(at);
    this.bins = Math.min(MOST_BINS, new Set(there).size);
  }

  // A byte for each item: the number of its class or first tag, or its share of the way from low to high; 255 for none.
  colours() {
    const span = this.high - this.low || 1;
    const byte = (value) => {
      if (value === null || value.length === 0) return UNKNOWN;
      if (this.isNumber) return Math.round(254 * Math.max(0, Math.min(1, (value - this.low) / span)));
      const first = this.kind === "tags" ? value[0] : value;
      return first < CLASSES ? first : UNKNOWN;
    };
    return Uint8Array.from(this.values, byte);
  }

  // What a filter such as "50..80" or "Porto|Split" means: a function of a value.
  matcher(wanted) {
    if (this.isNumber) {
      if (wanted === MISSING) return (value) => value === null;
      const [low, high] = this.ends(wanted);
      return (value) => value !== null && value >= low && value <= high;
    }
    const chosen = wanted.split("|");
    const isChosen = this.names.map((name) => chosen.includes(name));
    const takesMissing = chosen.includes(MISSING);
    if (this.kind === "tags") return (value) => (value === null ? takesMissing : value.some((tag) => isChosen[tag]));
    return (value) => (value === null ? takesMissing : isChosen[value]);
  }

  ends(wanted) {
    const [low, high = low] = wanted.split("..");
    const read = (text, open) => (text === "" ? open : this.kind === "date" ? Math.floor(Date.parse(text) / 864e5) : Number(text));
    return [read(low, -Infinity), read(high, Infinity)];
  }

  spelled(value) {
    if (this.kind === "date") return new Date(value * 864e5).toISOString().slice(0, 10);
    return Number(value.toPrecision(4)).toString();
  }

  // How many items there are of each class, tag or range of numbers, among those that a mask keeps (null: all).
  counts(mask) {
    const counts = new Uint32Array(this.isNumber ? this.bins : this.names.length);
    let missing = 0;
    const span = this.most - this.least || 1;
    this.values.forEach((value, item) => {
      if (mask && !mask[item]) return;
      if (value === null) missing += 1;
      else if (this.isNumber) counts[Math.min(this.bins - 1, Math.floor((this.bins * (value - this.least)) / span))] += 1;
      else if (this.kind === "tags") for (const tag of value) counts[tag] += 1;
      else counts[value] += 1;
    });
    return { counts, missing };
  }
}
