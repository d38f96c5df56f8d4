// The event stream of a browser: one for all of its screens, since a browser opens only six connections to a server.
//
// A member is a screen: the view that it follows, if any, the versions of what it shows, and a function that receives
// { event, id, data } and { state }. The state is "opening", "open", or why there is no stream: "lost", "full" or "refused".

const FIRST_PAUSE_MILLISECONDS = 500;
const LONGEST_PAUSE_MILLISECONDS = 30_000;
// Several screens that open at once ask for one stream.
const GATHERING_MILLISECONDS = 50;
// The server sends a comment every 15 seconds.
const LONGEST_SILENCE_MILLISECONDS = 45_000;
// The things that screens show besides a view, as parameters of the stream's address.
const SURROUNDINGS = ["places", "agenda", "store"];

export class Stream {
  constructor() {
    this.members = new Set();
    this.state = "opening";
    // The oldest versions of the surroundings that any screen shows.
    this.known = {};
    this.failures = 0;
  }

  join(member) {
    this.members.add(member);
    for (const name of SURROUNDINGS) this.known[name] ??= member[name];
    member.receive({ state: this.state });
    this.openAfter(this.controller ? GATHERING_MILLISECONDS : 0);
  }

  leave(member) {
    if (!this.members.delete(member) || this.members.size) return;
    clearTimeout(this.timer);
    this.controller?.abort();
    this.controller = null;
  }

  // Tries at once, because a person asks for it.
  retry() {
    if (this.state !== "open") this.openAfter(0);
  }

  openAfter(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), milliseconds);
  }

  // The views that are followed, each from the earliest version that one of its screens shows, and their surroundings.
  address() {
    const versions = new Map();
    for (const { view, version } of this.members) {
      if (!view) continue;
      const other = versions.get(view);
      if (other === undefined || isEarlier(version, other) || epoch(version) !== epoch(other)) versions.set(view, version);
    }
    const query = new URLSearchParams();
    for (const [view, version] of versions) {
      query.append("view", view);
      query.append("after", version);
    }
    for (const name of SURROUNDINGS) {
      if ([...this.members].some((member) => member[name])) query.append(name, this.known[name] ?? "");
    }
    return `/events?${query}`;
  }

  async open() {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    let state = "lost";
    let pause = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** this.failures, LONGEST_PAUSE_MILLISECONDS);
    try {
      const response = await fetch(this.address(), { signal: controller.signal, headers: { Accept: "text/event-stream" } });
      if (response.ok) {
        this.failures = 0;
        this.say("open");
        await this.read(response.body, controller);
      } else {
        state = response.status === 503 ? "full" : response.status < 500 ? "refused" : "lost";
        pause = Math.max(pause, 1000 * Number(response.headers.get("Retry-After") ?? 0));
      }
    } catch {
      // The network's errors: the server does not answer, or has stopped.
    }
    if (controller !== this.controller) return;
    this.failures += 1;
    this.say(state);
    this.openAfter(pause);
  }

  async read(body, controller) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    let silence;
    try {
      for (;;) {
        clearTimeout(silence);
        silence = setTimeout(() => reader.cancel().catch(() => {}), LONGEST_SILENCE_MILLISECONDS);
        const { done, value } = await reader.read();
        if (done || controller !== this.controller) return;
        const events = (text + value).split("\n\n");
        text = events.pop();
        for (const event of events) this.receive(event);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  receive(text) {
    const fields = {};
    for (const line of text.split("\n")) {
      const end = line.indexOf(":");
      if (end > 0) fields[line.slice(0, end)] = line.slice(end + 1).trimStart();
    }
    if (!fields.event) return;
    const data = fields.data ? JSON.parse(fields.data) : {};
    const message = { event: fields.event, id: fields.id, data };
    // Only the event of the store has its new version; after the others the next stream begins with one event more.
    if (data.view === undefined) this.known[fields.event === "stale" ? "store" : fields.event] = fields.id ?? "";
    for (const member of this.members) {
      if (data.view === undefined) member.receive(message);
      else if (data.view === member.view && isNews(fields.id, member.version)) {
        member.version = fields.id;
        member.receive(message);
      }
    }
  }

  say(state) {
    if (state === this.state) return;
    this.state = state;
    // Something may be missed until there is a stream again.
    if (state !== "open") this.known = { places: "", agenda: "", store: "" };
    for (const member of this.members) member.receive({ state });
  }
}

// A version is the epoch of the server's feed and the number of an event.
export function epoch(version) {
  return version.split(".")[0];
}

export function number(version) {
  return Number(version.split(".")[1]);
}

function isEarlier(version, other) {
  return epoch(version) === epoch(other) && number(version) < number(other);
}

// Whether an event comes after what a screen shows; a screen may be newer than the stream.
function isNews(id, version) {
  return epoch(id) !== epoch(version) || number(id) > number(version);
}
