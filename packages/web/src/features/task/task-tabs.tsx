import type { TaskDetail } from '@tidemill/contract';
import type { ReactNode } from 'react';
import { Tabs } from '../../shell/tabs.tsx';
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

interface TaskTabsProps {
  detail: TaskDetail;
  tab: TabName;
  show: (tab: string) => void;
}

/** The parts of the task's page; the current one is in the address. */
export function TaskTabs({ detail, tab, show }: TaskTabsProps) {
  return (
    <Tabs
      label={`About #${detail.task.number}`}
      names={TABS}
      tab={tab}
      show={show}
      does={(title) => `${title} of the task`}
      badge={(name) => badgeOf(name, detail)}
      className="task-tabs"
    >
      <Panel detail={detail} tab={tab} />
    </Tabs>
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
