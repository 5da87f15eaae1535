import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { useAddress } from './address.ts';
import { OverviewPage } from './features/overview/overview-page.tsx';
import { useProjects, useStatus } from './features/project/queries.ts';
import { Banners } from './shell/banners.tsx';
import { Broken } from './shell/broken.tsx';
import { Command } from './shell/command.tsx';
import { Frame } from './shell/frame.tsx';
import { Help } from './shell/help.tsx';
import { useLive } from './shell/live.ts';
import { Notices } from './shell/notices.tsx';
import { ShownProject } from './shell/project.tsx';
import { Search } from './shell/search.tsx';

const BoardPage = lazy(() => import('./features/board/board-page.tsx'));
const TaskPage = lazy(() => import('./features/task/task-page.tsx'));
const InboxPage = lazy(() => import('./features/inbox/inbox-page.tsx'));
const FleetPage = lazy(() => import('./features/fleet/fleet-page.tsx'));
const ConflictsPage = lazy(() => import('./features/conflict/conflicts-page.tsx'));
const MoneyPage = lazy(() => import('./features/money/money-page.tsx'));
const SettingsPage = lazy(() => import('./features/settings/settings-page.tsx'));

export function App() {
  const [chosen, choose] = useAddress('project');
  const [open, setOpen] = useState<'help' | 'search' | null>(null);
  const projects = useProjects();
  const project = projects.data?.find(({ id }) => id === chosen) ?? projects.data?.[0];
  const status = useStatus(project?.id);
  const connection = useLive(project?.id);
  const isOutdated = useOutdated(status.data?.daemon?.version);
  const error = projects.error ?? status.error;
  const shown = project && status.data && { project, status: status.data, knownAt: status.dataUpdatedAt, connection };
  useTitle(status.data);
  const close = () => setOpen(null);
  return (
    <>
      <Frame
        projects={projects.data ?? []}
        project={project}
        status={status.data}
        connection={connection}
        choose={choose}
        onSearch={() => shown && setOpen('search')}
        onHelp={() => setOpen('help')}
      >
        <Banners
          connection={connection}
          error={error}
          knownAt={status.dataUpdatedAt}
          isOutdated={isOutdated}
          status={status.data}
        />
        <main id="content" tabIndex={-1} aria-busy={!shown}>
          {shown ? (
            <ShownProject shown={shown}>
              <Pages />
              {open === 'search' && <Search onClose={close} />}
            </ShownProject>
          ) : (
            <Waiting isEmpty={projects.data?.length === 0} isBroken={error !== null} />
          )}
        </main>
      </Frame>
      {open === 'help' && <Help onClose={close} />}
      <Notices />
    </>
  );
}

function Pages() {
  const [at] = useLocation();
  return (
    <Broken key={at}>
      <Suspense fallback={<p className="waiting-room dim">Reading…</p>}>
        <Switch>
          <Route path="/" component={OverviewPage} />
          <Route path="/board" component={BoardPage} />
          <Route path="/tasks/:number">{({ number }) => <TaskPage number={Number(number)} />}</Route>
          <Route path="/inbox" component={InboxPage} />
          <Route path="/fleet" component={FleetPage} />
          <Route path="/conflicts/:number?">
            {({ number }) => <ConflictsPage number={number === undefined ? null : Number(number)} />}
          </Route>
          <Route path="/money" component={MoneyPage} />
          <Route path="/settings" component={SettingsPage} />
          <Route>
            <p className="waiting-room">There is no such page.</p>
          </Route>
        </Switch>
      </Suspense>
    </Broken>
  );
}

/** The tab tells how many things need a person, also while another one is in front. */
function useTitle(status: ReturnType<typeof useStatus>['data']): void {
  const needs = status?.inbox ?? 0;
  const name = status?.project.name;
  useEffect(() => {
    if (name !== undefined) document.title = `${needs > 0 ? `(${needs}) ` : ''}${name} · Tidemill`;
  }, [needs, name]);
}

/** The daemon came back as another version than the one this page was loaded from. */
function useOutdated(version: string | undefined): boolean {
  const first = useRef(version);
  first.current ??= version;
  return version !== undefined && first.current !== version;
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
