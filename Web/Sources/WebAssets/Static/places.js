// The places with their counts, and the agenda, are read again when the server says that they have changed.

import { morph } from "./morph.js";
import { whenSettled } from "./settling.js";

async function fragment(path) {
  const response = await fetch(path);
  if (!response.ok) return null;
  const template = document.createElement("template");
  template.innerHTML = `<div>${await response.text()}</div>`;
  return template.content.firstElementChild;
}

export class Places {
  constructor(main) {
    this.main = main;
  }

  async read() {
    const fresh = await fragment(`/places?${new URLSearchParams({ at: document.body.dataset.path })}`).catch(() => null);
    if (!fresh) return;
    for (const place of document.querySelectorAll("#places, .places-page")) {
      const copy = place.cloneNode();
      copy.append(...fresh.cloneNode(true).childNodes);
      morph(place, copy);
    }
  }

  async readAgenda() {
    const slot = document.getElementById("agenda");
    const fresh = slot && (await fragment("/agenda").catch(() => null));
    if (!fresh) return;
    const copy = slot.cloneNode();
    copy.append(...fresh.childNodes);
    whenSettled(() => morph(slot, copy));
  }
}
