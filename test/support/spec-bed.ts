import type { QuestionView, SpecDetail, SpecSummary } from '@tidemill/contract';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';

export const task = (number: number, more: object = {}) => ({
  id: `T${number}`,
  title: `Write part ${number}`,
  phase: 'api',
  action: 'create',
  files: [`part-${number}.txt`],
  requirements: ['R1'],
  accept: [`part-${number}.txt has the text "part"`],
  validate: `test -s part-${number}.txt`,
  estimateMinutes: 10,
  ...more,
});
export const DRAFT = {
  title: 'Parts',
  summary: 'Eight parts.',
  requirements: [
    { id: 'R1', text: 'There are parts' },
    { id: 'R2', kind: 'non_functional', text: 'The export takes less than a second' },
  ],
  scope: { in: ['parts'], out: ['wholes'] },
  dependencies: ['a printer'],
  tasks: [
    task(1, { phase: 'database' }),
    task(2, { dependsOn: ['T1'] }),
    task(3, { dependsOn: ['T1'], requirements: ['R2'] }),
    task(4, { phase: 'tests', dependsOn: ['T2', 'T3'], requirements: ['R1', 'R2'] }),
  ],
};
const UNCLEAR = {
  ...DRAFT,
  ambiguities: [{ requirement: 'The export is fast', term: 'fast', options: ['below a second', 'below a minute'] }],
};
export const ANSWER = 'Answer: below a second';
export const result = (given: object) => [{ result: given }];
export const verdict = (requirement: string, met = true) => ({
  requirement,
  met,
  evidence: `part-1.txt:1 shows ${requirement}`,
});

/** One task with a gate of its own that the first attempt does not pass, and with a review. */
const IDEA_DRAFT = {
  title: 'Parts for harbours',
  summary: 'Harbour masters mend parts themselves.',
  architecture: 'Parts live in one text file each; there is no database.',
  requirements: [{ id: 'R1', text: 'Part 9 can be mended' }],
  scope: { in: ['mending'], out: ['Selling parts to other harbours'] },
  tasks: [task(9, { title: 'Mend part 9', kind: 'bug', validate: 'grep -q mended part-9.txt' })],
};
const HARBOUR = 'Parts for every harbour.';
/** An agent that does not know the specification builds and approves nothing. */
const knowing = (mode: string, more: object = {}) => ({
  mode,
  task: 'Mend part',
  prompt: IDEA_DRAFT.architecture,
  ...more,
});
export const ideaRuns = [
  { when: { mode: 'specify', prompt: HARBOUR }, do: result({ spec: IDEA_DRAFT }) },
  {
    when: knowing('implement', { feedback: 'Gate validate #', prompt: 'target-user: Harbour masters' }),
    do: [{ write: { path: 'part-9.txt', content: 'mended\n' } }, { result: { summary: 'mended' } }],
  },
  {
    when: knowing('implement'),
    do: [{ write: { path: 'part-9.txt', content: 'part\n' } }, { result: { summary: 'written' } }],
  },
  { when: { ...knowing('review'), prompt: IDEA_DRAFT.scope.out[0] }, do: result({ approve: true }) },
  { when: { mode: 'implement', task: 'Mend part' }, do: result({ outcome: 'failed', summary: 'no specification' }) },
  { when: { mode: 'review' }, do: result({ approve: false }) },
];

const scenario = (judgement: object[] = [verdict('R1'), verdict('R2')], more: object[] = []) => ({
  runs: [
    ...more,
    { when: { mode: 'specify', prompt: ANSWER }, do: result({ spec: DRAFT }) },
    { when: { mode: 'specify' }, do: result({ spec: UNCLEAR }) },
    { when: { mode: 'initialize' }, do: result({ spec: DRAFT }) },
    {
      when: { mode: 'judge', prompt: 'Meet R2' },
      do: result({ judgement: { requirements: [verdict('R1'), verdict('R2')] } }),
    },
    { when: { mode: 'judge' }, do: result({ judgement: { requirements: judgement } }) },
    {
      when: { mode: 'implement' },
      do: [{ write: { path: 'part-{taskNumber}.txt', content: 'part\n' } }, { result: { summary: 'written' } }],
    },
  ],
});

const CONFIG = `target: main
pipeline: quick
agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
gates:
  - { name: test, run: "true" }
`;

/** A repository whose scripted agents specify, build and judge. */
export class SpecBed {
  readonly machine = new TidemillHome();
  readonly repository = new TemporaryRepository({ 'README.md': '# Parts\n', 'main.js': '' });
  readonly root = this.repository.root;

  constructor() {
    this.play();
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  play(...given: Parameters<typeof scenario>): void {
    this.repository.write({
      '.tidemill/config.yaml': CONFIG,
      '.tidemill/scenario.yaml': JSON.stringify(scenario(...given)),
      '.tidemill/gotchas.yaml': '- { text: Parts need a newline at the end, files: "part-*.txt", confidence: 0.9 }\n',
    });
  }
  spec = <T = SpecSummary>(...args: string[]) => this.machine.json<T>(['spec', ...args], this.root);
  refused = async (...args: string[]) => (await this.machine.run(args, this.root)).stderr;
  shown = (number = 1) => this.spec<SpecDetail>('show', String(number));
  questions = () => this.machine.json<QuestionView[]>(['questions'], this.root);
}
