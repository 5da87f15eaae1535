import type { SpecDraft } from '@tidemill/contract';
import { createTwoFilesPatch } from 'diff';
import { renderSpec, renderTasks } from './render.ts';

/** What changed between two versions, as git would show it. */
export function specDiff(before: SpecDraft, after: SpecDraft): string {
  return [
    fileDiff('spec.md', renderSpec(before), renderSpec(after)),
    fileDiff('tasks.md', renderTasks(before), renderTasks(after)),
  ].join('');
}

function fileDiff(name: string, before: string, after: string): string {
  if (before === after) return '';
  const patch = createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after, undefined, undefined, { context: 3 });
  return `diff --git a/${name} b/${name}\n${patch.replace(/^=+\n/, '')}`;
}
