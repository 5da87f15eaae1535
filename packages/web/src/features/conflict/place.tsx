import type { ReactNode } from 'react';
import { Code } from './code.tsx';
import type { Choice, Hunk } from './markers.ts';

interface PlaceProps {
  hunk: Hunk;
  base: string | null;
  /** From 1 on. */
  count: number;
  of: number;
  number: number;
  target: string;
  /** Null for whoever may only look. */
  choose: ((choice: Choice) => void) | null;
}

/** One place to decide, read from left to right: the target's, what was before, the task's. */
export function Place({ hunk, base, count, of, number, target, choose }: PlaceProps) {
  const name = `Place ${count} of ${of}`;
  return (
    <fieldset className="place" aria-label={name}>
      <h5>{name}</h5>
      <div className="three">
        <Part title={`${target} has`} text={hunk.theirs} base={base} label={`${name}: ${target}'s lines`}>
          <button type="button" disabled={!choose} onClick={() => choose?.('theirs')}>
            {target}'s
          </button>
        </Part>
        <Part title="Before both" text={base} base={base} label={`${name}: the lines before both`}>
          <button type="button" disabled={!choose} onClick={() => choose?.('both')}>
            Both, {target}'s first
          </button>
        </Part>
        <Part title={`Task #${number} has`} text={hunk.ours} base={base} label={`${name}: the task's lines`}>
          <button type="button" disabled={!choose} onClick={() => choose?.('ours')}>
            The task's
          </button>
        </Part>
      </div>
    </fieldset>
  );
}

interface PartProps {
  title: string;
  text: string | null;
  base: string | null;
  label: string;
  children: ReactNode;
}

function Part({ title, text, base, label, children }: PartProps) {
  return (
    <div className="side">
      <h6>{title}</h6>
      <div>
        {text === null && <p className="dim none">Not known here: see the whole file below.</p>}
        {text === '' && <p className="dim none">Nothing.</p>}
        {text && <Code text={text} base={base} label={label} />}
      </div>
      <p>{children}</p>
    </div>
  );
}
