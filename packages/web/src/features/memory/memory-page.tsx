import './memory.css';
import { useState } from 'react';
import { useKeys } from '../../shell/keys.ts';
import { PageHead } from '../../shell/page-head.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { DecidedGuards } from './guards.tsx';
import { LessonDialog } from './lesson-dialog.tsx';
import { Lessons } from './lessons.tsx';
import { Patterns } from './patterns.tsx';
import { SEARCH, Traces } from './traces.tsx';
import { Waiting } from './waiting.tsx';
import { Week } from './week.tsx';

/** What was learned, what it is worth, and what happened that can be learned from. */
export default function MemoryPage() {
  const [isAdding, setAdding] = useState(false);
  useKeys([
    { keys: 'n', does: 'Add a lesson', run: () => setAdding(true) },
    { keys: 't', does: 'Search the traces', run: () => document.getElementById(SEARCH)?.focus() },
    { keys: 'y', does: 'Approve what waits: the first, or the one with the focus', run: () => press('yes') },
    { keys: 'r', does: 'Say why to refuse it', run: () => press('refuse') },
    { keys: 'e', does: 'Edit it, or the lesson with the focus', run: () => press('edit') },
  ]);
  return (
    <>
      <PageHead title="Memory" about="Lessons that agents are given, with their figures, and where they come from.">
        <button type="button" onClick={() => setAdding(true)}>
          <kbd>n</kbd> Add a lesson
        </button>
      </PageHead>
      <RoleNote what="Changing lessons and deciding about guards" />
      <Week />
      <Waiting />
      <Lessons />
      <DecidedGuards />
      <Patterns />
      <Traces />
      {isAdding && <LessonDialog lesson={null} onClose={() => setAdding(false)} />}
    </>
  );
}

/** Presses the button of the item with the focus, else of the first one that has it. */
function press(mark: string): void {
  const button = `[data-key="${mark}"]`;
  const within = document.activeElement?.closest('[data-item-of="memory"]');
  const found = within ? within.querySelector<HTMLButtonElement>(button) : null;
  (found ?? document.querySelector<HTMLButtonElement>(`[data-item-of="memory"] ${button}`))?.click();
}
