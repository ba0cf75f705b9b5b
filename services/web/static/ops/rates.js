// Rates from what was seen lately, and durations for people.

import { language, t } from "/assets/base/language.js";

/** How many a second `value(status)` has grown over the statuses seen, or null where there is only one. */
export function rate(seen, value) {
  const known = seen.filter((each) => value(each) !== undefined);
  if (known.length < 2) return null;
  const [first, last] = [known[0], known.at(-1)];
  const seconds = (last.at_ms - first.at_ms) / 1000;
  return seconds > 0 ? Math.max(0, (Number(value(last)) - Number(value(first))) / seconds) : null;
}

/** 1234567 → "1 234 567", in the language's own way. */
export const count = (n) => new Intl.NumberFormat(language()).format(n);

export const rounded = (n) => new Intl.NumberFormat(language(), { maximumFractionDigits: n < 10 ? 1 : 0 }).format(n);

export const perSecond = (n) => (n === null ? "–" : t("per_s", { n: rounded(n) }));

export function duration(ms) {
  const s = ms / 1000;
  if (s < 90) return t("seconds", { n: rounded(s) });
  return s < 5400 ? t("minutes", { n: rounded(s / 60) }) : t("hours", { n: rounded(s / 3600) });
}
