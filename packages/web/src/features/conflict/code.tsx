import { bounded, plain } from '../../plain.ts';
import { changedLines } from './changed-lines.ts';

const MOST_LINES = 2000;
const MOST_CHARACTERS = 2000;

interface CodeProps {
  text: string;
  /** The previous text, so that new lines can be marked. */
  base: string | null;
  label: string;
}

/** Lines of a file as plain text; lines that are not in `base` are marked. */
export function Code({ text, base, label }: CodeProps) {
  const lines = text.replace(/\n$/, '').split('\n');
  const changed = base === null || base === text ? new Set<number>() : changedLines(base, text);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className="lines" tabIndex={0} aria-label={label}>
        <pre>
          {lines.slice(0, MOST_LINES).map((line, index) => (
            <span key={`${index} ${line.slice(0, 40)}`} className={changed.has(index) ? 'changed' : undefined}>
              {changed.has(index) && <span className="unseen">changed: </span>}
              {plain(bounded(line.replace(/\r$/, ''), MOST_CHARACTERS)) || ' '}
              {'\n'}
            </span>
          ))}
        </pre>
      </section>
      {lines.length > MOST_LINES && (
        <p className="dim">
          Showing the first {MOST_LINES.toLocaleString('en-US')} of {lines.length.toLocaleString('en-US')} lines.
        </p>
      )}
      {text !== '' && !text.endsWith('\n') && <p className="dim">No newline at the end.</p>}
    </>
  );
}
