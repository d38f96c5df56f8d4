// Search as one types: the answer's content takes the place of the screen's.

export function startSearch(leave) {
  const field = document.getElementById("search-text");
  const main = document.getElementById("main");
  let asked = 0;
  let timer;

  async function search() {
    const number = ++asked;
    const address = `/search?${new URLSearchParams({ q: field.value })}`;
    const response = await fetch(address);
    const html = await response.text();
    if (number !== asked || !response.ok) return;
    const answer = new DOMParser().parseFromString(html, "text/html");
    leave();
    document.body.dataset.path = "/search";
    main.replaceChildren(...answer.getElementById("main").childNodes);
    document.title = answer.title;
    if (location.pathname === "/search") history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 80);
  });
  // The browser goes back to a screen that was replaced.
  addEventListener("popstate", () => location.reload());
}
