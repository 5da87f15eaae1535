import type { ConflictFile, Resolution } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Action } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { plural, stageText } from '../../words.ts';
import { changedLines } from './changed-lines.ts';
import { type Choice, chosen, hunksOf } from './markers.ts';

interface FileProps {
  number: number;
  file: ConflictFile;
  target: string;
}

/** All sides of a file, and what shall become of it. */
export function FileView({ number, file, target }: FileProps) {
  const { project } = useShown();
  const { path, kind, isText, base, ours, theirs } = file;
  const resolve = (resolution: Resolution) => () =>
    api.resolveFile({ project: project.id, task: number, path, resolution, by: 'page' });
  return (
    <section className="sides" aria-label={path}>
      <header className="row">
        <h3>{path}</h3>
        <span className="dim">{stageText(kind)}</span>
        <Action act={resolve({ take: 'ours' })} done={`${path}: the task's`} disabled={ours === null && isText}>
          Take the task's whole
        </Action>
        <Action act={resolve({ take: 'theirs' })} done={`${path}: ${target}'s`} disabled={theirs === null && isText}>
          Take {target}'s whole
        </Action>
        <Action act={resolve({ take: 'deleted' })} done={`${path} is deleted`}>
          Delete it
        </Action>
      </header>
      {isText ? (
        <>
          <div className="three">
            <Side name={target} text={theirs} base={base} />
            <Side name="Before both" text={base} base={base} />
            <Side name={`Task #${number}`} text={ours} base={base} />
          </div>
          <Result file={file} target={target} resolve={resolve} />
        </>
      ) : (
        <p className="waiting">
          A {file.form} file has no text to show. Take a side whole, or resolve it in a terminal with the commands
          below.
        </p>
      )}
    </section>
  );
}

const MOST_LINES = 5000;

function Side({ name, text, base }: { name: string; text: string | null; base: string | null }) {
  const lines = text?.split('\n').slice(0, MOST_LINES) ?? [];
  const changed = text === null || text === base ? new Set<number>() : changedLines(base ?? '', text);
  return (
    <div className="side">
      <h4>{name}</h4>
      {text === null ? (
        <p className="dim">There is no such file on this side.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre tabIndex={0}>
          {lines.map((line, index) => (
            <span key={`${index} ${line}`} className={changed.has(index) ? 'changed' : undefined}>
              {line || ' '}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
    </div>
  );
}

interface ResultProps {
  file: ConflictFile;
  target: string;
  resolve: (resolution: Resolution) => () => Promise<unknown>;
}

function Result({ file, target, resolve }: ResultProps) {
  const [text, setText] = useState(file.current ?? '');
  const hunks = hunksOf(text);
  const take = (index: number, choice: Choice) => () => setText(chosen(text, index, choice));
  return (
    <div className="result">
      <h4 id="result">What it shall be</h4>
      <p className={hunks.length > 0 ? 'waiting' : 'landed'}>
        {hunks.length > 0 ? `${plural(hunks.length, 'place')} left to decide` : 'No conflict left in this file'}
      </p>
      {hunks.map((hunk, index) => (
        <fieldset key={`${index} ${hunk.start}`} className="hunk" aria-label={`Place ${index + 1}`}>
          <pre className="ours">{hunk.ours || '(nothing)'}</pre>
          <pre className="theirs">{hunk.theirs || '(nothing)'}</pre>
          <p className="row">
            <button type="button" onClick={take(index, 'ours')}>
              The task's
            </button>
            <button type="button" onClick={take(index, 'theirs')}>
              {target}'s
            </button>
            <button type="button" onClick={take(index, 'both')}>
              Both, {target}'s first
            </button>
          </p>
        </fieldset>
      ))}
      <textarea
        aria-labelledby="result"
        spellCheck={false}
        rows={Math.min(30, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <p>
        <Action
          className="primary"
          act={resolve({ text })}
          done={`${file.path} is resolved`}
          disabled={hunks.length > 0}
        >
          Save this as resolved
        </Action>
      </p>
    </div>
  );
}
