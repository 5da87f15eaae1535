import type { ReactNode } from 'react';
import { Code } from './code.tsx';
import type { Choice, Hunk } from './markers.ts';

interface PlaceProps {
  hunk: Hunk;
  base: string | null;
  /** Starts at 1. */
  count: number;
  of: number;
  number: number;
  target: string;
  /** Null without the right to change it. */
  choose: ((choice: Choice) => void) | null;
}

/** One conflicting place: the target's lines, the common base, the task's lines. */
export function Place({ hunk, base, count, of, number, target, choose }: PlaceProps) {
  const name = `Place ${count} of ${of}`;
  return (
    <fieldset className="place" aria-label={name}>
      <h5>{name}</h5>
      <div className="three">
        <Part title={target} text={hunk.theirs} base={base} label={`${name}: ${target}'s lines`}>
          <button type="button" disabled={!choose} onClick={() => choose?.('theirs')}>
            Use {target}'s
          </button>
        </Part>
        <Part title="Common base" text={base} base={base} label={`${name}: the common base`}>
          <button type="button" disabled={!choose} onClick={() => choose?.('both')}>
            Use both, {target}'s first
          </button>
        </Part>
        <Part title={`Task #${number}`} text={hunk.ours} base={base} label={`${name}: the task's lines`}>
          <button type="button" disabled={!choose} onClick={() => choose?.('ours')}>
            Use the task's
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
        {text === null && <p className="dim none">Unknown. See the whole file below.</p>}
        {text === '' && <p className="dim none">No lines.</p>}
        {text && <Code text={text} base={base} label={label} />}
      </div>
      <p>{children}</p>
    </div>
  );
}
