// The large map with its controls: colours, filters, lasso, and the panel about what is selected.

import { element } from "./elements.js";
import { facet } from "./facets.js";
import { ItemMap } from "./map.js";
import { exportParts, heading, itemLine, selectionParts, showItem } from "./panel.js";
import { addressOf, answer, cardOf, isSite } from "./source.js";
import { readState, selectionQuery, simplified, writeState } from "./state.js";
import { Values } from "./values.js";

const MANY = 100_000; // items that are shown as a density at first
const LISTED = 20; // items of a selection that a site lists
const PAUSE = 250; // milliseconds without a change before the server is asked, and the address written

const find = (selector) => document.querySelector(selector);

export class Explorer {
  constructor(canvas, points) {
    const pictures = canvas.dataset.pictures ? addressOf("picture", "{row}").replace("%7Brow%7D", "{row}") : null;
    this.map = new ItemMap(canvas, points, { thumbnails: pictures });
    this.canvas = canvas;
    this.choice = find("#colour");
    this.known = new Map();
    this.open = new Set(); // facets that are shown beside that of the colour
    this.intro = [...find("#selection").childNodes];
  }

  async start() {
    this.connectButtons();
    this.map.addEventListener("lasso", (event) => this.drawn(event.detail.point));
    this.map.addEventListener("open", (event) => { location.href = addressOf("item", event.detail.point); });
    this.map.addEventListener("view", () => this.later("address", () => this.writeAddress()));
    this.map.dark.addEventListener("change", () => this.showFacets());
    this.choice.addEventListener("change", () => this.update());
    find("#filter").addEventListener("change", (event) => this.addFacet(event.currentTarget));
    addEventListener("hashchange", () => this.readAddress());
    await this.readAddress();
    this.canvas.dataset.ready = "yes";
  }

  async readAddress() {
    const state = readState();
    const offered = [...this.choice.options].map((option) => option.value);
    if (state.by && offered.includes(state.by)) this.choice.value = state.by;
    this.filters = new Map([...state.filters].filter(([by]) => offered.includes(by)));
    this.lasso = state.lasso;
    this.density = state.density;
    this.item = state.item;
    for (const by of this.filters.keys()) this.open.add(by);
    if (state.view) this.map.lookAt(state.view);
    await this.update();
  }

  writeAddress() {
    const { filters, lasso, density } = this;
    const isFirst = this.choice.selectedIndex === 0;
    writeState({ by: isFirst ? null : this.choice.value, filters, lasso, view: this.map.looksAt(), density });
  }

  async values(by) {
    if (!this.known.has(by)) {
      const option = [...this.choice.options].find((one) => one.value === by);
      this.known.set(by, new Values(await answer(option.dataset.values)));
    }
    return this.known.get(by);
  }

  // ---- what is selected ---------------------------------------------------------------------------------------------
  // A mask of the items that match the lasso and all filters but one; null if there are none.
  mask(but = null) {
    const filters = [...this.filters].filter(([by]) => by !== but);
    if (!filters.length && !this.lasso) return null;
    const mask = new Uint8Array(this.map.cloud.size).fill(1);
    if (this.lasso) {
      mask.fill(0);
      for (const item of this.map.cloud.inside(this.lasso)) mask[item] = 1;
    }
    for (const [by, wanted] of filters) {
      const { values } = this.known.get(by);
      const matches = this.known.get(by).matcher(wanted);
      for (let item = 0; item < mask.length; item++) if (mask[item] && !matches(values[item])) mask[item] = 0;
    }
    return mask;
  }

  async update() {
    const by = this.choice.value;
    await Promise.all([by, ...this.open].filter(Boolean).map((name) => this.values(name)));
    if (by) {
      const values = this.known.get(by);
      this.map.colourBy(values.isNumber ? "number" : "class", values.colours());
    }
    const mask = this.mask();
    this.map.pick(mask);
    this.map.density = this.density ?? this.map.cloud.size >= MANY;
    find("#density").setAttribute("aria-pressed", this.map.density);
    this.showFacets();
    this.showPanel(mask);
    this.later("address", () => this.writeAddress());
  }

