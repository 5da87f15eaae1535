import './spec.css';
import { useQuery } from '@tanstack/react-query';
import type { SpecDetail } from '@tidemill/contract';
import { useState } from 'react';
import { useAddress } from '../../address.ts';
import { api, isCode, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { Tabs } from '../../shell/tabs.tsx';
import { showToast } from '../../shell/toasts.tsx';
import { Answer } from '../question/answer.tsx';
import { Asked } from '../question/asked.tsx';
import { DocumentPanel } from './document-panel.tsx';
import { RequirementsPanel } from './requirements-panel.tsx';
import { ReviseDialog } from './revise-dialog.tsx';
import { SpecActions } from './spec-actions.tsx';
import { canRevise, lookOf } from './standing.ts';
import { TasksPanel } from './tasks-panel.tsx';
import { VersionsPanel } from './versions-panel.tsx';

const TABS = ['document', 'requirements', 'tasks', 'versions'] as const;
type Tab = (typeof TABS)[number];

/** One specification. */
export default function SpecPage({ number }: { number: number }) {
  const project = useProject();
  const [version] = useAddress('version');
  const { data, error, isPending } = useQuery({
    queryKey: ['spec', project.id, number, version],
    queryFn: ({ signal }) =>
      api.spec(
        { project: project.id, spec: number, ...(version ? { version: Number(version) } : {}) },
        withTimeout(signal),
      ),
    enabled: Number.isSafeInteger(number),
  });
  if (!Number.isSafeInteger(number) || isCode(error, 'not_found')) return <Missing number={number} />;
  if (data) return <Known key={data.spec.id} detail={data} />;
  return (
    <>
      <Failed error={error} />
      {isPending && <p className="dim">Loading…</p>}
    </>
  );
}

const Missing = ({ number }: { number: number }) => (
  <Empty>
    <p role="alert">
      There is no such specification{Number.isNaN(number) ? '' : ` as S${number}, or no such version`}.
    </p>
    <p>
      <PageLink to="/specs">All specifications</PageLink>
    </p>
  </Empty>
);

function Known({ detail }: { detail: SpecDetail }) {
  const { spec, version, openQuestions } = detail;
  const [isRevising, revise] = useState(false);
  const begin = () => (canRevise(spec) ? revise(true) : showToast(`S${spec.number} cannot be changed now.`));
  useKeys([{ keys: 'c', does: 'Request changes', run: begin }]);
  return (
    <article className="spec-page">
      <PageHead
        title={
          <>
            <PageLink to="/specs">Specs</PageLink> <span className="number">S{spec.number}</span>{' '}
            <span dir="auto">{plainLine(spec.title)}</span>
          </>
        }
        about={<Standing detail={detail} />}
      >
        <SpecActions detail={detail} revise={begin} />
      </PageHead>
      <RoleNote what="Deciding" />
      {version && version.version < spec.version && (
        <p className="waiting">
          This is version {version.version}. Version {spec.version} is the current one.
        </p>
      )}
      {openQuestions.map((question) => (
        <section key={question.id} className="card open-question">
          <p className="dim">
            {question.ref} {question.holds ? 'waits for you' : question.type}
          </p>
          <Asked text={question.text} />
          {question.context && <p className="dim">{plainLine(question.context)}</p>}
          <Answer question={question} />
        </section>
      ))}
      <Critic detail={detail} />
      {version ? <Parts detail={detail} /> : <Waiting detail={detail} />}
      {isRevising && <ReviseDialog detail={detail} onClose={() => revise(false)} />}
    </article>
  );
}

function Standing({ detail: { spec, version } }: { detail: SpecDetail }) {
  return (
    <span className="row">
      <span className={lookOf(spec.status)}>{spec.status}</span>
      {version && (
        <span>
          version {version.version} by {plainLine(version.by.name)}
        </span>
      )}
      {spec.approved && <span>approved by {plainLine(spec.approved.by.name)}</span>}
      {spec.approved && spec.approved.overridden.length > 0 && (
        <span className="waiting">not ready, approved nevertheless: {spec.approved.overridden.join(', ')}</span>
      )}
      {spec.why && <span className={lookOf(spec.status)}>{plainLine(spec.why)}</span>}
    </span>
  );
}

/** What the critic said about the version shown. */
function Critic({ detail: { spec, critique } }: { detail: SpecDetail }) {
  if (spec.criticJobId !== null) return <p className="dim">A critic reads this version before you are asked.</p>;
  if (!critique) return null;
  if (critique.why) return <p className="dim">No critic has read this version: {plainLine(critique.why)}</p>;
  if (critique.findings.length === 0) return <p className="dim">A critic has read it and found nothing wrong.</p>;
  return (
    <section className="card">
      <h2>What a critic found</h2>
      <ul>
        {critique.findings.map(({ task, severity, text }) => (
          <li key={`${task} ${text}`} className={severity === 'serious' ? 'waiting' : ''}>
            {task && <strong>{plainLine(task)}: </strong>}
            <span dir="auto">{plainLine(text)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const Waiting = ({ detail: { spec } }: { detail: SpecDetail }) => (
  <Empty>
    <p>{spec.status === 'drafting' ? 'An agent writes the first version.' : 'There is no version yet.'}</p>
  </Empty>
);

function Parts({ detail }: { detail: SpecDetail }) {
  const [wanted, show] = useAddress('tab');
  const tab = TABS.find((name) => name === wanted) ?? 'document';
  return (
    <Tabs
      label={`About S${detail.spec.number}`}
      names={TABS}
      tab={tab}
      show={show}
      badge={(name) => <span className="dim"> {countOf(name, detail)}</span>}
    >
      {tab === 'document' && <DocumentPanel detail={detail} />}
      {tab === 'requirements' && <RequirementsPanel detail={detail} />}
      {tab === 'tasks' && <TasksPanel detail={detail} />}
      {tab === 'versions' && <VersionsPanel detail={detail} />}
    </Tabs>
  );
}

function countOf(tab: Tab, { requirements, tasks, versions }: SpecDetail): string {
  if (tab === 'requirements') return String(requirements.length);
  if (tab === 'tasks') return String(tasks.length);
  return tab === 'versions' ? String(versions.length) : '';
}
