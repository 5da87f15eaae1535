import type { LoopView, ProposalView } from '@tidemill/contract';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';

interface Drafted {
  category: string;
  title: string;
  description: string;
  more?: object;
}

const CRITERIA = [
  'greet("") returns "Hello, you!" and not "Hello, !"',
  'greet(" Ada ") returns "Hello, Ada!"',
  'the test file covers both cases and passes',
];

/** A rule of the scenario: what the agent proposes in this category. */
const rule = ({ category, title, description, more = {} }: Drafted) => ({
  when: { mode: 'propose', prompt: `Propose one improvement: ${category}` },
  do: [
    {
      result: {
        summary: title,
        proposal: { title, description, criteria: CRITERIA, effortHours: 1, files: ['greet.js'], ...more },
      },
    },
  ],
});
const noIdea = (category: string) => ({
  when: { mode: 'propose', prompt: `Propose one improvement: ${category}` },
  do: [{ result: { outcome: 'no_idea', summary: `looked at ${category}, found nothing` } }],
});

const SCENARIO = {
  runs: [
    rule({
      category: 'Code Quality',
      title: 'Name the greeting once',
      description: 'The word Hello is repeated. A constant keeps it in one place.',
    }),
    rule({
      category: 'Testing',
      title: 'Test the greeting of an empty name',
      description: 'Nothing shows what an empty name gives. Add tests for it.',
      more: { newFiles: ['greet.test.js'] },
    }),
    rule({
      category: 'Technical Debt',
      title: 'Remove the old farewell function',
      description: 'Nobody calls farewell since last year. Remove it with its comment.',
    }),
    // The same again: a person will have refused the second one by then.
    rule({
      category: 'Documentation',
      title: 'Test greeting with an empty name',
      description: 'Nothing shows what an empty name gives. Add tests for this case.',
      more: { newFiles: ['greet.test.js'] },
    }),
    noIdea('Error Handling & Resilience'),
  ],
  default: {
    implement: [
      { write: { path: 'greet.js', content: 'export const greet = (n) => "Hello, " + (n.trim() || "you") + "!";\n' } },
      { result: {} },
    ],
    review: [{ result: { approve: true } }],
  },
};

const CONFIG = `target: main
pipeline: quick
agents:
  default: { type: scripted, script: scenario.json }
gates:
  - { name: test, run: "true" }
loop: { approval: requires_approval }
`;

/** A small project whose scripted agent proposes improvements. */
export class LoopHome {
  readonly machine = new TidemillHome();
  readonly repository = new TemporaryRepository({
    'greet.js': 'export const greet = (name) => "Hello, " + name + "!";\n',
    'package.json': '{"name":"greeter","devDependencies":{"vitest":"1.0.0"}}\n',
    'scenario.json': JSON.stringify(SCENARIO),
    '.gitignore': '.tidemill/\n',
  });
  readonly root = this.repository.root;

  constructor() {
    this.repository.write({ '.tidemill/config.yaml': CONFIG });
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  loop = () => this.machine.json<LoopView>(['loop'], this.root);
  proposals = (...args: string[]) => this.machine.json<ProposalView[]>(['loop', 'proposals', ...args], this.root);
}
