import { AppError, type Project, type ProjectStatus } from '@tidemill/contract';
import { type ReactNode, useEffect } from 'react';
import { useAddress } from './address.ts';
import { isCode } from './api.ts';
import { type Liveness, useLive } from './features/event/live.ts';
import { useProjects, useStatus, useTasks } from './features/project/queries.ts';
import { stagesOf } from './features/stage/flow.ts';
import { Mill } from './features/stage/mill.tsx';
import { Landed } from './features/task/landed.tsx';
import { Command, NeedsYou } from './features/task/needs-you.tsx';
import { TaskList } from './features/task/task-list.tsx';
import { WorkingNow } from './features/worker/working-now.tsx';
import { useNow } from './time.ts';

export function App() {
  const [chosen, choose] = useAddress('project');
  const projects = useProjects();
  const project = projects.data?.find(({ id }) => id === chosen) ?? projects.data?.[0];
  const status = useStatus(project?.id);
  const connection = useLive(project?.id);
  const error = projects.error ?? status.error;
  return (
    <>
      <header className="top">
        <h1>
          <img src="/favicon.svg" alt="" width={24} height={24} /> Tidemill
        </h1>
        {project && <ProjectChoice projects={projects.data ?? []} chosen={project} choose={choose} />}
        {status.data && <p className="dim">{mood(status.data)}</p>}
        <p className={`link ${connection}`}>{connection.replace('_', ' ')}</p>
      </header>
      <Banner
        connection={isCode(status.error, 'daemon_unreachable') ? 'offline' : connection}
        error={error}
        knownAt={status.dataUpdatedAt}
      />
      <main aria-busy={!status.data}>
        {project && status.data ? (
          <Overview
            project={project}
            status={status.data}
            knownAt={status.dataUpdatedAt}
            isLive={connection === 'live'}
          />
        ) : (
          <Waiting isEmpty={projects.data?.length === 0} isBroken={error !== null} />
        )}
      </main>
    </>
  );
}

function Overview(props: { project: Project; status: ProjectStatus; knownAt: number; isLive: boolean }) {
  const { project, status, knownAt, isLive } = props;
  const { data: tasks = [] } = useTasks(status);
  const now = useNow();
  const { blocked = 0, needs_info = 0 } = status.tasks;
  const needs = Math.max(status.needsYou.length, blocked + needs_info);
  // Without a connection nothing is known to go on, so no clock does.
  const agoMs = isLive ? Math.max(0, now - knownAt) : 0;
  useEffect(() => {
    document.title = `${needs > 0 ? `(${needs}) ` : ''}${status.project.name} · Tidemill`;
  }, [needs, status.project.name]);
  return (
    <>
      <Mill stages={stagesOf(project, status, tasks)} agoMs={agoMs} />
      <div className="strips">
        <NeedsYou needs={status.needsYou} total={needs} />
        <WorkingNow workers={status.workers} agoMs={agoMs} />
        <Landed status={status} />
      </div>
      <TaskList tasks={tasks} total={Math.max(status.total, tasks.length)} />
      <footer className="dim">
        <p>Gates: {status.gates.join(', ')}.</p>
        <p>Sandbox: {status.sandbox.text}</p>
      </footer>
    </>
  );
}

function ProjectChoice(props: { projects: Project[]; chosen: Project; choose: (id: string) => void }) {
  const { projects, chosen, choose } = props;
  return (
    <p className="project" title={chosen.root}>
      {projects.length === 1 ? (
        chosen.name
      ) : (
        <select aria-label="Project" value={chosen.id} onChange={(event) => choose(event.target.value)}>
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}{' '}
      <span className="dim">→ {chosen.rules.target}</span>
    </p>
  );
}

function mood({ running, idle, workers, total }: ProjectStatus): string {
  if (!running) return 'not running: tidemill up';
  const busy = workers.filter(({ task }) => task !== null).length;
  if (busy > 0) return `${busy} at work`;
  return total === 0 ? 'waits for its first task' : idle ? 'idle' : 'about to begin';
}

function Banner({ connection, error, knownAt }: { connection: Liveness; error: unknown; knownAt: number }) {
  // A time of day, not an age: what is told aloud must not change every second.
  const known = knownAt > 0 ? ` Shown is what was known at ${new Date(knownAt).toLocaleTimeString('en-GB')}.` : '';
  let text: ReactNode = null;
  if (connection === 'signed_out') {
    text = (
      <>
        The daemon was started anew, and its page has a new link. Open the link that this prints:
        <Command text="tidemill status" />
      </>
    );
  } else if (connection === 'offline') text = `Offline: the daemon does not answer. Trying again every second.${known}`;
  else if (connection === 'live' && error instanceof AppError) text = `${error.message}. ${error.hint}`;
  else if (connection === 'live' && error)
    text = `This page could not read the daemon's answer. Load it again. ${String(error).slice(0, 200)}`;
  return <div role="alert">{text && <div className={`banner ${connection}`}>{text}</div>}</div>;
}

function Waiting({ isEmpty, isBroken }: { isEmpty: boolean; isBroken: boolean }) {
  if (isEmpty) {
    return (
      <section className="waiting-room">
        <p>No project yet. In a git repository:</p>
        <Command text="tidemill init && tidemill up" />
      </section>
    );
  }
  return (
    <p className="waiting-room dim">{isBroken ? 'Nothing to show until the daemon answers.' : 'Reading the mill…'}</p>
  );
}
