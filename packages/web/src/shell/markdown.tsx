import './markdown.css';
import { lazy, Suspense, useState } from 'react';
import { bounded, plain } from '../plain.ts';
import { LongList } from './long-list.tsx';

const MarkdownBody = lazy(() =>
  // Without its part, for example after an update of the daemon, the text is shown as written.
  import('./markdown-body.tsx').catch(() => ({ default: ({ text }: { text: string }) => <AsWritten text={text} /> })),
);

/** More is not parsed: the page must stay quick whatever it is given. */
const MOST = 50_000;
/** A message that is longer starts folded. */
const FOLDED_FROM = 3000;

interface MarkdownProps {
  text: string;
  /** The level of its highest heading: one below the heading that it stands under. */
  level?: 3 | 4 | 5 | 6;
  className?: string;
  /** Starts with the beginning of a long text. For messages among others. */
  isFolded?: boolean;
  /** Its lines were wrapped at some width, as in files; else a new line is a new line. */
  isWrapped?: boolean;
}

/** Text of people, agents and repositories, rendered as Markdown. It needs no `plain()` around it. */
export function Markdown({ text, level = 3, className = '', isFolded = false, isWrapped = false }: MarkdownProps) {
  const [isOpen, setOpen] = useState(false);
  const most = isFolded && !isOpen ? FOLDED_FROM : MOST;
  const shown = beginning(text, most);
  const left = text.length - shown.length;
  return (
    <div className={`markdown ${className}`}>
      <Suspense fallback={<AsWritten text={shown} />}>
        <MarkdownBody
          text={shown}
          level={level}
          isWrapped={isWrapped}
          isInline={false}
          rest={(rest) => <Rest text={rest} />}
        />
      </Suspense>
      {left > 0 &&
        (most === FOLDED_FROM ? (
          <button type="button" className="quiet" onClick={() => setOpen(true)}>
            Show {left.toLocaleString('en-US')} more characters
          </button>
        ) : (
          <Rest text={text.slice(shown.length)} />
        ))}
    </div>
  );
}

/** The same within one line, such as a heading: code, emphasis, links. */
export function MarkdownLine({ text }: { text: string }) {
  const shown = bounded(text, FOLDED_FROM);
  return (
    <span className="markdown-line" dir="auto">
      <Suspense fallback={plain(shown)}>
        <MarkdownBody text={shown} level={6} isWrapped={false} isInline rest={() => null} />
      </Suspense>
    </span>
  );
}

/** At most so many characters, cut between paragraphs or lines where possible. */
function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  const end = ['\n\n', '\n'].map((gap) => start.lastIndexOf(gap)).find((at) => at > most / 2);
  return start.slice(0, end ?? most);
}

const AsWritten = ({ text }: { text: string }) => (
  <p className="as-written" dir="auto">
    {plain(text)}
  </p>
);

const LINE_PX = 19;
const LONGEST_LINE = 2000;

/** What is too much to be rendered: its lines, on demand. */
function Rest({ text }: { text: string }) {
  const [lines, setLines] = useState<string[] | null>(null);
  if (lines === null)
    return (
      <button type="button" className="quiet" onClick={() => setLines(plain(text).split('\n'))}>
        Show the other {text.length.toLocaleString('en-US')} characters as plain text
      </button>
    );
  return (
    <LongList
      label="The rest as plain text"
      className="markdown-rest"
      count={lines.length}
      estimate={LINE_PX}
      row={(index) => <p dir="auto">{bounded(lines[index]!, LONGEST_LINE) || ' '}</p>}
    />
  );
}
