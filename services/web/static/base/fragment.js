// What the address says behind `#`: `#step=12`. It never leaves the browser, so a one-time code may stand there.

/** Its parts, of the address as it is or of `url`. */
export const fragment = (url = location.href) => new URLSearchParams(new URL(url).hash.slice(1));

/** Set (or with null take away) parts of the fragment in place: no new entry in the history. */
export function setFragment(changes) {
  const parts = fragment();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) parts.delete(name);
    else parts.set(name, value);
  }
  const text = parts.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}
