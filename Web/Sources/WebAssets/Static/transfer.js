// Importing a file, with progress: first while it is sent, then while it is read.

import { show } from "./requests.js";

export function startTransfer() {
  const form = document.getElementById("import");
  if (!form) return;
  const file = document.getElementById("import-file");
  const progress = document.getElementById("progress");
  const outcome = document.getElementById("outcome");

  // The key of the file and options that were sent last, until their answer has come.
  let key = null;
  form.addEventListener("change", () => (key = null));

  async function send() {
    key ??= crypto.randomUUID();
    const options = new URLSearchParams({ key, format: form.elements.format.value, dry: form.elements.dry.checked ? "yes" : "", confirmed: form.elements.confirmed.checked ? "yes" : "" });
    const response = await fetch(`/import?${options}`, { method: "POST", body: file.files[0], headers: { Accept: "application/json" } });
    if (!response.ok) {
      const answer = await response.json();
      return `${answer.failure}. ${answer.remedy}.`;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    let words = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        key = null;
        return words;
      }
      const lines = (text + value).split("\n");
      text = lines.pop();
      for (const line of lines) {
        const step = JSON.parse(line);
        if (step.progress) progress.value = Number(step.progress);
        words = step.words ?? step.failure ?? step.question ?? words;
        if (step.change) show({ words: "Imported", change: step.change });
        if (step.question) document.getElementById("confirm-import").hidden = false;
      }
    }
  }

  form.addEventListener("submit", async (event) => {
    if (!file.files.length) return;
    event.preventDefault();
    progress.hidden = false;
    progress.removeAttribute("value");
    outcome.textContent = "";
    try {
      outcome.textContent = await send();
    } catch {
      outcome.textContent = "The connection broke before the answer came. Press Import again: nothing is imported twice.";
    }
    progress.hidden = true;
  });
}
