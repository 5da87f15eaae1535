import type { DesiredState, MetricsView, WorkerOperation, WorkerView } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Action, useMay } from '../../shell/action.tsx';
import { TaskLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed, useElapsed } from '../../time.ts';
import { plural, stageText } from '../../words.ts';
import { Progress } from '../worker/progress.tsx';
import { ReassignDialog } from '../worker/reassign-dialog.tsx';
import { FigureList } from './figures.tsx';

interface CardProps {
  worker: WorkerView;
  figures: MetricsView['workers'][number] | undefined;
  agoMs: number;
}

export function WorkerCard({ worker, figures, agoMs }: CardProps) {
  const { name, status, health, lastError, errors, isOutside } = worker;
  const isWrong = status === 'crashed' || status === 'failed';
  return (
    <li
      id={`worker-${name}`}
      className={isWrong ? 'card worker wrong' : 'card worker'}
      data-item
      tabIndex={-1}
      aria-label={name}
    >
      <header>
        <h3>{name}</h3>
        <span className={`state ${status}`}>{status}</span>
        {health !== 'healthy' && <span className="waiting">{health}</span>}
        {isOutside && <span className="dim">external</span>}
      </header>
      <Doing worker={worker} agoMs={agoMs} />
      {lastError && (isWrong || errors > 0) && (
        <p className={isWrong ? 'error' : 'error dim'}>
          {isWrong ? '' : 'Last error: '}
          {plain(lastError)}
        </p>
      )}
      <Signs worker={worker} />
      <Controls worker={worker} />
      {figures && (
        <details>
          <summary>
            Figures <span className="unseen">of {name}</span>
          </summary>
          <FigureList figures={figures} />
        </details>
      )}
    </li>
  );
}

function Doing({ worker, agoMs }: { worker: WorkerView; agoMs: number }) {
  const { task, mode, elapsedMs, desiredBy, desired, status } = worker;
  if (!task && mode)
    return (
      <p className="row">
        <span>{stageText(mode)}</span>
        <span className="dim">{elapsed(elapsedMs + agoMs)}</span>
      </p>
    );
  if (!task) {
    if (desired === 'paused' || desired === 'frozen' || desired === 'stopped')
      return (
        <p className="dim">
          {desired === 'stopped' ? 'Stopped' : 'Paused'} by {desiredBy || 'a person'}.
        </p>
      );
    return <p className="dim">{status === 'idle' ? 'Waiting for work.' : 'Takes the next task automatically.'}</p>;
  }
  return (
    <>
      <p className="title clamp">
        <TaskLink number={task.number} /> {plainLine(task.title)}
      </p>
      <p className="row">
        <span>{stageText(mode ?? task.stage)}</span>
        <span className="dim">{elapsed(elapsedMs + agoMs)}</span>
        {desired !== 'running' && <span className="paused">{HELD[desired]}</span>}
      </p>
      <Progress worker={worker} agoMs={agoMs} list="folded" />
    </>
  );
}

const HELD: Record<Exclude<DesiredState, 'running'>, string> = {
  paused: 'pauses after this stage',
  frozen: 'frozen',
  stopped: 'stopping',
};

function Signs({ worker: { lastBeatAt, memoryMb, cpuPercent, tasksCompleted, errors } }: { worker: WorkerView }) {
  const ago = useElapsed(lastBeatAt ?? 0);
  return (
    <p className="row dim signs">
      <span>{lastBeatAt === null ? 'no heartbeat yet' : `heartbeat ${ago} ago`}</span>
      {memoryMb > 0 && (
        <span>
          {Math.round(memoryMb)} MB, {Math.round(cpuPercent)} % CPU
        </span>
      )}
      <span>{tasksCompleted.toLocaleString('en-US')} done</span>
      <span>{plural(errors, 'error')}</span>
    </p>
  );
}

function Reassign({ worker: { name, role }, task }: { worker: WorkerView; task: NonNullable<WorkerView['task']> }) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay('operator');
  return (
    <>
      <button type="button" disabled={!may} onClick={() => setOpen(true)}>
        Reassign <span className="unseen">#{task.number}</span>
      </button>
      {isOpen && <ReassignDialog task={task} holder={name} role={role} onClose={() => setOpen(false)} />}
    </>
  );
}

const MORE: { operation: WorkerOperation; name: string; done: string; confirm?: string }[] = [
  { operation: 'freeze', name: 'Freeze now', done: 'is frozen' },
  { operation: 'restart', name: 'Restart', done: 'restarts, error cleared' },
  {
    operation: 'reset',
    name: 'Reset',
    done: 'is reset',
    confirm:
      'Its run is stopped (work is kept), and its errors and figures are deleted. You cannot restore the figures.',
  },
];

function Controls({ worker }: { worker: WorkerView }) {
  const { project } = useShown();
  const [isOpen, setOpen] = useState(false);
  const { name, desired, role, isOutside } = worker;
  const steer = (operation: WorkerOperation) => () =>
    api.steerWorkers({ project: project.id, worker: name, operation, by: 'page' });
  const isHeld = desired === 'paused' || desired === 'frozen';
  return (
    <div className="controls">
      {desired === 'stopped' ? (
        <Action act={steer('start')} done={`${name} starts`} label={`Start ${name}`}>
          Start
        </Action>
      ) : isHeld ? (
        <Action act={steer('resume')} done={`${name} resumed`} label={`Resume ${name}`}>
          Resume
        </Action>
      ) : (
        <Action act={steer('pause')} done={`${name} pauses at its next checkpoint`} label={`Pause ${name}`}>
          Pause
        </Action>
      )}
      {desired !== 'stopped' && (
        <Action
          act={steer('stop')}
          done={`${name} stops`}
          label={`Stop ${name}`}
          confirm={
            worker.task
              ? {
                  title: `Stop ${name}?`,
                  text: `It is working on #${worker.task.number} ${plainLine(worker.task.title)}. The work so far is kept in the worktree, and the next worker continues the task. Start ${name} again with Start.`,
                  yes: `Stop ${name}`,
                }
              : undefined
          }
        >
          Stop
        </Action>
      )}
      {worker.task && <Reassign worker={worker} task={worker.task} />}
      <button type="button" className="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Less' : 'More'} <span className="unseen">for {name}</span>
      </button>
      {isOpen && (
        <>
          {MORE.filter(({ operation }) => !(isOutside && operation === 'freeze')).map(
            ({ operation, name: title, done, confirm }) => (
              <Action
                key={operation}
                act={steer(operation)}
                done={`${name} ${done}`}
                label={`${title} ${name}`}
                confirm={confirm ? { title: `${title} ${name}?`, text: confirm, yes: title } : undefined}
              >
                {title}
              </Action>
            ),
          )}
          {role === 'builder' && (
            <Action
              act={() => api.removeWorker({ project: project.id, worker: name })}
              done={`${name} removed`}
              label={`Remove ${name}`}
              confirm={{
                title: `Remove ${name}?`,
                text: isOutside
                  ? 'Its task goes back to its stage. The worker comes back when it claims a task.'
                  : 'Its task goes back to its stage, and the work so far is kept. Add an agent again with “Add agent”.',
                yes: 'Remove',
              }}
            >
              Remove
            </Action>
          )}
        </>
      )}
    </div>
  );
}
