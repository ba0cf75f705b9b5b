// Amounts for people. They come as whole minor units, a BigInt where a number would not be exact.

/** 120050 → "1 200.50", in Russian "1 200,50". */
export function money(minor, language) {
  const value = BigInt(minor);
  const digits = (value < 0n ? -value : value).toString().padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return `${value < 0n ? "−" : ""}${whole}${language === "ru" ? "," : "."}${digits.slice(-2)}`;
}

/** The same with its sign: "+1.00", "−2.00", "0.00". */
export function change(minor, language) {
  return BigInt(minor) > 0n ? `+${money(minor, language)}` : money(minor, language);
}

/** "1 200,50" → 120050, or null where it is no amount. */
export function parseMoney(text) {
  const plain = text.replace(/[\s\u202f\u00a0]/g, "").replace(",", ".");
  const found = /^(\d{1,13})(?:\.(\d{1,2}))?$/.exec(plain);
  return found ? Number(found[1]) * 100 + Number((found[2] ?? "").padEnd(2, "0")) : null;
}
