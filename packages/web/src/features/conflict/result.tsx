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

/** Places shown at once; more follow when these are resolved. */
const MOST_PLACES = 20;
const REORDERING = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** The resolved file: place by place, then as editable text. */
export function Result({ file, draft, number, target, resolve }: ResultProps) {
  const { text, isChanged, isChangedElsewhere } = draft;
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
      <h4 id="result">Result</h4>
      <p className={hunks.length === 0 && file.isResolved && !isChanged ? 'landed' : 'waiting'} role="status">
        {standing(file, hunks.length, isChanged)}
      </p>
      {isChangedElsewhere && <ChangedElsewhere draft={draft} />}
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
        <p className="dim">{plural(hunks.length - MOST_PLACES, 'more place')} after these.</p>
      )}
      <label htmlFor="by-hand">{hunks.length > 0 ? 'Or edit the text' : 'Edit the text'}</label>
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
          done={`${file.path} resolved`}
          disabled={hunks.length > 0 || isChangedElsewhere}
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
            Start this file over
          </button>
        )}
        <span className="dim">{whyNot(hunks.length, isChangedElsewhere)}</span>
      </div>
    </section>
  );
}

function standing({ isResolved, kind }: ConflictFile, places: number, isChanged: boolean): string {
  if (places > 0) return `${plural(places, 'place')} left to resolve`;
  if (isChanged) return 'Not saved yet';
  if (isResolved) return 'Resolved as shown below. You can change it until you mark the conflict resolved.';
  return kind === 'both_changed' || kind === 'both_added'
    ? 'No conflict left in this file'
    : 'One side deleted the file. Save it as shown below, or delete it.';
}

function whyNot(places: number, isChangedElsewhere: boolean): string {
  if (isChangedElsewhere) return 'Choose which text to keep before saving.';
  return places > 0 ? `Resolve ${plural(places, 'place')} before saving.` : '';
}

function ChangedElsewhere({ draft }: { draft: TextDraft }) {
  return (
    <div className="banner" role="alert">
      <span>This file was changed in another tab or in the worktree while you edited it.</span>
      <button type="button" onClick={draft.drop}>
        Use the changed file
      </button>
      <button type="button" onClick={draft.keep}>
        Keep my text
      </button>
    </div>
  );
}

/** Warns about characters that a text field does not show. */
function Notes({ text, file }: { text: string; file: ConflictFile }) {
  const { current } = file;
  const isMixed = current?.includes('\r\n') && /(^|[^\r])\n/.test(current);
  return (
    <>
      {isMixed && (
        <p className="dim">The file mixes CRLF and LF line endings. Saving your edit makes them all the same.</p>
      )}
      {REORDERING.test(text) && <p className="waiting">The text contains marks that change its reading order.</p>}
    </>
  );
}
