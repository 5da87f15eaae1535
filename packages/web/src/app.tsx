import type { Project } from '@tidemill/contract';
import { Suspense, useEffect, useRef, useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { useAddress } from './address.ts';
import { useProjects, useRole, useStatus } from './features/project/queries.ts';
import { nameOfPage, PAGES } from './pages.tsx';
import { projectName } from './project-name.ts';
import { Role } from './shell/action.tsx';
import { Banners } from './shell/banners.tsx';
import { Broken } from './shell/broken.tsx';
import { Command } from './shell/command.tsx';
import { useFocus } from './shell/focus.ts';
import { Frame } from './shell/frame.tsx';
import { Help } from './shell/help.tsx';
import { useLive } from './shell/live.ts';
import { PageLink } from './shell/page-link.tsx';
import { ShownProject } from './shell/project.tsx';
import { Search } from './shell/search.tsx';
import { Toasts } from './shell/toasts.tsx';
import { runClock } from './time.ts';

export function App() {
  const [open, setOpen] = useState<'help' | 'search' | null>(null);
  const [at] = useLocation();
  const main = useRef<HTMLElement>(null);
  const projects = useProjects();
  const role = useRole();
  const { project, isUnknown } = useChosen(projects.data);
  const status = useStatus(project?.id);
  const connection = useLive(project?.id);
  const isOutdated = useOutdated(status.data?.daemon?.version);
  const error = projects.error ?? status.error;
  const shown = project && status.data && { project, status: status.data, knownAt: status.dataUpdatedAt, connection };
  const isLost = connection === 'offline' || connection === 'signed_out';
  useEffect(() => runClock(!isLost), [isLost]);
  useTitle(status.data, at);
  useFocus(main);
  const close = () => setOpen(null);
  return (
    <Role.Provider value={role}>
      <Frame
        pages={PAGES}
        projects={projects.data ?? []}
        project={project}
        status={status.data}
        connection={connection}
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
        <main id="content" ref={main} tabIndex={-1} aria-label={nameOfPage(at)} aria-busy={!shown}>
          {shown ? (
            // The key resets all state, so that nothing typed or chosen in one project carries over to another.
            <ShownProject key={shown.project.id} shown={shown}>
              <Pages />
              {open === 'search' && <Search pages={PAGES} onClose={close} />}
            </ShownProject>
          ) : (
            <Waiting projects={projects.data} isUnknown={isUnknown} isBroken={error !== null} />
          )}
        </main>
      </Frame>
      {open === 'help' && <Help onClose={close} />}
      <Toasts />
    </Role.Provider>
  );
}

/** The project in the address, or else the first one. The choice stays even if the order of projects changes. */
function useChosen(projects: Project[] | undefined) {
  const [chosen, choose] = useAddress('project');
  const seen = useRef<string>(undefined);
  seen.current ??= projects?.[0]?.id;
  const wanted = chosen || seen.current;
  const project = projects?.find(({ id }) => id === wanted);
  const isNamed = chosen !== '' || projects === undefined || projects.length < 2;
  useEffect(() => {
    if (!isNamed && seen.current) choose(seen.current);
  });
  return { project, isUnknown: projects !== undefined && projects.length > 0 && !project };
}

function Pages() {
  const [at] = useLocation();
  return (
    <Broken key={at}>
      <Suspense fallback={<p className="waiting-room dim">Loading…</p>}>
        <Switch>
          {PAGES.flatMap(({ path, show, ofOne }) => [
            <Route key={path} path={path}>
              {show}
            </Route>,
            ofOne && (
              <Route key={`${ofOne.path}/`} path={`${ofOne.path}/:number`}>
                {({ number }) => ofOne.show(Number(number))}
              </Route>
            ),
          ])}
          <Route>
            <p className="waiting-room">
              Page not found. <PageLink to="/">Go to the overview</PageLink>
            </p>
          </Route>
        </Switch>
      </Suspense>
    </Broken>
  );
}

/** The title shows how many things need a person, also while the tab is in the background. */
function useTitle(status: ReturnType<typeof useStatus>['data'], at: string): void {
  const needs = status?.inbox ?? 0;
  const name = status?.project.name;
  useEffect(() => {
    const parts = [nameOfPage(at), ...(name === undefined ? [] : [name]), 'Tidemill'];
    document.title = `${needs > 0 ? `(${needs}) ` : ''}${parts.join(' · ')}`;
  }, [needs, name, at]);
}

/** Whether the daemon's version changed since this page was loaded. */
function useOutdated(version: string | undefined): boolean {
  const first = useRef(version);
  first.current ??= version;
  return version !== undefined && first.current !== version;
}

function Waiting(props: { projects: Project[] | undefined; isUnknown: boolean; isBroken: boolean }) {
  const { projects, isUnknown, isBroken } = props;
  if (projects?.length === 0)
    return (
      <section className="waiting-room">
        <p>No project yet. Run this in a git repository:</p>
        <Command text="tidemill init && tidemill up" />
      </section>
    );
  if (projects && isUnknown)
    return (
      <section className="waiting-room">
        <p>The project of this link does not exist here. Choose one of these:</p>
        <ul>
          {projects.map((project) => (
            <li key={project.id}>
              <Link href={`/?project=${project.id}`}>{projectName(project, projects)}</Link>
            </li>
          ))}
        </ul>
      </section>
    );
  return <p className="waiting-room dim">{isBroken ? 'Nothing to show until the daemon responds.' : 'Loading…'}</p>;
}