  drawn(polygon) {
    if (polygon === null) this.filters.clear();
    this.lasso = polygon && simplified(polygon);
    this.item = null;
    this.update();
  }

  addFacet(choice) {
    if (choice.value) this.open.add(choice.value);
    choice.value = "";
    this.update();
  }

  showFacets() {
    const isDark = this.map.dark.matches;
    const focus = document.activeElement?.closest?.(".facet")?.getAttribute("aria-label");
    // by what it is called: filters gain and lose buttons
    const called = (one) => one.getAttribute("aria-label") ?? one.querySelector(".name")?.textContent ?? one.textContent;
    const name = focus ? called(document.activeElement) : null;
    const made = (by, coloured) => {
      const option = [...this.choice.options].find((one) => one.value === by);
      const change = (wanted) => {
        if (wanted === null) this.filters.delete(by);
        else this.filters.set(by, wanted);
        this.item = null;
        this.update();
      };
      const close = coloured ? null : () => { this.open.delete(by); change(null); };
      const values = this.known.get(by);
      return facet(option.textContent, values, this.filters.get(by), this.mask(by), { coloured, isDark, change, close });
    };
    const by = this.choice.value;
    find("#legend").replaceChildren(...(by && this.known.has(by) ? [made(by, true)] : []));
    find("#facets").replaceChildren(...[...this.open].filter((name) => name !== by && this.known.has(name)).map((name) => made(name, false)));
    if (focus) [...document.querySelectorAll(".facet")].find((one) => one.getAttribute("aria-label") === focus)?.querySelectorAll("button, input, select").forEach((one) => called(one) === name && one.focus());
  }

  async showPanel(mask) {
    const panel = find("#selection");
    if (this.item !== null && isSite) {
      const close = () => { this.item = null; this.update(); };
      this.map.mark([this.item]);
      return showItem(panel, await cardOf(this.item), close);
    }
    this.map.mark([]);
    if (mask === null) return panel.replaceChildren(...this.intro);
    const rows = [];
    mask.forEach((kept, row) => kept && rows.push(row));
    const query = selectionQuery(this);
    panel.replaceChildren(heading(rows.length));
    if (!rows.length) return panel.append(element("p", "Nothing matches; press Clear, or choose other values.", { class: "quiet" }));
    panel.append(exportParts(query, rows.length, () => Promise.all(rows.map(cardOf))));
    const shown = element("div", "", { "aria-live": "polite" });
    panel.append(shown);
    this.later("panel", async () => {
      try {
        const parts = isSite ? [element("ul", (await Promise.all(rows.slice(0, LISTED).map(cardOf))).map(itemLine), { class: "items" })] : selectionParts(await this.asked(rows));
        shown.replaceChildren(...parts);
      } catch (error) {
        shown.textContent = error.message;
      }
    });
  }

  asked(rows) {
    const headers = { "Content-Type": "application/json" };
    return answer(addressOf("selection"), { method: "POST", headers, body: JSON.stringify({ rows }) });
  }

  later(name, act) {
    this.timers ??= new Map();
    clearTimeout(this.timers.get(name));
    this.timers.set(name, setTimeout(act, PAUSE));
  }

  // ---- controls -----------------------------------------------------------------------------------------------------
  connectButtons() {
    const { map, canvas } = this;
    const on = (id, act) => find(id)?.addEventListener("click", act);
    on("#zoom-in", () => map.zoom(1.6));
    on("#zoom-out", () => map.zoom(1 / 1.6));
    on("#whole", () => map.reset());
    on("#clear", () => map.tell("lasso", null));
    on("#in-sight", () => map.tell("lasso", map.sight()));
    on("#lasso", (event) => {
      map.mode = map.mode === "lasso" ? "move" : "lasso";
      event.currentTarget.setAttribute("aria-pressed", map.mode === "lasso");
      canvas.classList.toggle("lasso", map.mode === "lasso");
    });
    on("#density", () => { this.density = !map.density; this.update(); });
    on("#pictures", (event) => {
      map.showsPictures = !map.showsPictures;
      event.currentTarget.setAttribute("aria-pressed", map.showsPictures);
      map.redraw();
    });
  }
}
