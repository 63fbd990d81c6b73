// Where answers come from: a server, or files of a site that a browser opens from the disk, where nothing can be fetched.

export const addresses = JSON.parse(document.documentElement.dataset.at);
export const addressOf = (name, n = "") => addresses[name].replace("{n}", encodeURIComponent(n));
export const isSite = "items" in addresses; // files, of which each holds some of the items

const waiting = new Map();
const known = new Map();
// Every file of data of a site is a script that calls this with its own address.
window.harmoniumData = (address, content) => waiting.get(address)?.(content);

export function answer(address, options) {
  return address.endsWith(".js") ? remembered(address) : asked(address, options);
}

async function asked(address, options) {
  const response = await fetch(address, options);
  const found = await response.json();
  if (!response.ok) throw new Error(found.error);
  return found;
}

function remembered(address) {
  if (!known.has(address)) {
    known.set(address, new Promise((resolve, reject) => {
      waiting.set(address, resolve);
      const script = Object.assign(document.createElement("script"), { src: address });
      script.onerror = () => reject(new Error(`The site lacks the file ${address}.`));
      document.head.append(script);
    }));
  }
  return known.get(address);
}

// What is shown of an item where there is little room; on a site all that is known of it.
export async function cardOf(row) {
  if (!isSite) return answer(addressOf("card", row));
  const size = Number(document.documentElement.dataset.chunk);
  return (await answer(addressOf("items", Math.floor(row / size))))[row % size];
}
