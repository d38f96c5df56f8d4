// Rows stay where they are while one is pressed or carried, and for a while after a press on a circle, so that a second press
// hits the same circle.

const SETTLING_MILLISECONDS = 2000;

const later = [];
let timer = null;
let holders = 0;

function release() {
  timer = null;
  if (holders) return;
  document.dispatchEvent(new Event("tally-settled"));
  for (const action of later.splice(0)) action();
}

export function isSettling() {
  return timer !== null || holders > 0;
}

// Holds the rows from now on.
export function hold() {
  clearTimeout(timer);
  timer = setTimeout(release, SETTLING_MILLISECONDS);
}

// Holds the rows until the function that is returned is called, once.
export function holdUntilReleased() {
  holders += 1;
  return () => {
    holders -= 1;
    if (timer === null) release();
  };
}

// Holds the rows at least until a change of them has been answered.
export async function holdDuring(promise) {
  hold();
  const resume = holdUntilReleased();
  try {
    return await promise;
  } finally {
    resume();
  }
}

// Runs actions that may move rows, in order, as soon as everything has settled.
export function whenSettled(action) {
  if (isSettling() || later.length) later.push(action);
  else action();
}
