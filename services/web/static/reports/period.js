// The period that the reports are about: whole days of UTC, in the address, so that a report is a link.

const DAY_MS = 24 * 3600 * 1000;
const DAYS = 30;

const day = (ms) => new Date(ms).toISOString().slice(0, 10);
const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text ?? "") && !Number.isNaN(Date.parse(text));

/** {from, to}: the first and the last day. Without one the last thirty days. */
export function period() {
  const asked = new URLSearchParams(location.search);
  const now = Date.now();
  return {
    from: isDay(asked.get("from")) ? asked.get("from") : day(now - (DAYS - 1) * DAY_MS),
    to: isDay(asked.get("to")) ? asked.get("to") : day(now),
  };
}

/** The API's query: until before the day after the last. */
export const queryOf = ({ from, to }) => ({ from_ms: Date.parse(from), to_ms: Date.parse(to) + DAY_MS });

/** Every day of the period, at most `most` of them, the last ones. */
export function days({ from, to }, most) {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const found = [];
  for (let ms = Math.max(first, last - (most - 1) * DAY_MS); ms <= last; ms += DAY_MS) found.push(day(ms));
  return found;
}
