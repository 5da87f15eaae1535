import type { ProposalView } from '@tidemill/contract';
import { plain, plainLine } from '../../plain.ts';
import { Markdown } from '../../shell/markdown.tsx';
import { TaskLink } from '../../shell/page-link.tsx';
import { useElapsed } from '../../time.ts';
import { percent } from '../../words.ts';
import { ProposalDecision } from './proposal-decision.tsx';

/** A proposal that waits, with everything a person needs to decide. */
export function ProposalCard({ proposal }: { proposal: ProposalView }) {
  const { number, category, draft, related, createdAt, score } = proposal;
  const ago = useElapsed(createdAt);
  const id = `proposal-${number}`;
  return (
    <li className="card proposal" data-proposal={number} tabIndex={-1} aria-labelledby={id}>
      <p className="row">
        <span className="dim">proposal {number}</span>
        <span>{plainLine(category)}</span>
        <span className="dim">{draft.effortHours} h</span>
        <span className="dim">{ago} ago</span>
      </p>
      <h4 id={id} dir="auto">
        {plainLine(draft.title)}
      </h4>
      <Markdown text={draft.description} level={5} isFolded />
      <ul className="criteria" aria-label="Acceptance criteria">
        {draft.criteria.map((text) => (
          <li key={text} dir="auto">
            {plain(text)}
          </li>
        ))}
      </ul>
      <details>
        <summary>Approach and files</summary>
        {draft.approach && <Markdown text={draft.approach} level={5} isFolded />}
        <Names label="Changes" names={draft.files} />
        <Names label="Creates" names={draft.newFiles} />
        <Names label="Builds on" names={draft.dependencies} />
      </details>
      {related.length > 0 && (
        <p>
          Related:{' '}
          {related.map(({ ref, title, likeness, state }, index) => (
            <span key={ref}>
              {index > 0 && ', '}
              {ref.startsWith('#') ? <TaskLink number={Number(ref.slice(1))} /> : ref} {plainLine(title)} (
              {plainLine(state)}, {percent(likeness)} alike)
            </span>
          ))}
        </p>
      )}
      <ProposalDecision number={number} score={score} />
    </li>
  );
}

function Names({ label, names }: { label: string; names: string[] }) {
  if (names.length === 0) return null;
  return (
    <p>
      {label}:{' '}
      {names.map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <code>{plainLine(name)}</code>
        </span>
      ))}
    </p>
  );
}
