import type { FeedbackItem } from '@tidemill/contract';
import { TaskLink } from '../../shell/page-link.tsx';

/** What became of it. */
export function State({ item }: { item: FeedbackItem }) {
  const { status, analysis, taskNumber, jobId } = item;
  switch (status) {
    case 'open':
      return jobId === null ? <span className="idle">new</span> : <span className="working">being analysed</span>;
    case 'asking':
      return <span className="waiting">waits for your answer</span>;
    case 'failed':
      return <span className="failed">could not be analysed</span>;
    case 'dismissed':
      return <span className="paused">dismissed</span>;
    case 'filed':
      return taskNumber === null ? (
        <span className="landed">answered</span>
      ) : (
        <span className="landed">
          {analysis?.kind} <TaskLink number={taskNumber} />
        </span>
      );
  }
}
