// What pages do beside showing what the server wrote: the large map, the little maps, and pictures that are asked about.

import { Explorer } from "./explorer.js";
import { ItemMap } from "./map.js";
import { addressOf, answer, cardOf } from "./source.js";

const PICTURE_SIDE = 96; // pixels of pictures that are asked about
const MOST_LETTERS = 24_000; // of a picture in an address

const needed = document.querySelector("#map, [data-map]");
const points = needed ? answer(addressOf("map")) : null;

async function startLargeMap(canvas) {
  const explorer = new Explorer(canvas, await points);
  window.harmoniumMap = explorer.map; // for those who look under the hood, and for tests
  connectHint(explorer.map, canvas);
  await explorer.start();
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
      if (!known.has(point)) known.set(point, await cardOf(point));
      if (point !== wanted) return;
      const card = known.get(point);
      hint.replaceChildren();
      if (card.has_picture) hint.append(Object.assign(new Image(), { src: addressOf("picture", point), alt: "" }));
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
  const picked = new Uint8Array(map.cloud.size);
  for (const point of marked) picked[point] = 1;
  map.pick(picked);
  map.mark(marked, canvas.dataset.new?.split(",").map(Number));
  map.addEventListener("open", (event) => { location.href = addressOf("item", event.detail.point); });
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
