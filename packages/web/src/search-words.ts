import type { TaskSummary } from '@tidemill/contract';

type Named = Pick<TaskSummary, 'title' | 'number'>;

/** Matches like the daemon's search: every word is in the title or is the number. */
export function fitsWords(search: string): (task: Named) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ title, number }) => {
    if (words.length === 0) return true;
    const key = title.toLowerCase();
    return words.every((word) => key.includes(word) || word.replace(/^#/, '') === String(number));
  };
}
