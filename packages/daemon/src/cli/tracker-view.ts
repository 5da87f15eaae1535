import type { TrackerItemView, TrackerView } from '@tidemill/contract';
import { oneLine, type Terminal } from './terminal.ts';

export function trackerLines(
  { name, isFollowed, syncedAt, trouble, items, waiting }: TrackerView,
  { paint }: Terminal,
): string[] {
  const lines: string[] = [];
  const line = (text = '') => void lines.push(text);
  if (name === null) {
    line(
      isFollowed || items === 0
        ? 'No tracker is followed. Add `tracker` to .tidemill/config.yaml, and start Tidemill: tidemill up'
        : `No tracker is followed now. ${items} items are known.`,
    );
  } else {
    const read = syncedAt === null ? 'not read yet' : `read ${Math.round((Date.now() - syncedAt) / 1000)} s ago`;
    line(`${name}, ${read}, ${items} items`);
    if (trouble !== null) line(paint('yellow', `  ${oneLine(trouble)}`));
  }
  if (waiting.length === 0) return lines;
  line();
  line(paint('bold', 'Waiting'));
  for (const item of waiting) line(itemLine(item));
  return lines;
}

export const itemLines = (items: TrackerItemView[]): string[] =>
  items.length === 0 ? ['There are no items.'] : items.map(itemLine);

const WAITING: Record<TrackerItemView['waiting'], string> = {
  untrusted: 'its author may not push; take it to start work',
  edited: 'edited since it was taken; take it again to use the new text',
  blocked: 'waits for an item that is no task',
  '': 'is about to become a task',
};

function itemLine({ name, title, author, status, waiting, why, error, taskNumber }: TrackerItemView): string {
  const state =
    status === 'waiting' || waiting === 'edited'
      ? WAITING[waiting]
      : status === 'taken'
        ? `task #${taskNumber}`
        : status + (why === '' ? '' : `: ${oneLine(why)}`);
  const problem = error === null ? '' : ` (${oneLine(error)})`;
  return `  ${oneLine(name)} ${oneLine(title)}, by ${oneLine(author)}: ${state}${problem}`;
}
