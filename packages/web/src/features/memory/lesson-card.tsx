import { useQuery } from '@tanstack/react-query';
import type { LessonUseView, LessonView } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Action, useMay } from '../../shell/action.tsx';
import { Failed } from '../../shell/failed.tsx';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { TaskLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { useElapsed } from '../../time.ts';
import { percent, timeOf } from '../../words.ts';
import { LessonDialog } from './lesson-dialog.tsx';
import { TraceById } from './traces.tsx';

const STAGE_CLASS: Record<LessonView['stage'], string> = {
  experiment: 'ideating',
  validated: 'idle',
  production: 'landed',
  retired: 'dim',
};

/** A lesson with its figures; where it comes from and where it was used, on demand. */
export function LessonCard({ lesson }: { lesson: LessonView }) {
  const { number, kind, stage, text, why, filePatterns, action, topics, confidence, occurrences, isUnused } = lesson;
  const [isOpen, setOpen] = useState(false);
  const id = `lesson-${number}`;
  return (
    <li className="card lesson" data-item-of="memory" data-lesson={number} tabIndex={-1} aria-labelledby={id}>
      <p className="row">
        <span className="number">L{number}</span>
        <span>{kind}</span>
        <span className={STAGE_CLASS[stage]}>{stage}</span>
        <span className="dim">{percent(confidence)} certain</span>
        <span className="dim">seen in {occurrences === 1 ? 'one task' : `${occurrences} tasks`}</span>
        {isUnused && <span className="waiting">unused for 90 days</span>}
      </p>
      <h4 id={id} dir="auto">
        {plain(text)}
      </h4>
      {why && (
        <p className="dim" dir="auto">
          {plain(why)}
        </p>
      )}
      <Fits patterns={filePatterns} action={action} topics={topics} />
      <Worth lesson={lesson} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Where it comes from and where it was used</summary>
        {isOpen && <History number={number} />}
      </details>
      <Actions lesson={lesson} />
    </li>
  );
}

function Fits({ patterns, action, topics }: { patterns: string[]; action: string | null; topics: string[] }) {
  const where = [...patterns, ...(action ? [`action ${action}`] : []), ...topics];
  if (where.length === 0) return <p className="dim">Given to all work.</p>;
  return (
    <p>
      <span className="dim">Given to work on</span>{' '}
      {where.map((each, index) => (
        <span key={each}>
          {index > 0 && ', '}
          <code>{plainLine(each)}</code>
        </span>
      ))}
    </p>
  );
}

/** The figures that decide whether it stays. */
function Worth({ lesson }: { lesson: LessonView }) {
  const { injected, helped, hurt, rate, baseRate, proof, promoted, retiredWhy, state } = lesson;
  return (
    <p className="row">
      <span>
        {injected === 0 ? 'given to no run yet' : `given to ${injected} runs: ${helped} went well, ${hurt} did not`}
      </span>
      {rate && (
        <span>
          {percent(rate.share)} ({percent(rate.low)} to {percent(rate.high)}), without it {percent(baseRate)}
        </span>
      )}
      {proof && (
        <span>
          replay of {proof.pairs} pairs: {signed(proof.gain)} ({signed(proof.low)} to {signed(proof.high)}), placebo{' '}
          {signed(proof.placeboGain)}
        </span>
      )}
      {promoted && <span>in {plainLine(promoted.file)}</span>}
      <span className="dim" dir="auto">
        {plainLine(retiredWhy ?? state)}
      </span>
    </p>
  );
}

const signed = (share: number) => `${share > 0 ? '+' : ''}${percent(share)}`;

function History({ number }: { number: number }) {
  const project = useProject();
  const { data, error, isPending } = useQuery({
    queryKey: ['lesson', project.id, number],
    queryFn: ({ signal }) => api.lesson({ project: project.id, lesson: String(number) }, withTimeout(signal)),
  });
  if (!data)
    return (
      <>
        <Failed error={error} />
        {isPending && <p className="dim">Loading…</p>}
      </>
    );
  const { origin, createdAt, tasks, uses, version } = data;
  return (
    <div className="lesson-history">
      <p>
        Recorded by {plainLine(origin.by.name)}, {timeOf(createdAt)}
        {version > 1 && `, version ${version}`}.
      </p>
      {tasks.length > 0 && (
        <p>
          Learned from{' '}
          {tasks.map((task, index) => (
            <span key={task.number}>
              {index > 0 && ', '}
              <TaskLink number={task.number} /> {plainLine(task.title)}
            </span>
          ))}
        </p>
      )}
      {origin.traceIds.length > 0 && (
        <ul className="traces" aria-label="Traces that it comes from">
          {origin.traceIds.slice(0, 5).map((id) => (
            <TraceById key={id} id={id} />
          ))}
        </ul>
      )}
      {uses.length === 0 ? (
        <p className="dim">No run was given it yet.</p>
      ) : (
        <ul aria-label="Runs that were given it">
          {uses.map((use) => (
            <Use key={use.runId} use={use} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Use({ use: { taskNumber, taskTitle, verdict, why, at, isHeldBack } }: { use: LessonUseView }) {
  const ago = useElapsed(at);
  const how = verdict === null ? 'not measured yet' : verdict === 'neither' ? 'nothing to measure' : verdict;
  return (
    <li className="row">
      {taskNumber !== null && <TaskLink number={taskNumber} />}
      <span dir="auto">{plainLine(taskTitle)}</span>
      <span className={verdict === 'helped' ? 'landed' : verdict === 'hurt' ? 'crashed' : 'dim'}>
        {isHeldBack ? 'held back, for comparison' : how}
      </span>
      {why && <span className="dim">{plain(why)}</span>}
      <span className="dim">{ago} ago</span>
    </li>
  );
}

function Actions({ lesson }: { lesson: LessonView }) {
  const project = useProject();
  const may = useMay('operator');
  const [shown, setShown] = useState<'edit' | 'retire' | null>(null);
  const { number, stage } = lesson;
  const about = { project: project.id, lesson: String(number), by: 'page' };
  return (
    <p className="row">
      {stage === 'retired' ? (
        <Action act={() => api.restoreLesson(about)} done={`L${number} is an experiment again`}>
          Bring back <span className="unseen">L{number}</span>
        </Action>
      ) : (
        <>
          <button type="button" disabled={!may} data-key="edit" onClick={() => setShown('edit')}>
            <kbd>e</kbd> Edit <span className="unseen">L{number}</span>
          </button>
          <button type="button" disabled={!may} onClick={() => setShown('retire')}>
            Retire <span className="unseen">L{number}</span>
          </button>
        </>
      )}
      {shown === 'edit' && <LessonDialog lesson={lesson} onClose={() => setShown(null)} />}
      {shown === 'retire' && <Retire lesson={lesson} onClose={() => setShown(null)} />}
    </p>
  );
}

function Retire({ lesson: { number }, onClose }: { lesson: LessonView; onClose: () => void }) {
  const project = useProject();
  const [why, setWhy] = useState('');
  const about = { project: project.id, lesson: String(number), by: 'page' };
  return (
    <FormDialog
      title={`Retire L${number}?`}
      onClose={onClose}
      send={() => api.retireLesson({ ...about, why: why.trim() })}
      done={`L${number} is retired`}
      yes="Retire"
      isReady={why.trim() !== ''}
    >
      <label>
        Why? No run is given it any more. You can bring it back.
        <textarea rows={2} value={why} maxLength={500} onChange={(event) => setWhy(event.target.value)} />
      </label>
    </FormDialog>
  );
}
