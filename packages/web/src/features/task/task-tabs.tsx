import type { TaskDetail } from '@tidemill/contract';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { useKeys } from '../../shell/keys.ts';
import { ChangePanel } from './change-panel.tsx';
import { ConversationPanel } from './conversation-panel.tsx';
import { CostsPanel } from './costs-panel.tsx';
import { CriteriaPanel } from './criteria-panel.tsx';
import { DependenciesPanel } from './dependencies-panel.tsx';
import { OutputPanel } from './output-panel.tsx';
import { TimelinePanel } from './timeline-panel.tsx';

const TABS = ['timeline', 'output', 'change', 'criteria', 'conversation', 'dependencies', 'costs'] as const;
type TabName = (typeof TABS)[number];

export const tabOf = (name: string): TabName => TABS.find((tab) => tab === name) ?? 'timeline';
const nameOf = (tab: TabName) => tab[0]!.toUpperCase() + tab.slice(1);

/** This much of the previous tab stays visible. */
const NEIGHBOUR_PX = 64;

interface TaskTabsProps {
  detail: TaskDetail;
  tab: TabName;
  show: (tab: string) => void;
}

/** The parts of the task's page; the current one is in the address. */
export function TaskTabs({ detail, tab, show }: TaskTabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const open = (next: TabName) => show(next === 'timeline' ? '' : next);
  useKeys(
    TABS.map((name, index) => ({
      keys: String(index + 1),
      does: `${nameOf(name)} of the task`,
      run: () => open(name),
    })),
  );
  useEffect(() => {
    const [pane, chosen] = [list.current, list.current?.querySelector<HTMLElement>(`#tab-${tab}`)];
    // Scroll the tabs only, not the page.
    if (pane && chosen) pane.scrollLeft = chosen.offsetLeft - pane.offsetLeft - NEIGHBOUR_PX;
  }, [tab]);
  const walk = (event: KeyboardEvent) => {
    const at = TABS.indexOf(tab);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    open(TABS.at(next % TABS.length)!);
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[(next + TABS.length) % TABS.length]?.focus();
  };
  return (
    <>
      <div
        ref={list}
        className="tabs task-tabs"
        role="tablist"
        aria-label={`About #${detail.task.number}`}
        onKeyDown={walk}
      >
        {TABS.map((name, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls="tab-panel"
            aria-selected={name === tab}
            aria-keyshortcuts={String(index + 1)}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => open(name)}
          >
            {nameOf(name)}
            {badgeOf(name, detail)}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a panel without buttons must be reachable by keyboard */}
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        <Panel detail={detail} tab={tab} />
      </div>
    </>
  );
}

function badgeOf(tab: TabName, { questions, runs, task, related }: TaskDetail): ReactNode {
  const open = questions.filter(({ status }) => status === 'open').length;
  if (tab === 'conversation') return open > 0 && <span className="badge">{open}</span>;
  const met = task.criteria.filter((criterion) => criterion.met).length;
  const count: Partial<Record<TabName, string>> = {
    output: runs.length > 0 ? String(runs.length) : '',
    criteria: task.criteria.length > 0 ? `${met}/${task.criteria.length}` : '',
    dependencies: related.length > 0 ? String(related.length) : '',
  };
  return count[tab] ? <span className="dim"> {count[tab]}</span> : null;
}

function Panel({ detail, tab }: { detail: TaskDetail; tab: TabName }) {
  switch (tab) {
    case 'timeline':
      return <TimelinePanel detail={detail} />;
    case 'output':
      return <OutputPanel runs={detail.runs} />;
    case 'change':
      return <ChangePanel detail={detail} />;
    case 'criteria':
      return <CriteriaPanel task={detail.task} />;
    case 'conversation':
      return <ConversationPanel detail={detail} />;
    case 'dependencies':
      return <DependenciesPanel detail={detail} />;
    case 'costs':
      return <CostsPanel runs={detail.runs} costUsd={detail.costUsd} />;
  }
}
