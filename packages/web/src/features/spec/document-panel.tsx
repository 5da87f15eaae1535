import type { SpecDetail } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';
import { Markdown } from '../../shell/markdown.tsx';

/** The document, and what people said about it. */
export function DocumentPanel({ detail: { document, comments } }: { detail: SpecDetail }) {
  return (
    <div className="spec-document">
      {comments.length > 0 && (
        <section aria-label="Comments" className="spec-comments">
          <h3>Comments on this version</h3>
          <ul>
            {comments.map(({ line, quote, text, by, at }) => (
              <li key={`${line} ${at} ${text}`}>
                <p>
                  <strong>{plainLine(by.name)}</strong>
                  {line > 0 && (
                    <span className="dim">
                      {' '}
                      on line {line}: {plainLine(quote)}
                    </span>
                  )}
                </p>
                <Markdown text={text} level={4} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <Markdown text={document} level={3} isWrapped />
    </div>
  );
}
