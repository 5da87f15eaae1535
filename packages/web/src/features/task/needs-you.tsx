import type { NeedsYou as Need } from '@tidemill/contract';
import { useRef, useState } from 'react';
import { stageText } from '../stage/mill.tsx';

export function NeedsYou({ needs }: { needs: Need[] }) {
  return (
    <section className={needs.length > 0 ? 'strip urgent' : 'strip'} aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you {needs.length > 0 && <span className="badge">{needs.length}</span>}</h2>
      {needs.length === 0 && <p className="dim">Nothing. The mill turns by itself.</p>}
      <ul>
        {needs.map(({ number, title, stage, why, command }) => (
          <li key={number}>
            <p className="title">
              <span className="number">#{number}</span> {title}
            </p>
            <p className="reason">
              <span className="waiting">{stageText(stage)}</span> {why}
            </p>
            {command ? <Command text={command} /> : <p className="dim">It goes on by itself once that is done.</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A command to run in a terminal, with a button that copies it. */
export function Command({ text }: { text: string }) {
  const code = useRef<HTMLElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      // Not allowed here: marked, so that the person can copy it.
      getSelection()?.selectAllChildren(code.current!);
    }
  };
  return (
    <p className="command">
      <code ref={code}>{text}</code>
      <button type="button" onClick={copy} aria-label={`Copy ${text}`}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </p>
  );
}
