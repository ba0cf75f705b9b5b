// Words that all pages share.

export const WORDS = {
  en: {
    "site": "Khrap", "nav": "Pages", "skip": "To the content", "language": "Language", "suits": "Four-colour suits",
    "nav.home": "Start", "nav.review": "Hands", "nav.ops": "Operation", "nav.reports": "Reports", "session.none": "Not signed in", "session.out": "Sign out",
    "session.until": "signed in until {at}", "loading": "Loading…", "retry": "Try again",
    "role.player": "player", "role.cashier": "cashier", "role.operator": "operator", "role.compliance": "compliance",
    "role.ops": "ops", "problem.unreachable": "The server does not answer",
    "problem.unreachable.detail": "Look whether you are online; then try again.",
    "problem.unreadable": "An answer that cannot be read", "problem.unreadable.detail": "Try again in a moment.",
    "problem.code_spent.detail": "This sign-in link was used or is too old. Ask for a new one.",
    "problem.not_allowed": "Not for this role", "problem.not_authenticated": "Sign in first",
    "problem.not_authenticated.detail":
      "Open the sign-in link that you were given. On a service of your own, `khrap token --link` prints one.",
    "copy": "Copy", "copied": "Copied", "game.khrap": "Khrap", "game.frap": "Frap", "game.khrap5": "Khrap, five cards",
  },
  ru: {
    "site": "Храп", "nav": "Страницы", "skip": "К содержанию", "language": "Язык", "suits": "Масти в четыре цвета",
    "nav.home": "Начало", "nav.review": "Раздачи", "nav.ops": "Эксплуатация", "nav.reports": "Отчёты", "session.none": "Вы не вошли", "session.out": "Выйти",
    "session.until": "вход действует до {at}", "loading": "Загрузка…", "retry": "Ещё раз",
    "role.player": "игрок", "role.cashier": "кассир", "role.operator": "оператор", "role.compliance": "проверяющий",
    "role.ops": "служба эксплуатации", "problem.unreachable": "Сервер не отвечает",
    "problem.unreachable.detail": "Проверьте связь и попробуйте ещё раз.",
    "problem.unreadable": "Ответ не удалось прочесть", "problem.unreadable.detail": "Попробуйте ещё раз чуть позже.",
    "problem.code_spent": "Ссылка для входа больше не действует",
    "problem.code_spent.detail": "Ею уже воспользовались или она устарела. Попросите новую.",
    "problem.not_authenticated": "Сначала войдите",
    "problem.not_authenticated.detail":
      "Откройте ссылку для входа, которую вам дали. На своём сервере её печатает `khrap token --link`.",
    "problem.not_allowed": "Эта роль сюда не допущена", "problem.not_found": "Такого нет",
    "problem.invalid": "Данные неверны", "problem.store_unavailable": "Хранилище сейчас недоступно",
    "problem.projection_missing": "Этот вид данных ещё строится", "problem.unavailable": "Часть службы сейчас недоступна",
    "problem.conflict": "Слишком много изменений сразу", "problem.internal": "Ошибка службы",
    "copy": "Скопировать", "copied": "Скопировано", "game.khrap": "Храп", "game.frap": "Фрап",
    "game.khrap5": "Храп, пять карт",
  },
};
