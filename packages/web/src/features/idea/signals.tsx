import type { Idea, IdeaCorrection, SignalKind } from '@tidemill/contract';
import { type ReactNode, useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { Markdown, MarkdownLine } from '../../shell/markdown.tsx';
import { useProject } from '../../shell/project.tsx';
import { percent, plural } from '../../words.ts';
import { CorrectDialog } from './correct-dialog.tsx';

const NEW: Record<'artifact' | 'decision' | 'risk', IdeaCorrection> = {
  artifact: { kind: 'artifact', type: '', summary: '', content: '', confidence: 1 },
  decision: { kind: 'decision', type: 'decision', text: '' },
  risk: { kind: 'risk', text: '', severity: 'medium' },
};

/** What the conversation has settled. A person corrects and removes it; the agent keeps to that. */
export function Signals({ idea }: { idea: Idea }) {
  const [editing, setEditing] = useState<IdeaCorrection | null>(null);
  const { artifacts, decisions, risks, confidence, confidenceBy, research } = idea;
  const part = (kind: 'artifact' | 'decision' | 'risk', title: string, count: number, children: ReactNode) => (
    <section className="signal-part" aria-label={title}>
      <h3 className="row">
        {title}
        <button type="button" className="quiet" onClick={() => setEditing(NEW[kind])}>
          Add <span className="unseen">to {title.toLowerCase()}</span>
        </button>
      </h3>
      {count === 0 && <p className="dim">None yet.</p>}
      {children}
    </section>
  );
  return (
    <aside className="signals" aria-label="What is settled">
      <p className="row">
        <span>
          Confidence <strong>{percent(confidence)}</strong>
          {confidenceBy && (
            <span className="dim">, set by {confidenceBy.name === 'page' ? 'you' : plainLine(confidenceBy.name)}</span>
          )}
        </span>
        <button type="button" className="quiet" onClick={() => setEditing({ kind: 'confidence', value: confidence })}>
          Correct <span className="unseen">the confidence</span>
        </button>
      </p>
      {research && <Research research={research} />}
      {part(
        'artifact',
        'Artifacts',
        artifacts.length,
        <ul>
          {artifacts.map((artifact) => {
            const { correctedBy, at: _at, ...fields } = artifact;
            return (
              <Signal
                key={artifact.type}
                idea={idea}
                kind="artifact"
                signalKey={artifact.type}
                name={artifact.type}
                by={correctedBy}
                onCorrect={() => setEditing({ kind: 'artifact', ...fields })}
              >
                <p>
                  <strong>{plainLine(artifact.type.replaceAll('-', ' '))}</strong>{' '}
                  <span className="dim">{percent(artifact.confidence)}</span>
                </p>
                {artifact.summary && <Markdown text={artifact.summary} level={4} />}
                {artifact.content && (
                  <details open={artifact.type === 'brief' || undefined}>
                    <summary>{plural(artifact.content.split(/\s+/).length, 'word')}</summary>
                    <Markdown text={artifact.content} level={4} isFolded isWrapped />
                  </details>
                )}
              </Signal>
            );
          })}
        </ul>,
      )}
      {part(
        'decision',
        'Decisions',
        decisions.length,
        <ul>
          {decisions.map(({ id, type, text, correctedBy }) => (
            <Signal
              key={id}
              idea={idea}
              kind="decision"
              signalKey={id}
              name={text}
              by={correctedBy}
              onCorrect={() => setEditing({ kind: 'decision', id, type, text })}
            >
              <p>
                {type !== 'decision' && <span className="dim">{plainLine(type)}: </span>}
                <MarkdownLine text={text} />
              </p>
            </Signal>
          ))}
        </ul>,
      )}
      {part(
        'risk',
        'Risks',
        risks.length,
        <ul>
          {risks.map(({ id, text, severity, correctedBy }) => (
            <Signal
              key={id}
              idea={idea}
              kind="risk"
              signalKey={id}
              name={text}
              by={correctedBy}
              onCorrect={() => setEditing({ kind: 'risk', id, text, severity })}
            >
              <p>
                <span className="dim">{severity}: </span>
                <MarkdownLine text={text} />
              </p>
            </Signal>
          ))}
        </ul>,
      )}
      {editing && <CorrectDialog idea={idea} correction={editing} onClose={() => setEditing(null)} />}
    </aside>
  );
}

interface SignalProps {
  idea: Idea;
  kind: SignalKind;
  signalKey: string;
  name: string;
  by: { name: string } | null;
  onCorrect(): void;
  children: ReactNode;
}

function Signal({ idea, kind, signalKey: key, name, by, onCorrect, children }: SignalProps) {
  const project = useProject();
  const about = plainLine(name).slice(0, 80);
  const remove = () => api.removeSignal({ project: project.id, idea: String(idea.number), kind, key, by: 'page' });
  return (
    <li className="signal" data-item tabIndex={-1}>
      {children}
      <p className="row">
        {by && <span className="dim">as {by.name === 'page' ? 'you' : plainLine(by.name)} wrote it</span>}
        <button type="button" className="quiet" onClick={onCorrect}>
          Correct <span className="unseen">{about}</span>
        </button>
        <Action className="quiet" act={remove} done={`Removed: ${about}`}>
          Remove <span className="unseen">{about}</span>
        </Action>
      </p>
    </li>
  );
}

const RESEARCH_TEXT = {
  wanted: 'Research is planned',
  done: 'Researched',
  skipped: 'Research was skipped',
  failed: 'Research failed',
  off: 'Research is off',
};

function Research({ research: { status, areas, why } }: { research: NonNullable<Idea['research']> }) {
  return (
    <p>
      <span className={status === 'failed' ? 'failed' : status === 'wanted' ? 'waiting' : 'idle'}>
        {RESEARCH_TEXT[status]}
      </span>
      : {areas.map(plainLine).join(', ')}
      {why && <span className="dim"> ({plainLine(why)})</span>}
    </p>
  );
}
