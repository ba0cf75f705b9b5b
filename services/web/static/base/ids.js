// Ids of tables, hands and disputes: what one looks like, and a short one that tells its whole when it is pressed.

import { html, useState } from "/assets/vendor/preact.js";
import { t } from "/assets/base/language.js";

/** The text of a UUIDv7 in lower case, as a pattern. */
export const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
const WHOLE = new RegExp(`^${UUID}$`);
export const isId = (text) => WHOLE.test(text);

/** "…e3824c86", a button that copies the whole `id` and from then on shows it, whether the browser copies or not. */
export function Id({ id, short = `…${id.slice(-8)}` }) {
  const [state, setState] = useState(null);
  const copy = async () => {
    const copied = await (navigator.clipboard?.writeText(id).then(() => true, () => false) ?? false);
    setState(copied ? "copied" : "shown");
  };
  return html`<span class="id"><button type="button" title=${id} aria-label=${`${t("copy")}: ${id}`} onClick=${copy}><code>${state === null ? short : id}</code></button><span
    class="muted" role="status">${state === "copied" && html` ✓ ${t("copied")}`}</span></span>`;
}
