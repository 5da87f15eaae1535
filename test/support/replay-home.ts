import type { ReplayDetail } from '@tidemill/contract';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';

const spend = { spend: { inputTokens: 1000, outputTokens: 100, costUsd: 0.02 } };
const file = 'src/{taskNumber}.txt';

/** The careful one writes what the gate wants; the sloppy one only after the gate has told it. */
const CAREFUL = {
  default: { implement: [{ write: { path: file, content: 'fine\n' } }, spend, { result: {} }] },
};
const SLOPPY = {
  runs: [
    {
      when: { mode: 'implement', feedback: 'Gate test failed' },
      do: [{ write: { path: file, content: 'fine\n' } }, spend, { result: {} }],
    },
  ],
  default: {
    implement: [
      { write: { path: file, content: 'bad\n' } },
      { run: 'git log --all --format=%s > src/history.txt' },
      spend,
      { result: {} },
    ],
  },
};
/** With the rule in its prompt it is careful, without it sloppy. */
const READER = {
  runs: [
    { when: { mode: 'implement', prompt: 'Never write bad words' }, do: CAREFUL.default.implement },
    ...SLOPPY.runs,
  ],
  default: SLOPPY.default,
};

const CONFIG = `target: main
pipeline: quick
workers: 2
agents:
  default: { type: scripted, script: careful.json }
  replay-sloppy: { type: scripted, script: sloppy.json }
  replay-reader: { type: scripted, script: reader.json }
gates:
  - { name: test, run: "! grep -rq bad src" }
`;

/** A repository with a careful and a sloppy agent. */
export class ReplayHome {
  readonly machine = new TidemillHome();
  readonly repository = new TemporaryRepository({
    'src/a.txt': 'ok\n',
    'careful.json': JSON.stringify(CAREFUL),
    'sloppy.json': JSON.stringify(SLOPPY),
    'reader.json': JSON.stringify(READER),
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

  /** A daemon under which so many tasks have landed, the same way as always. */
  async landed(count: number) {
    const daemon = await this.machine.up(this.root);
    for (let number = 1; number <= count; number += 1) {
      const task = { title: `Write file ${number}`, accept: [`src/${number}.txt exists`] };
      await this.machine.ask(this.root, (api, project) => api.addTask({ project, ...task }));
    }
    await this.machine.idle(this.root);
    return daemon;
  }
  show = (ref: string) => this.machine.json<ReplayDetail>(['replay', 'show', ref], this.root);
  refs = () => [this.repository.git('for-each-ref'), this.repository.git('status', '--porcelain')];
}
