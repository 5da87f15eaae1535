import { lazy, type ReactNode } from 'react';
import { OverviewPage } from './features/overview/overview-page.tsx';
import type { PageTab } from './shell/page-tab.ts';

const IdeasPage = lazy(() => import('./features/idea/ideas-page.tsx'));
const IdeaPage = lazy(() => import('./features/idea/idea-page.tsx'));
const BoardPage = lazy(() => import('./features/board/board-page.tsx'));
const TaskPage = lazy(() => import('./features/task/task-page.tsx'));
const InboxPage = lazy(() => import('./features/inbox/inbox-page.tsx'));
const FleetPage = lazy(() => import('./features/fleet/fleet-page.tsx'));
const ConflictsPage = lazy(() => import('./features/conflict/conflicts-page.tsx'));
const LoopPage = lazy(() => import('./features/loop/loop-page.tsx'));
const MemoryPage = lazy(() => import('./features/memory/memory-page.tsx'));
const DeliveryPage = lazy(() => import('./features/delivery/delivery-page.tsx'));
const CostsPage = lazy(() => import('./features/costs/costs-page.tsx'));
const FeedbackPage = lazy(() => import('./features/feedback/feedback-page.tsx'));
const SpecsPage = lazy(() => import('./features/spec/specs-page.tsx'));
const SpecPage = lazy(() => import('./features/spec/spec-page.tsx'));
const SettingsPage = lazy(() => import('./features/settings/settings-page.tsx'));

interface Page extends PageTab {
  show(): ReactNode;
  /** The address of a single item, by its number. */
  ofOne?: { path: string; name(number: string): string; show(number: number): ReactNode };
}

/** Every page, in the order of the tabs. */
export const PAGES: readonly Page[] = [
  { path: '/', name: 'Overview', key: 'o', show: () => <OverviewPage /> },
  {
    path: '/ideas',
    name: 'Ideas',
    key: 'd',
    show: () => <IdeasPage />,
    ofOne: { path: '/ideas', name: (number) => `I${number}`, show: (number) => <IdeaPage number={number} /> },
  },
  {
    path: '/specs',
    name: 'Specs',
    key: 'p',
    show: () => <SpecsPage />,
    ofOne: { path: '/specs', name: (number) => `S${number}`, show: (number) => <SpecPage number={number} /> },
  },
  {
    path: '/board',
    name: 'Board',
    key: 'b',
    beside: ['/tasks'],
    show: () => <BoardPage />,
    ofOne: { path: '/tasks', name: (number) => `#${number}`, show: (number) => <TaskPage number={number} /> },
  },
  { path: '/inbox', name: 'Inbox', key: 'i', count: ({ inbox }) => inbox, show: () => <InboxPage /> },
  {
    path: '/feedback',
    name: 'Feedback',
    key: 'k',
    show: () => <FeedbackPage number={null} />,
    ofOne: {
      path: '/feedback',
      name: (number) => `Feedback F${number}`,
      show: (number) => <FeedbackPage number={number} />,
    },
  },
  { path: '/fleet', name: 'Fleet', key: 'f', show: () => <FleetPage /> },
  {
    path: '/conflicts',
    name: 'Conflicts',
    key: 'c',
    count: ({ conflicts }) => conflicts,
    show: () => <ConflictsPage number={null} />,
    ofOne: {
      path: '/conflicts',
      name: (number) => `Conflict of #${number}`,
      show: (number) => <ConflictsPage number={number} />,
    },
  },
  {
    path: '/delivery',
    name: 'Delivery',
    key: 'v',
    show: () => <DeliveryPage number={null} />,
    ofOne: {
      path: '/delivery',
      name: (number) => `Delivery D${number}`,
      show: (number) => <DeliveryPage number={number} />,
    },
  },
  { path: '/loop', name: 'Loop', key: 'l', show: () => <LoopPage /> },
  { path: '/memory', name: 'Memory', key: 'y', show: () => <MemoryPage /> },
  { path: '/costs', name: 'Costs', key: 'm', show: () => <CostsPage /> },
  { path: '/settings', name: 'Settings', key: 's', show: () => <SettingsPage /> },
];

/** The name of a page by its address, for the browser's tab and screen readers. */
export function nameOfPage(at: string): string {
  const [, first = '', number] = at.split('/');
  const one = PAGES.find(({ ofOne }) => ofOne?.path === `/${first}`)?.ofOne;
  if (one && number) return one.name(number);
  return PAGES.find(({ path }) => path === `/${first}`)?.name ?? 'Page not found';
}
