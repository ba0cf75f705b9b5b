// The words of the page of hands.

export const WORDS = {
  en: {
    "review.views": "What is shown", "review.view.hands": "Hands", "review.view.disputes": "Disputes", "review.view.signals": "Signals",
    "review.title.player": "Your hands", "review.title.compliance": "Hands", "review.form": "Search",
    "review.player": "Player", "review.table": "Table", "review.hand": "Hand", "review.from": "From (UTC)", "review.to": "To (UTC)", "review.min": "Bank from",
    "review.max": "Bank to", "review.flag": "What was in it", "review.any": "anything", "review.search": "Search", "review.clear": "Clear",
    "review.none": "No hand like that is over.", "review.more": "More", "review.found": { one: "{n} hand", other: "{n} hands" }, "review.found.more": "the last {n} hands",
    "review.bad_table": "A table is named by its whole id.", "review.bad_amount": "An amount such as 12.50", "review.bad_hand": "A hand is named by its whole id.",
    "tricks": { one: "{n} trick", other: "{n} tricks" }, "review.roles": "This page is for players and compliance. Sign in with a link for one of these roles.", "review.open": "Open", "review.bank": "bank", "review.carried": "carried on", "review.table_short": "table", "review.dealer": "dealer",
    "review.mine": "brought you", "review.fine": "fine {paid}", "review.fine.capped": "fine {paid} of {due}",
    "flag.voided": "voided", "flag.voided_by_ops": "voided by ops", "flag.fined": "a fine", "flag.fine_capped": "a fine beyond the purse",
    "flag.helicopter": "helicopter", "flag.blind": "blind frap", "flag.four_aces": "four aces", "flag.uncontested": "uncontested", "flag.redrawn": "pyatok or shestok",
    "ending.played": "played", "ending.four_aces": "four aces", "ending.uncontested": "uncontested", "ending.voided": "voided",
  },
  ru: {
    "review.views": "Что показано", "review.view.hands": "Раздачи", "review.view.disputes": "Споры", "review.view.signals": "Сигналы",
    "review.title.player": "Ваши раздачи", "review.title.compliance": "Раздачи", "review.form": "Поиск",
    "review.player": "Игрок", "review.table": "Стол", "review.hand": "Раздача", "review.from": "С (UTC)", "review.to": "По (UTC)", "review.min": "Банк от",
    "review.max": "Банк до", "review.flag": "Что в ней было", "review.any": "что угодно", "review.search": "Найти", "review.clear": "Очистить",
    "review.none": "Такой оконченной раздачи нет.", "review.more": "Ещё", "review.found": { one: "{n} раздача", few: "{n} раздачи", many: "{n} раздач", other: "{n} раздачи" }, "review.found.more": "последние раздачи: {n}",
    "review.bad_table": "Стол называют полным номером.", "review.bad_amount": "Сумма, например 12,50", "review.bad_hand": "Раздачу называют полным номером.",
    "tricks": { one: "{n} взятка", few: "{n} взятки", many: "{n} взяток", other: "{n} взятки" }, "review.roles": "Эта страница для игроков и проверяющих. Войдите по ссылке для роли player или compliance.", "review.open": "Открыть", "review.bank": "банк", "review.carried": "переходит", "review.table_short": "стол", "review.dealer": "сдавал",
    "review.mine": "вам принесла", "review.fine": "штраф {paid}", "review.fine.capped": "штраф {paid} из {due}",
    "flag.voided": "отменена", "flag.voided_by_ops": "отменена службой", "flag.fined": "штраф", "flag.fine_capped": "штраф больше кошелька",
    "flag.helicopter": "вертолёт", "flag.blind": "фрап втёмную", "flag.four_aces": "четыре туза", "flag.uncontested": "без соперников", "flag.redrawn": "пяток или шесток",
    "ending.played": "сыграна", "ending.four_aces": "четыре туза", "ending.uncontested": "без соперников", "ending.voided": "отменена",
  },
};
