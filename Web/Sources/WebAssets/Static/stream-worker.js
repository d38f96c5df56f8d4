// Holds the event stream for all tabs of a browser.

import { Stream } from "./stream.js";

const stream = new Stream();

addEventListener("connect", ({ ports: [port] }) => {
  let member;
  port.onmessage = ({ data }) => {
    if (data.retry) return stream.retry();
    if (data.leave) return member && stream.leave(member);
    member = { ...data.member, receive: (message) => port.postMessage(message) };
    stream.join(member);
    // The tab holds this lock as long as it lives, however it ends.
    navigator.locks.request(data.lock, () => stream.leave(member));
  };
  port.start();
});
