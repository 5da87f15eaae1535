import type { Page } from 'playwright-core';
import type { PageBed } from '../support/page-bed.ts';
import type { PageToShow } from '../support/pages.ts';

const CONFIG = `workers: 2
pipeline: feature
reviewPlans: true
critical: [ledger.txt]
budget: { dailyUsd: 20 }
gates:
  - { name: test, run: "true" }
`;
const SCENARIO = `runs:
  - when: { task: Raise the wall, mode: implement }
    do:
      - edit: { path: ledger.txt, find: "stones 10", replace: "stones 12" }
      - progress: { percent: 50, text: the wall is higher }
      - run: "{door wall}"
      - result: { summary: two more stones }
  - when: { task: Which grain, mode: implement, attempt: 1 }
    do:
      - ask: { questions: [ { text: "Rye or wheat?", options: [rye, wheat], default: wheat } ] }
  - when: { task: Turn slowly, mode: implement, attempt: 1 }
    do:
      - progress: { percent: 40, text: turning the stones }
      - say: "still turning"
      - hang:
  - when: { task: Buy gold, mode: implement }
    do:
      - write: { path: gold.txt, content: "gold\\n" }
      - spend: { inputTokens: 1000, outputTokens: 200, costUsd: 18.2 }
      - result: { summary: bought }
default:
  plan: [ { result: { plan: "1. Dig.\\n2. Line it with oak.", planSummary: dig and line } } ]
  implement:
    - say: at work
    - write: { path: "work-{taskNumber}.txt", content: "done\\n" }
    - spend: { inputTokens: 100, outputTokens: 20, costUsd: 0.05 }
    - result: { summary: done }
  review: [ { result: { approve: true } } ]
`;

export const SCENE = { config: CONFIG, scenario: SCENARIO, files: { 'ledger.txt': 'stones 10\n' } };

export const addQuick = (bed: PageBed, title: string) => bed.add(title, { pipeline: 'quick' });

/** A worker is busy with the first task. */
export async function beginWork(bed: PageBed): Promise<void> {
  await addQuick(bed, 'Turn slowly'); // 1
}

/** A question, a plan and a conflict wait for a person. */
export async function needPerson(bed: PageBed): Promise<void> {
  await addQuick(bed, 'Which grain'); // 2
  await bed.add('Plan the sluice', { accept: ['the sluice is lined with oak'] }); // 3
  await addQuick(bed, 'Raise the wall'); // 4
  // Its change is based on the old main; main moves before the agent ends.
  await bed.when(4, ({ runs }) => runs[0]?.progress?.text === 'the wall is higher');
  bed.repository.write({ 'ledger.txt': 'stones 11\n' });
  bed.repository.git('commit', '-q', '-a', '-m', 'One more stone');
  bed.openDoor('wall');
  await Promise.all([bed.until(2, 'needs_info'), bed.until(3, 'plan_review'), bed.until(4, 'blocked')]);
}

/** Every page. */
export const PAGES: PageToShow[] = [
  {
    name: 'overview',
    path: '/',
    isThere: (p: Page) => p.getByText('a conflict needs you').first().waitFor(),
  },
  {
    name: 'board',
    path: '/board',
    isThere: (p: Page) => p.getByText('Plan the sluice').first().waitFor(),
  },
  { name: 'task', path: '/tasks/4?tab=change', isThere: (p: Page) => p.getByText('stones 12').first().waitFor() },
  {
    name: 'task-conversation',
    path: '/tasks/2?tab=conversation',
    isThere: (p: Page) => p.getByText('Rye or wheat?').first().waitFor(),
  },
  { name: 'inbox', path: '/inbox', isThere: (p: Page) => p.getByText('Line it with oak').waitFor() },
  { name: 'fleet', path: '/fleet', isThere: (p: Page) => p.getByText('turning the stones').waitFor() },
  { name: 'fleet-compare', path: '/fleet?view=compare', isThere: (p: Page) => p.getByRole('table').waitFor() },
  { name: 'conflicts', path: '/conflicts', isThere: (p: Page) => p.getByText('Raise the wall').waitFor() },
  {
    name: 'conflict',
    path: '/conflicts/4',
    isThere: (p: Page) => p.getByRole('heading', { name: 'Result' }).waitFor(),
  },
  { name: 'memory', path: '/memory', isThere: (p: Page) => p.getByText('Nothing is learned yet.').waitFor() },
  { name: 'loop', path: '/loop', isThere: (p: Page) => p.getByText('Waiting for your yes').first().waitFor() },
  { name: 'costs', path: '/costs', isThere: (p: Page) => p.getByText('Queue', { exact: true }).waitFor() },
  {
    name: 'settings',
    path: '/settings',
    isThere: (p: Page) => p.getByText('claude', { exact: true }).first().waitFor(),
  },
  {
    name: 'api',
    path: '/docs',
    isApart: true,
    isThere: (p: Page) => p.getByRole('heading', { name: 'The API of this daemon' }).waitFor(),
  },
];
