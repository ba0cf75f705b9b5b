// The first page: what is here, and the tables that are open.

import { html } from "/assets/vendor/preact.js";
import { get } from "/assets/base/api.js";
import { Id } from "/assets/base/ids.js";
import { addWords, language, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { LINKS, Loading, ProblemBox, show, useAnswer } from "/assets/base/page.js";

addWords({
  en: {
    "home.lead": "Tables of khrap, frap and five-card khrap. Every act is recorded; any hand can be replayed and proved.",
    "home.pages": "What is here", "home.review.player": "Your hands: each card, each kopeck, as you saw it.",
    "home.review.compliance": "Find a hand; replay it, check its money, its chain and its shuffle.",
    "home.review.any": "Hands that are over, for players (their own) and compliance. Needs a sign-in link.",
    "home.reports": "Commission, capped fines, banks, voids and statements, with CSV. For operators and compliance.",
    "home.ops": "What is wrong now and what to do about it; projections, halted tables. For ops.",
    "home.api": "The API's document (OpenAPI 3.1)", "home.tables": "Open tables",
    "home.no_tables": "No table is open.", "home.table": "Table", "home.game": "Game", "home.stake": "Stake",
    "home.seats": "Seats", "home.hands": "Hands", "home.bank": "Bank", "home.halted": "halted", "home.care": "Look after it",
  },
  ru: {
    "home.lead": "Столы храпа, фрапа и пятикарточного храпа. Каждое действие записано; любую раздачу можно пересмотреть и доказать.",
    "home.pages": "Что здесь есть", "home.review.player": "Ваши раздачи: каждая карта и каждая копейка, как вы их видели.",
    "home.review.compliance": "Найти раздачу, пересмотреть её, проверить деньги, цепочку записей и тасовку.",
    "home.review.any": "Сыгранные раздачи: игрокам свои, проверяющим все. Нужна ссылка для входа.",
    "home.reports": "Комиссия, неполные штрафы, банки, отмены и выписки, с CSV. Для операторов и проверяющих.",
    "home.ops": "Что сейчас не так и что с этим делать; проекции, остановленные столы. Для дежурных.",
    "home.api": "Описание API (OpenAPI 3.1)", "home.tables": "Открытые столы",
    "home.no_tables": "Открытых столов нет.", "home.table": "Стол", "home.game": "Игра", "home.stake": "Ставка",
    "home.seats": "Места", "home.hands": "Раздач", "home.bank": "Банк", "home.halted": "остановлен", "home.care": "Вести этот стол",
  },
});

function Home({ session }) {
  const open = (path) => session === null || LINKS.find((each) => each.path === path).roles.includes(session.role);
  return html`
    <h1>${t("site")}</h1>
    <p class="lead">${t("home.lead")}</p>
    <section aria-labelledby="pages"><h2 id="pages">${t("home.pages")}</h2>
      <ul class="tiles">
        ${open("/review") && html`<li><a class="tile" href="/review"><b>${t("nav.review")}</b><span>${t(`home.review.${session?.role ?? "any"}`)}</span></a></li>`}
        ${open("/reports") && html`<li><a class="tile" href="/reports"><b>${t("nav.reports")}</b><span>${t("home.reports")}</span></a></li>`}
        ${open("/ops") && html`<li><a class="tile" href="/ops"><b>${t("nav.ops")}</b><span>${t("home.ops")}</span></a></li>`}
        <li><a class="tile" href="/schema/openapi.json"><b>API</b><span>${t("home.api")}</span></a></li>
      </ul>
    </section>
    <section aria-labelledby="tables"><h2 id="tables">${t("home.tables")}</h2><${Tables} cared=${session?.role === "ops"} /></section>`;
}

/** `cared`: each has a link to where ops look after it. */
function Tables({ cared }) {
  const { value, problem, again } = useAnswer((signal) => get("/v1/tables", { limit: 50 }, signal), []);
  if (problem) return html`<${ProblemBox} problem=${problem} retry=${again} />`;
  if (!value) return html`<${Loading} />`;
  if (!value.tables.length) return html`<p class="muted">${t("home.no_tables")}</p>`;
  const head = (name, cls = "number") => html`<th role="columnheader" scope="col" class=${cls}>${t(`home.${name}`)}</th>`;
  const cell = (name, content, cls = "number") => html`<td role="cell" class=${cls} data-label=${t(`home.${name}`)}>${content}</td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="tables"><table class="grid stacked" role="table">
    <thead role="rowgroup"><tr role="row">${head("table", "")}${head("game", "")}${head("stake")}${head("seats")}${head("bank")}${head("hands")}</tr></thead>
    <tbody role="rowgroup">${value.tables.map(({ table_id, settings, seats, carried_bank, hand_no, halted }) => html`<tr role="row" key=${table_id}>
      ${cell("table", html`<${Id} id=${table_id} />${halted && html` <em>${t("home.halted")}</em>`}
        ${cared && html` <a href=${`/ops#table=${table_id}`}>${t("home.care")}<span class="hidden"> ${table_id}</span></a>`}`, "broad")}
      ${cell("game", t(`game.${settings.options.game}`), "")}
      ${cell("stake", `${money(settings.stake, language())} ${settings.currency}`)}
      ${cell("seats", `${seats.length}/${settings.max_seats}`)}
      ${cell("bank", carried_bank === null ? "–" : money(carried_bank, language()))}
      ${cell("hands", hand_no ?? "–")}</tr>`)}</tbody>
  </table></div>`;
}

show(Home, () => t("nav.home"));
