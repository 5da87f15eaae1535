import { comingSentence, type TaskDetail, type WorkerView } from '@tidemill/contract';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action, useMay } from '../../shell/action.tsx';
import { MarkdownLine } from '../../shell/markdown.tsx';
import { OutsideLink } from '../../shell/outside-link.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useKnownMs, useShown } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';
import { money, PRIORITY, plural, stageText } from '../../words.ts';
import { Progress } from '../worker/progress.tsx';
import type { Opened } from './action-dialog.tsx';
import { Delivered } from './delivered.tsx';
import { LandedProof } from './landed-proof.tsx';
import { canRetry, isOver, lookOf, standingOf, type TaskStanding } from './standing.ts';

interface TaskHeadProps {
  detail: TaskDetail;
  open: (dialog: Opened) => void;
  answer: () => void;
  show: (tab: string) => void;
}

/** The task's title, state and main action. */
export function TaskHead({ detail, open, answer, show }: TaskHeadProps) {
  const { status, connection } = useShown();
  const now = useNow();
  const { task } = detail;
  const standing = standingOf(detail, status, now);
  const worker = status.workers.find((one) => one.task?.number === task.number);
  const may = useMay('operator');
  const isOff = !may || connection === 'offline' || connection === 'signed_out';
  return (
    <header className="task-head">
      <h2>
        <span className="number">#{task.number}</span> {plainLine(task.title)}{' '}
        {!isOver(detail) && (
          <button
            type="button"
            className="quiet edit-title"
            onClick={() => open('edit')}
            aria-keyshortcuts="e"
            disabled={isOff}
          >
            Edit
          </button>
        )}
      </h2>
      <Facts detail={detail} now={now} />
      {worker && <AtWork worker={worker} now={now} />}
      <Coming detail={detail} />
      {standing && (
        <section className={`standing ${standing.look === 'waiting' ? 'urgent' : ''}`} aria-label="Why it waits">
          <p>
            <strong className={standing.look}>{standing.text}</strong>
          </p>
          {standing.detail && (
            <p className="clamp">
              <MarkdownLine text={standing.detail.slice(0, 1000)} />
            </p>
          )}
          <Forward {...{ standing, detail, open, answer, show, isOff }} />
        </section>
      )}
      {task.landedCommit && <LandedProof detail={detail} commit={task.landedCommit} />}
      {task.landedCommit && <Delivered number={task.number} />}
      <Actions detail={detail} offered={standing?.act ?? null} open={open} isOff={isOff} />
    </header>
  );
}

/** Conflicts that will come if it lands as it is. */
function Coming({ detail: { coming } }: { detail: TaskDetail }) {
  const { project } = useShown();
  if (coming.length === 0) return null;
  return (
    <ul className="coming" aria-label="Coming conflicts">
      {coming.map((each) => (
        <li key={each.number ?? 'target'}>
          <span>{plainLine(comingSentence(each, project.rules.target))}.</span>{' '}
          {each.number !== null && (
            <PageLink to={`/tasks/${each.number}`} className="clamp">
              #{each.number} {plainLine(each.title ?? '')}
            </PageLink>
          )}
        </li>
      ))}
    </ul>
  );
}

function Facts({ detail, now }: { detail: TaskDetail; now: number }) {
  const { task, origin, runs, costUsd } = detail;
  const assumed = runs.reduce((sum, { usage }) => sum + (usage.assumedUsd ?? 0), 0);
  return (
    <ul className="row facts">
      <li>
        <strong className={lookOf(detail)}>{stageText(task.stage)}</strong>{' '}
        <span className="dim">for {elapsed(now - task.stageSince)}</span>
      </li>
      <li>{task.kind}</li>
      {origin && (
        <li>
          from <PageLink to={origin.page}>{plainLine(origin.text)}</PageLink>
          {origin.url !== null && (
            <>
              {' '}
              (<OutsideLink url={origin.url}>open</OutsideLink>)
            </>
          )}
        </li>
      )}
      <li>
        pipeline {task.pipeline}, priority {PRIORITY[task.priority]}
      </li>
      <li>
        branch <code>{plainLine(task.branch)}</code>
        {task.pull && (
          <>
            , <OutsideLink url={task.pull.url}>pull request #{task.pull.number}</OutsideLink>
          </>
        )}
      </li>
      <li>
        {money(costUsd)} in {plural(runs.length, 'run')}
        {assumed > 0 && <span className="dim"> ({money(assumed)} assumed)</span>}
      </li>
      <li className="dim">
        added <time dateTime={new Date(task.createdAt).toISOString()}>{elapsed(now - task.createdAt)} ago</time>
      </li>
    </ul>
  );
}

