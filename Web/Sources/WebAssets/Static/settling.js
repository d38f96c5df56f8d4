// After a press on a circle the rows stay where they are for a while, whatever changes: a second press hits the same circle.

const SETTLING_MILLISECONDS = 2000;

const later = [];
let timer = null;
let unanswered = 0;

function release() {
  timer = null;
  if (unanswered) return;
  document.dispatchEvent(new Event("tally-settled"));
  for (const action of later.splice(0)) action();
}

export function isSettling() {
  return timer !== null || unanswered > 0;
}

// Holds the rows from now on.
export function hold() {
  clearTimeout(timer);
  timer = setTimeout(release, SETTLING_MILLISECONDS);
}

// Holds the rows until a change of them has been answered, too.
export async function holdDuring(promise) {
  hold();
  unanswered += 1;
  try {
    return await promise;
  } finally {
    unanswered -= 1;
    if (timer === null) release();
  }
}

// Does something that may move rows, once nothing settles, in order.
export function whenSettled(action) {
  if (isSettling() || later.length) later.push(action);
  else action();
}
