import type { ConflictFile, Resolution } from '@tidemill/contract';
import { useDeferredValue, useMemo, useState } from 'react';
import { Action, useMay } from '../../shell/action.tsx';
import type { TextDraft } from '../../text-draft.ts';
import { plural } from '../../words.ts';
import { basesOf, type Choice, chosen, hunksOf } from './markers.ts';
import { Place } from './place.tsx';

interface ResultProps {
  file: ConflictFile;
  draft: TextDraft;
  number: number;
  target: string;
  resolve: (resolution: Resolution) => () => Promise<unknown>;
}

/** So many are drawn at once; the next come when these are decided. */
const MOST_PLACES = 20;
const REORDERING = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** What becomes of the file: place by place, then as a text that can be changed by hand. */
export function Result({ file, draft, number, target, resolve }: ResultProps) {
  const { text, isChanged, isOvertaken } = draft;
  const hunks = hunksOf(text, file);
  const may = useMay('operator');
  const [past, setPast] = useState<string[]>([]);
  const settled = useDeferredValue(text);
  const bases = useMemo(() => basesOf(settled, hunksOf(settled, file), file.base), [settled, file]);
  const choose = (index: number) => (choice: Choice) => {
    setPast([...past, text]);
    draft.write(chosen(text, index, choice, file));
  };
  const back = () => {
    draft.write(past.at(-1)!);
    setPast(past.slice(0, -1));
  };
  return (
    <section className="result" aria-labelledby="result">
      <h4 id="result">What it shall be</h4>
      <p className={hunks.length === 0 && file.isResolved && !isChanged ? 'landed' : 'waiting'} role="status">
        {standing(file, hunks.length, isChanged)}
      </p>
      {isOvertaken && <Overtaken draft={draft} />}
      {hunks.slice(0, MOST_PLACES).map((hunk, index) => (
        <Place
          key={`${hunk.start} ${hunk.end}`}
          hunk={hunk}
          base={bases[index] ?? null}
          count={index + 1}
          of={hunks.length}
          number={number}
          target={target}
          choose={may ? choose(index) : null}
        />
      ))}
      {hunks.length > MOST_PLACES && (
        <p className="dim">{plural(hunks.length - MOST_PLACES, 'more place')} come when these are decided.</p>
      )}
      <label htmlFor="by-hand">
        {hunks.length > 0 ? 'Or change the text by hand' : 'The text, to be changed by hand'}
      </label>
      <textarea
        id="by-hand"
        spellCheck={false}
        wrap="off"
        readOnly={!may}
        rows={Math.min(30, Math.max(3, text.split('\n').length + 1))}
        value={text}
        onChange={(event) => draft.write(event.target.value)}
      />
      <Notes text={text} file={file} />
      <div className="row">
        <Action
          className="primary"
          act={resolve({ text })}
          done={`${file.path} is resolved`}
          disabled={hunks.length > 0 || isOvertaken}
        >
          Save this as resolved
        </Action>
        {past.length > 0 && (
          <button type="button" onClick={back}>
            Undo the last choice
          </button>
        )}
        {isChanged && (
          <button
            type="button"
            onClick={() => {
              setPast([]);
              draft.drop();
            }}
          >
            Begin this file again
          </button>
        )}
        <span className="dim">{whyNot(hunks.length, isOvertaken)}</span>
      </div>
    </section>
  );
}

function standing({ isResolved, kind }: ConflictFile, places: number, isChanged: boolean): string {
  if (places > 0) return `${plural(places, 'place')} left to decide`;
  if (isChanged) return 'Not saved yet';
  if (isResolved) return 'Resolved as below. It can be changed until the conflict is marked resolved.';
  return kind === 'both_changed' || kind === 'both_added'
    ? 'No conflict left in this file'
    : 'One side deleted it: keep it as below, or delete it.';
}

function whyNot(places: number, isOvertaken: boolean): string {
  if (isOvertaken) return 'It cannot be saved before you say whose text counts.';
  return places > 0 ? `It can be saved once ${plural(places, 'place is', 'places are')} decided.` : '';
}

function Overtaken({ draft }: { draft: TextDraft }) {
  return (
    <div className="banner" role="alert">
      <span>This file was changed elsewhere while you were at it: in another tab, or in the worktree.</span>
      <button type="button" onClick={draft.drop}>
        Take it as it is there now
      </button>
      <button type="button" onClick={draft.keep}>
        Mine counts
      </button>
    </div>
  );
}

/** What a text field hides. */
function Notes({ text, file }: { text: string; file: ConflictFile }) {
  const { current } = file;
  const isMixed = current?.includes('\r\n') && /(^|[^\r])\n/.test(current);
  return (
    <>
      {isMixed && <p className="dim">Its lines end in two ways. Whatever you type here ends them all alike.</p>}
      {REORDERING.test(text) && (
        <p className="waiting">It holds marks that make text read in another order than it is written.</p>
      )}
    </>
  );
}
