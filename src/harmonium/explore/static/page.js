// What pages do beside showing what the server wrote: the large map with its controls, and the little maps.

import { ItemMap } from "./map.js";
import { showLegend, showSelection } from "./panel.js";

const PICTURE_SIDE = 96; // pixels of pictures that are asked about
const MOST_LETTERS = 24_000; // of a picture in an address

const answer = async (address, options) => {
  const response = await fetch(address, options);
  const found = await response.json();
  if (!response.ok) throw new Error(found.error);
  return found;
};

const needed = document.querySelector("#map, [data-map]");
const points = needed ? answer("/map.json") : null;

async function startLargeMap(canvas) {
  const pictures = canvas.dataset.pictures ? "/pictures/{row}.png" : null;
  const map = new ItemMap(canvas, await points, { thumbnails: pictures });
  window.harmoniumMap = map; // for those who look under the hood, and for tests
  const choice = document.querySelector("#colour");
  const asked = decodeURIComponent(location.hash.slice(1));
  if (asked && [...choice.options].some((option) => option.value === asked)) choice.value = asked;
  const recolour = async () => {
    if (!choice.value) return;
    const colours = await answer(`/colours.json?by=${encodeURIComponent(choice.value)}`);
    map.colourBy(colours.kind, colours.values);
    showLegend(document.querySelector("#legend"), colours, map.dark.matches);
  };
  choice.addEventListener("change", recolour);
  connectButtons(map, canvas);
  connectSelection(map);
  connectHint(map, canvas);
  map.addEventListener("open", (event) => { location.href = `/items/${event.detail.point}`; });
  await recolour();
  canvas.dataset.ready = "yes";
}

function connectButtons(map, canvas) {
  const on = (id, act) => document.querySelector(id)?.addEventListener("click", act);
  on("#zoom-in", () => map.zoom(1.6));
  on("#zoom-out", () => map.zoom(1 / 1.6));
  on("#whole", () => map.reset());
  on("#clear", () => map.tell("lasso", null));
  on("#in-sight", () => map.tell("lasso", map.visible()));
  on("#lasso", (event) => {
    map.mode = map.mode === "lasso" ? "move" : "lasso";
    event.currentTarget.setAttribute("aria-pressed", map.mode === "lasso");
    canvas.classList.toggle("lasso", map.mode === "lasso");
  });
  on("#pictures", (event) => {
    map.showsPictures = !map.showsPictures;
    event.currentTarget.setAttribute("aria-pressed", map.showsPictures);
    map.redraw();
  });
}

function connectSelection(map) {
  const panel = document.querySelector("#selection");
  const before = [...panel.childNodes];
  map.addEventListener("lasso", async (event) => {
    const rows = event.detail.point;
    map.pick(rows && rows.length ? rows : null);
    if (!rows || !rows.length) return panel.replaceChildren(...before);
    const body = JSON.stringify({ rows });
    const headers = { "Content-Type": "application/json" };
    try {
      showSelection(panel, await answer("/selection.json", { method: "POST", headers, body }));
    } catch (error) {
      panel.textContent = error.message;
    }
  });
}

function connectHint(map, canvas) {
  const hint = document.querySelector("#hint");
  const known = new Map();
  let wanted = -1;
  let timer = 0;
  map.addEventListener("hover", (event) => {
    const { point, place } = event.detail;
    if (point === wanted) return;
    wanted = point;
    hint.hidden = true;
    clearTimeout(timer);
    if (point < 0) return;
    timer = setTimeout(async () => {
      if (!known.has(point)) known.set(point, (await answer(`/cards/${point}.json`)));
      if (point !== wanted) return;
      const card = known.get(point);
      hint.replaceChildren();
      if (card.has_picture) hint.append(Object.assign(new Image(), { src: `/pictures/${point}.png`, alt: "" }));
      const target = Object.entries(card.target).map(([name, value]) => `${name} ${value}`).join(", ");
      hint.append(`${card.title}${target ? ` (${target})` : ""}`);
      hint.hidden = false;
      const [x, y] = [place[0] / map.ratio, place[1] / map.ratio];
      hint.style.left = `${Math.max(4, Math.min(x + 14, canvas.clientWidth - hint.offsetWidth - 4))}px`;
      hint.style.top = `${Math.max(4, Math.min(y + 14, canvas.clientHeight - hint.offsetHeight - 4))}px`;
    }, 70);
  });
}

async function startLittleMap(canvas) {
  const map = new ItemMap(canvas, await points);
  const marked = canvas.dataset.marked.split(",").filter(Boolean).map(Number);
  map.colourBy("class", new Uint8Array(map.cloud.size).fill(255));
  map.pick(marked);
  map.mark(marked, canvas.dataset.new?.split(",").map(Number));
  map.addEventListener("open", (event) => { location.href = `/items/${event.detail.point}`; });
}

// A picture is sent as part of the address, made small before: the server reads no files, and nothing is kept.
async function takePicture(input) {
  const picture = await createImageBitmap(input.files[0]);
  const scale = Math.min(1, PICTURE_SIDE / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  const png = canvas.toDataURL("image/png");
  input.form.elements[input.dataset.picture].value = png.length < MOST_LETTERS ? png : canvas.toDataURL("image/jpeg", 0.8);
}

for (const input of document.querySelectorAll("[data-picture]")) input.addEventListener("change", () => takePicture(input));
const large = document.querySelector("#map");
if (large) startLargeMap(large);
for (const canvas of document.querySelectorAll("[data-map]")) startLittleMap(canvas);
