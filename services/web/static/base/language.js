// The language of the page and its words. A message is a text with {places}, or plural forms chosen by {n}.

const COOKIE = "khrap_language";
const YEAR_S = 365 * 24 * 3600;
export const LANGUAGES = { en: "English", ru: "Русский" };

let current = document.documentElement.lang in LANGUAGES ? document.documentElement.lang : "en";
const dictionaries = { en: {}, ru: {} };

export const language = () => current;

/** Remember the choice, for the server too: the next page comes in it. */
export function setLanguage(chosen) {
  current = chosen;
  document.documentElement.lang = chosen;
  document.cookie = `${COOKIE}=${chosen}; Path=/; Max-Age=${YEAR_S}; SameSite=Strict`;
}

/** Add words: {en: {key: text}, ru: {key: text}}, the same keys in both. */
export function addWords(words) {
  for (const each of Object.keys(dictionaries)) Object.assign(dictionaries[each], words[each]);
}

export const hasWords = (key) => key in dictionaries[current];

/** The message `key`, its {places} filled from `given`. An unknown key is itself: an event newer than the page. */
export function t(key, given = {}) {
  let message = dictionaries[current][key] ?? key;
  if (typeof message === "object") {
    const form = new Intl.PluralRules(current).select(Number(given.n));
    message = message[form] ?? message.other;
  }
  return message.replace(/\{(\w+)\}/g, (_, name) => given[name] ?? "");
}

/** A recorded time, to the millisecond where `exact`; UTC, as the log has it. */
export function moment(ms, exact = false) {
  const text = new Date(ms).toISOString();
  return `${text.slice(0, 10)} ${exact ? text.slice(11, 23) : text.slice(11, 19)} UTC`;
}

/** The message `key` in pieces, for places that hold elements: ["Trick ", 2, " goes to ", element]. */
export function pieces(key, given) {
  const message = dictionaries[current][key] ?? key;
  return message.split(/\{(\w+)\}/).map((piece, i) => (i % 2 ? given[piece] : piece));
}
