// The field for capture: shows what a sentence is understood as while it is typed.

import { send, show } from "./requests.js";

export function startCapture() {
  const form = document.getElementById("capture");
  const field = document.getElementById("capture-text");
  const understood = document.getElementById("understood");
  let asked = 0;
  let timer;

  async function understand() {
    const number = ++asked;
    const text = field.value;
    // Longer than a sentence: the server understands it when it is sent.
    const isShort = text.trim() && text.length < 2000;
    const html = isShort ? await (await fetch(`/capture?${new URLSearchParams({ text })}`)).text() : "";
    if (number !== asked) return;
    const isLiteral = understood.querySelector("input")?.checked;
    understood.innerHTML = html;
    const box = understood.querySelector("input");
    if (box && isLiteral) box.checked = true;
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(understand, 60);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // At once, so that the next task can be typed; a text that is refused comes back.
    const fields = new FormData(form);
    const text = field.value;
    field.value = "";
    clearTimeout(timer);
    asked += 1;
    understood.replaceChildren();
    field.focus();
    const answer = await send("/capture", fields);
    if (!answer) {
      if (!field.value) field.value = text;
      return;
    }
    show(answer.words, answer.change);
    document.dispatchEvent(new Event("tally-changed"));
  });
}
