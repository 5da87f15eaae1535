import type { SpecDetail } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { useProject } from '../../shell/project.tsx';
import { plural } from '../../words.ts';

/** Comments on single lines and on all of it. The agent gets them with the lines. */
export function ReviseDialog({ detail, onClose }: { detail: SpecDetail; onClose: () => void }) {
  const { spec, document } = detail;
  const project = useProject();
  const [whole, setWhole] = useState('');
  const [onLines, setOnLines] = useState<ReadonlyMap<number, string>>(new Map());
  const [chosen, choose] = useState<number | null>(null);
  const lines = document.trimEnd().split('\n');
  const comments = [
    ...(whole.trim() === '' ? [] : [{ line: 0, text: whole.trim() }]),
    ...[...onLines].filter(([, text]) => text.trim() !== '').map(([line, text]) => ({ line, text: text.trim() })),
  ];
  const send = () =>
    api.reviseSpec({ project: project.id, spec: spec.number, by: 'page', version: spec.version, comments });
  return (
    <FormDialog
      title={`Request changes of S${spec.number}`}
      onClose={onClose}
      send={send}
      done={`${plural(comments.length, 'comment')} sent; an agent writes another version`}
      yes="Request changes"
      isReady={comments.length > 0}
      isWide
    >
      <label>
        On all of it
        <textarea rows={2} dir="auto" value={whole} onChange={(event) => setWhole(event.target.value)} />
      </label>
      {spec.version > 0 && (
        <fieldset className="spec-lines">
          <legend>On a line: choose it, then write</legend>
          {lines.map((text, index) => {
            const line = index + 1;
            const own = onLines.get(line) ?? '';
            return (
              <div key={line}>
                <button
                  type="button"
                  className="quiet line"
                  aria-label={`Comment on line ${line}`}
                  aria-expanded={chosen === line}
                  onClick={() => choose(chosen === line ? null : line)}
                >
                  <span className="dim">{line}</span> <code dir="auto">{plainLine(text) || ' '}</code>
                </button>
                {(chosen === line || own !== '') && (
                  <textarea
                    rows={2}
                    dir="auto"
                    aria-label={`Comment on line ${line}`}
                    // biome-ignore lint/a11y/noAutofocus: it opens because the person chose the line
                    autoFocus={chosen === line}
                    value={own}
                    onChange={(event) => setOnLines(new Map(onLines).set(line, event.target.value))}
                  />
                )}
              </div>
            );
          })}
        </fieldset>
      )}
    </FormDialog>
  );
}
