// A question in a dialog of the page, which keeps the focus until it is answered.

function button(words, value) {
  const element = document.createElement("button");
  element.textContent = words;
  element.value = value;
  return element;
}

// Whether the person says yes; Escape says no, as does the button that has the focus first.
export function ask(title, words, yes) {
  const dialog = document.createElement("dialog");
  dialog.className = "question";
  dialog.setAttribute("role", "alertdialog");
  dialog.setAttribute("aria-label", title);
  dialog.setAttribute("aria-describedby", "question-words");
  const heading = document.createElement("h2");
  heading.textContent = title;
  const text = document.createElement("p");
  text.id = "question-words";
  text.textContent = words;
  const form = document.createElement("form");
  form.method = "dialog";
  const [no, go] = [button("Leave everything as it is", ""), button(yes, "yes")];
  no.autofocus = true;
  go.className = "danger";
  form.append(no, go);
  dialog.append(heading, text, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
