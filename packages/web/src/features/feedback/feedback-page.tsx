import './feedback.css';
import { useQuery } from '@tanstack/react-query';
import type { FeedbackItem } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { useElapsed } from '../../time.ts';
import { FeedbackForm, FIELD } from './feedback-form.tsx';
import { FeedbackView } from './feedback-view.tsx';
import { State } from './state.tsx';

export default function FeedbackPage({ number }: { number: number | null }) {
  return number === null ? <FeedbackList /> : <FeedbackView key={number} number={number} />;
}

function FeedbackList() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['feedback', project.id],
    queryFn: ({ signal }) => api.feedbackList({ project: project.id }, withTimeout(signal)),
  });
  useKeys([{ keys: 'n', does: 'Write feedback', run: () => document.getElementById(FIELD)?.focus() }]);
  return (
    <>
      <PageHead
        title="Feedback"
        about="Say what is wrong, missing or unclear. An analyst files it as a bug, a feature, a change or a question."
      />
      <RoleNote what="Giving feedback" />
      <FeedbackForm />
      <Failed error={error} />
      {!data && !error && <p className="dim">Loading…</p>}
      {data?.length === 0 && (
        <Empty>
          <p>No feedback yet. Write the first above.</p>
        </Empty>
      )}
      <ol className="feedback-list" aria-label="Feedback">
        {data?.map((item) => (
          <Row key={item.id} item={item} />
        ))}
      </ol>
    </>
  );
}

function Row({ item }: { item: FeedbackItem }) {
  const { number, text, by, at, analysis } = item;
  const age = useElapsed(at);
  return (
    <li className="card">
      <p className="title clamp" dir="auto">
        <PageLink to={`/feedback/${number}`} data-item>
          F{number} {plainLine(analysis?.title ?? text)}
        </PageLink>
      </p>
      <p className="row">
        <State item={item} />
        <span className="dim">
          {plainLine(by.name)}, {age} ago
        </span>
      </p>
      {analysis && (
        <p className="dim clamp" dir="auto">
          {plainLine(text)}
        </p>
      )}
    </li>
  );
}
