import type { AccountView, Project, ProjectStatus } from '@tidemill/contract';
import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { plainLine } from '../plain.ts';
import { projectName } from '../project-name.ts';
import { limit, money, plural } from '../words.ts';
import { moveFocus, useKeys } from './keys.ts';
import type { Liveness } from './live.ts';
import { PageLink, useTo } from './page-link.tsx';
import type { PageTab } from './page-tab.ts';
import { useTheme } from './theme.ts';

const LIVENESS: Record<Liveness, string> = {
  connecting: 'connecting',
  live: 'live',
  polling: 'every 5 s',
  offline: 'offline',
  signed_out: 'signed out',
};

interface FrameProps {
  pages: readonly PageTab[];
  projects: Project[];
  project: Project | undefined;
  status: ProjectStatus | undefined;
  connection: Liveness;
  onSearch: () => void;
  onHelp: () => void;
  children: ReactNode;
}

export function Frame(props: FrameProps) {
  const { pages, projects, project, status, connection, onSearch, onHelp, children } = props;
  const [at, go] = useLocation();
  const to = useTo();
  const [theme, nextTheme] = useTheme();
  const tabs = useRef<HTMLElement>(null);
  // In a narrow window the tabs scroll: keep the current one visible.
  useEffect(() => {
    if (at) tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [at]);
  useKeys([
    ...pages.map(({ path, name, key }) => ({ keys: `g ${key}`, does: name, run: () => go(to(path)) })),
    { keys: '/', does: 'Search', run: onSearch },
    { keys: '?', does: 'Show keyboard shortcuts', run: onHelp },
    { keys: 'j', does: 'Next item', repeats: true, run: () => moveFocus(1) },
    { keys: 'k', does: 'Previous item', repeats: true, run: () => moveFocus(-1) },
  ]);
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="top">
        <h1>
          <img src="/favicon.svg" alt="" width={24} height={24} /> Tidemill
        </h1>
        {project && <ProjectChoice projects={projects} chosen={project} />}
        {status && <p className="dim project-state">{stateText(status)}</p>}
        <div className="top-end">
          {status?.budget && <Spend account={status.budget.project} all={status.budget.all} />}
          <p className={`link ${connection}`}>{LIVENESS[connection]}</p>
          <button type="button" className="quiet" onClick={onSearch} aria-keyshortcuts="/">
            Search <kbd>/</kbd>
          </button>
          <button type="button" className="quiet" onClick={nextTheme} aria-label={`Theme: ${theme}. Change theme`}>
            {theme === 'auto' ? 'Auto' : theme === 'light' ? 'Light' : 'Dark'}
          </button>
          <button
            type="button"
            className="quiet"
            onClick={onHelp}
            aria-label="Keyboard shortcuts"
            aria-keyshortcuts="?"
          >
            <kbd>?</kbd>
          </button>
        </div>
      </header>
      <nav className="tabs" aria-label="Pages" ref={tabs}>
        {pages.map((page) => (
          <Tab key={page.path} page={page} status={status} />
        ))}
      </nav>
      {children}
    </>
  );
}

function Tab({ page, status }: { page: PageTab; status: ProjectStatus | undefined }) {
  const [at] = useLocation();
  const { path, name, beside = [] } = page;
  const isHere = path === '/' ? at === '/' : [path, ...beside].some((begin) => at.startsWith(begin));
  const count = status && page.count?.(status);
  return (
    <PageLink to={path} aria-current={isHere ? 'page' : undefined}>
      {name}
      {count ? <span className="badge">{count.toLocaleString('en-US')}</span> : null}
    </PageLink>
  );
}

/** Spend and limits, on every page. */
function Spend({ account, all }: { account: AccountView; all: AccountView }) {
  const stopped = account.stopped ?? all.stopped;
  return (
    <PageLink to="/costs" className={stopped ? 'spend over' : 'spend'} title={stopped ?? undefined}>
      <SpendBar
        name="Today"
        spent={account.daily.spentUsd}
        of={account.limits.dailyUsd}
        percent={account.daily.percent}
      />
      <SpendBar
        name="Month"
        spent={account.monthly.spentUsd}
        of={account.limits.monthlyUsd}
        percent={account.monthly.percent}
      />
    </PageLink>
  );
}

/** `isBare`: without the amount, which is shown beside it. */
export function SpendBar(props: { name: string; spent: number; of: number; percent: number; isBare?: boolean }) {
  const { name, spent, of, percent, isBare = false } = props;
  const look = percent >= 90 ? 'bad' : percent >= 75 ? 'warn' : percent >= 50 ? 'note' : 'good';
  return (
    <span className="spend-bar">
      {!isBare && (
        <span>
          {name} {money(spent)} of {limit(of)}
        </span>
      )}
      <meter
        className={look}
        min={0}
        max={100}
        value={Math.min(100, percent)}
        aria-label={`${name}: ${Math.round(percent)} % of the limit spent`}
      />
    </span>
  );
}

function ProjectChoice({ projects, chosen }: { projects: Project[]; chosen: Project }) {
  const [at, go] = useLocation();
  // The same page in the other project. Task numbers differ between projects, so a task's page becomes the board.
  const page = at.startsWith('/tasks/') ? '/board' : at.replace(/^(\/[a-z]*).*$/, '$1');
  return (
    <p className="project" title={chosen.root}>
      {projects.length === 1 ? (
        plainLine(chosen.name)
      ) : (
        <select
          aria-label="Project"
          value={chosen.id}
          onChange={(event) => go(`${page}?project=${encodeURIComponent(event.target.value)}`)}
        >
          {projects.map((project) => (
            <option key={project.id} value={project.id}>
              {projectName(project, projects)}
            </option>
          ))}
        </select>
      )}{' '}
      <span className="dim">→ {chosen.rules.target}</span>
    </p>
  );
}

function stateText({ running, idle, workers, total }: ProjectStatus): string {
  if (!running) return 'not running; start with tidemill up';
  const busy = workers.filter(({ task }) => task !== null).length;
  if (busy > 0) return `${plural(busy, 'worker')} working`;
  return total === 0 ? 'no tasks yet' : idle ? 'idle' : 'starting';
}
