// Asking the API of this host. Whatever goes wrong is a Problem: RFC 9457's members, or that nobody answered.

export class Problem extends Error {
  constructor({ code, title, detail, status, clause }) {
    super(detail);
    Object.assign(this, { code, title, detail, status, clause });
  }
}

/** JSON whose whole numbers stay exact: past 2^53 they are BigInt, where the browser shows a number's own text. */
function parse(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context.source)
      : value,
  );
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin", redirect: "error", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ code: "unreachable", title: "", detail: "", status: 0 });
  }
  const text = await response.text();
  let body = null;
  try {
    body = text ? parse(text) : null;
  } catch {
    throw new Problem({ code: "unreadable", title: "", detail: "", status: response.status });
  }
  if (!response.ok) throw new Problem({ code: "unreadable", title: "", detail: "", ...body, status: response.status });
  return body;
}

/** GET `path` with those of `query` that are given. */
export function get(path, query = {}, signal = undefined) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return ask(given.length ? `${path}?${new URLSearchParams(given)}` : path, { signal });
}

/** A write. `key` is for who wants to send the same act again. */
export function send(method, path, body, key = crypto.getRandomValues(new Uint32Array(4)).join("-")) {
  const headers = { "Idempotency-Key": key, "Content-Type": "application/json" };
  return ask(path, { method, headers, body: JSON.stringify(body ?? {}) });
}
