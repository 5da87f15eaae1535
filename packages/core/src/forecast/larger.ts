import type { ChangeSize } from '@tidemill/contract';

export interface Sized {
  number: number;
  size: ChangeSize;
}

/** The larger of two changes, by lines, then by files; of two equal ones the older task. */
export function isLarger(a: Sized, b: Sized): boolean {
  if (a.size.lines !== b.size.lines) return a.size.lines > b.size.lines;
  if (a.size.files !== b.size.files) return a.size.files > b.size.files;
  return a.number < b.number;
}
