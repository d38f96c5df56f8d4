// Follows the store: by the stream that all tabs share, or by one of this tab where a browser cannot share one.

import { announce } from "./requests.js";
import { Stream } from "./stream.js";

const WORDS = {
  lost: "Tally does not answer, so that this screen may be out of date. Is tally-web still running? It is tried again by itself.",
  full: "Too many screens follow Tally, so that this one may be out of date. Close some; it is tried again by itself.",
  refused: "This browser no longer has access: tally-web was started again, or your visit has expired. Open the address that tally-web printed last.",
};
// A server that is started again, or a page that is left, is not worth a message.
const PATIENCE_MILLISECONDS = 1500;

// Takes what the screen shows, as a member of a stream; returns functions that ask for a new attempt and that leave.
export function follow(member, receive) {
  let stream;
  const followByItself = () => (stream = followAlone({ ...member, receive }));
  try {
    const worker = new SharedWorker(new URL("stream-worker.js", import.meta.url), { type: "module", name: "tally" });
    // The worker cannot be loaded.
    worker.addEventListener("error", followByItself);
    stream = followByWorker(worker, member, receive);
  } catch {
    followByItself();
  }
  return { retry: () => stream.retry(), leave: () => stream.leave() };
}

function followAlone(member) {
  const stream = new Stream();
  stream.join(member);
  return { retry: () => stream.retry(), leave: () => stream.leave(member) };
}

function followByWorker({ port }, member, receive) {
  const lock = `tally-${crypto.randomUUID()}`;
  let free;
  const leave = () => {
    port.postMessage({ leave: true });
    free?.();
  };
  port.onmessage = ({ data }) => receive(data);
  // The worker notices by the lock that this tab has gone.
  navigator.locks.request(lock, () => {
    port.postMessage({ member, lock });
    return new Promise((resolve) => (free = resolve));
  });
  addEventListener("pagehide", leave);
  // A page that comes back from the browser's memory has left the stream.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  return { retry: () => port.postMessage({ retry: true }), leave };
}

// Shows a message while there is no stream, with the remedy, and one when it is back.
export class ConnectionNotice {
  constructor(retry) {
    this.box = document.getElementById("connection");
    this.retry = retry;
    // The reason may be gone when somebody looks again, as after opening the new address in another tab.
    addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.state !== "open" && this.retry());
    addEventListener("online", () => this.retry());
  }

  set(state) {
    this.state = state;
    clearTimeout(this.timer);
    if (WORDS[state]) this.timer = setTimeout(() => this.show(state), state === "lost" ? PATIENCE_MILLISECONDS : 0);
    else if (state === "open" && this.box.hasChildNodes()) {
      this.box.replaceChildren();
      announce("This screen follows Tally again");
    }
  }

  show(state) {
    if (this.box.dataset.state === state && this.box.hasChildNodes()) return;
    this.box.dataset.state = state;
    const words = document.createElement("span");
    words.textContent = WORDS[state];
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Try now";
    button.addEventListener("click", () => this.retry());
    this.box.replaceChildren(words, button);
  }
}
