// What is looked at, as the part of the address after #: colour, filters, lasso and place, so that a view can be sent.
//
// #by=column:rating&column:place=Porto|Split&topic:3=0.5..&lasso=0,0 900,0 900,900&view=12000,30000,4

const CORNERS = 60; // of a lasso that is kept

export function readState() {
  const hash = location.hash.slice(1);
  // an address may name nothing but a colour
  const given = hash.includes("=") ? new URLSearchParams(hash) : new URLSearchParams(hash ? [["by", decodeURIComponent(hash)]] : []);
  const filters = new Map([...given].filter(([name]) => /^(column|topic):/.test(name)));
  const corners = (given.get("lasso") ?? "").split(" ").map((corner) => corner.split(",").map(Number));
  const lasso = corners.length > 2 && corners.flat().every(Number.isFinite) ? corners : null;
  const view = (given.get("view") ?? "").split(",").map(Number);
  return {
    by: given.get("by"),
    filters,
    lasso,
    view: view.length === 3 && view.every(Number.isFinite) && view[2] > 0 ? view : null,
    density: given.has("density") ? given.get("density") === "yes" : null,
    item: /^\d+$/.test(given.get("item") ?? "") ? Number(given.get("item")) : null,
  };
}

export function writeState({ by, filters, lasso, view, density }) {
  const written = selectionQuery({ filters, lasso });
  if (by) written.set("by", by);
  if (view) written.set("view", view.map((value) => Number(value.toPrecision(6))).join(","));
  if (density !== null) written.set("density", density ? "yes" : "no");
  const hash = written.toString();
  if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

// The selection as the table of items takes it.
export function selectionQuery({ filters, lasso }) {
  const written = new URLSearchParams([...filters]);
  if (lasso) written.set("lasso", lasso.map((corner) => corner.join(",")).join(" "));
  return written;
}

// A polygon of whole numbers with not too many corners, which the address can hold.
export function simplified(polygon) {
  const step = Math.max(1, polygon.length / CORNERS);
  const kept = [];
  for (let place = 0; place < polygon.length; place += step) kept.push(polygon[Math.floor(place)].map(Math.round));
  return kept.length > 2 ? kept : null;
}