/** Progress if known, elapsed time and last heartbeat. */
function AtWork({ worker, now }: { worker: WorkerView; now: number }) {
  const ago = useKnownMs();
  return (
    <div className="row progress-line">
      <PageLink to={`/fleet#worker-${worker.name}`} className={worker.status}>
        {worker.name}
      </PageLink>
      <span>{stageText(worker.mode ?? worker.task?.stage ?? '')}</span>
      <Progress worker={worker} agoMs={ago} list="open" />
      <span className="dim">
        {elapsed(worker.elapsedMs + ago)} so far
        {worker.lastBeatAt !== null && `, last heartbeat ${elapsed(now - worker.lastBeatAt)} ago`}
      </span>
    </div>
  );
}

function Forward(props: TaskHeadProps & { standing: TaskStanding; isOff: boolean }) {
  const { standing, detail, open, answer, show, isOff } = props;
  const { task } = detail;
  switch (standing.act) {
    case 'answer':
      return (
        <button type="button" className="primary" onClick={answer} aria-keyshortcuts="a">
          Answer
        </button>
      );
    case 'decide':
      return (
        <p className="row buttons">
          <button type="button" className="primary" onClick={() => open('approve')} disabled={isOff}>
            Approve
          </button>
          <button type="button" onClick={() => open('reject')} disabled={isOff}>
            Request changes
          </button>
          <button type="button" className="quiet" onClick={() => show(task.head ? 'change' : 'criteria')}>
            {task.head ? 'View change' : 'View plan'}
          </button>
        </p>
      );
    case 'retry':
      return (
        <button type="button" className="primary" onClick={() => open('retry')} disabled={isOff}>
          Retry
        </button>
      );
    case 'reassign':
      return (
        <button type="button" onClick={() => open('reassign')} disabled={isOff}>
          Reassign
        </button>
      );
    case 'dependencies':
      return (
        <button type="button" onClick={() => show('dependencies')}>
          View dependencies
        </button>
      );
    case 'conflict':
      return <PageLink to={`/conflicts/${task.number}`}>Resolve the conflict</PageLink>;
    case 'budget':
      return <PageLink to="/costs">View budget</PageLink>;
    case 'fleet':
      return <PageLink to="/fleet">View workers</PageLink>;
    case null:
      return null;
  }
}

interface ActionsProps {
  detail: TaskDetail;
  /** The action already offered above. */
  offered: TaskStanding['act'];
  open: (dialog: Opened) => void;
  isOff: boolean;
}

function Actions({ detail, offered, open, isOff }: ActionsProps) {
  const { task, moves, worktree, runs } = detail;
  const can = (via: string) => moves.some((move) => move.via === via);
  const buttons: [dialog: Opened, name: string, isShown: boolean][] = [
    ['approve', 'Approve', can('approve') && offered !== 'decide'],
    ['reject', 'Request changes', can('reject') && offered !== 'decide'],
    ['retry', 'Retry', canRetry(detail) && offered !== 'retry'],
    ['reassign', 'Reassign', !isOver(detail) && offered !== 'reassign'],
    ['worktree', 'Open worktree', worktree !== null],
    ['restore', 'Restore snapshot', runs.length > 0],
  ];
  return (
    <div className="row buttons task-actions" role="toolbar" aria-label={`Actions for #${task.number}`}>
      {buttons.map(
        ([dialog, name, isShown]) =>
          isShown && (
            <button key={dialog} type="button" onClick={() => open(dialog)} disabled={isOff && dialog !== 'worktree'}>
              {name}
            </button>
          ),
      )}
      {can('cancel') && (
        <Action
          className="danger"
          disabled={isOff}
          act={() => api.cancelTask({ project: task.projectId, task: task.number })}
          done={`#${task.number} cancelled. Its work is kept.`}
          confirm={{
            title: `Cancel #${task.number}?`,
            text: cancelText(detail),
            yes: `Cancel task #${task.number}`,
            no: 'Keep task',
          }}
        >
          Cancel task
        </Action>
      )}
    </div>
  );
}

function cancelText({ task, related }: TaskDetail): string {
  const waiting = related.filter(({ after }) => after.includes(task.number));
  return [
    `${plainLine(task.title)}`,
    task.lease ? 'Its agent is stopped within 10 seconds.' : 'No agent is working on it.',
    ...(waiting.length > 0
      ? [`${waiting.map(({ number }) => `#${number}`).join(', ')} will wait for it until it is retried.`]
      : []),
    'The work so far is saved in a snapshot. Restore snapshot on this page writes it into a folder.',
    'To undo, press Retry. The task is then open again.',
  ].join('\n');
}
