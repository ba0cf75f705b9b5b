// A list that is had page by page: what there is so far, and how to have more.

import { useEffect, useState } from "/assets/vendor/preact.js";
import { get } from "/assets/base/api.js";

/** `rows(page)` are a page's; asked for from the start again when `query` changes. */
export function usePages(path, query, rows) {
  const [pages, setPages] = useState(null);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const load = (before, signal) => {
    setBusy(true);
    setProblem(null);
    get(path, { ...query, cursor: before.at(-1)?.next }, signal)
      .then((page) => setPages([...before, page]), (error) => signal?.aborted || setProblem(error))
      .finally(() => signal?.aborted || setBusy(false));
  };
  useEffect(() => {
    const given = new AbortController();
    setPages(null);
    load([], given.signal);
    return () => given.abort();
  }, [path, JSON.stringify(query)]);
  return { found: pages?.flatMap(rows), first: pages?.[0], problem, busy, next: pages?.at(-1)?.next, more: () => load(pages), again: () => load([]) };
}
