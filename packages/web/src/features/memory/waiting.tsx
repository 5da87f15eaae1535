import { useQuery } from '@tanstack/react-query';
import type { QuestionView } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { Failed } from '../../shell/failed.tsx';
import { useProject } from '../../shell/project.tsx';
import { Answer } from '../question/answer.tsx';
import { Asked } from '../question/asked.tsx';
import { GuardCard, isWaitingGuard, useGuards } from './guards.tsx';

/** The questions of the catalogue about what was learned. */
const MEMORY_TRIGGERS = ['pattern_detected', 'gotcha_candidate', 'claude_md_promotion', 'weekly_summary'];

const isAboutMemory = ({ source, sourceId }: QuestionView) =>
  source === 'catalogue' && MEMORY_TRIGGERS.some((trigger) => sourceId.startsWith(trigger));

/** What only a person can decide: proposed guards, promotions, and whether something is to be remembered. */
export function Waiting() {
  const project = useProject();
  const { data, error } = useQuery({
    queryKey: ['questions', project.id],
    queryFn: ({ signal }) => api.questions({ project: project.id }, withTimeout(signal)),
  });
  const guards = useGuards();
  const open = data?.filter(isAboutMemory) ?? [];
  const proposed = guards.data?.filter(isWaitingGuard) ?? [];
  const isNothing = data && guards.data && open.length + proposed.length === 0;
  return (
    <section className="memory-part" aria-label="Waiting for you">
      <h3>Waiting for you</h3>
      <Failed error={error ?? guards.error} />
      {isNothing && <p className="dim">Nothing waits for a decision.</p>}
      <ul className="lessons">
        {proposed.map((guard) => (
          <GuardCard key={guard.id} guard={guard} />
        ))}
        {open.map((question) => (
          <li key={question.id} className="card" data-item-of="memory">
            <Asked text={question.text} />
            <Answer question={question} />
          </li>
        ))}
      </ul>
    </section>
  );
}
