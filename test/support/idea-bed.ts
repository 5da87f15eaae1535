import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { type StartedDaemon, TidemillHome } from './tidemill-home.ts';

const artifact = (type: string, content = `All about the ${type} of the tide table, in enough words to be clear.`) =>
  `{ type: ${type}, summary: The ${type}, content: "${content}", confidence: 0.8 }`;
/** A rule for the reply to a message that contains these words. */
const rule = (words: string, ideation: string, said = 'Understood.') => `
  - when: { mode: ideate, prompt: "${words}" }
    do:
      - say: "${said}"
      - result: { summary: replied, ideation: { reply: "${said}", ${ideation} } }`;
export const SCENARIO = `runs:${[
  rule('all is settled', 'signals: { confidence: 0.9 }', 'The brief is ready.'),
  rule(
    'ten of twelve',
    `signals: { decisions: [{ type: validation, text: Ten of twelve asked for it }, { type: validation, text: Data is free }, { type: validation, text: Phones work there }], risks: [{ text: Fog, severity: high }] }`,
  ),
  rule('FOUND-BY-SEARCH', 'signals: { confidence: 0.5 }', 'The search helped.'),
  rule('Answer: All of it at once', 'signals: {}, complexity: 9', 'All of it, then.'),
  rule(
    'first a list',
    `signals: { artifacts: [${artifact('mvp-features')}, ${artifact('differentiator')}], confidence: 0.5 }, complexity: 9, wantsResearch: [Tide data]`,
  ),
  rule('Answer: Fishermen', 'signals: {}', 'Fishermen, noted.'),
  rule(
    'harbours without a network',
    `title: Tide table, signals: { artifacts: [${artifact('target-user')}, ${artifact('problem', 'No tides')}, ${artifact('solution-concept')}], confidence: 0.4 }`,
    'Who reads it?',
  ),
].join('')}
`;
const SEARCH = `#!/bin/sh
case "$1" in *hang*) sleep 600;; esac
echo '<html><script>steal()</script><p>FOUND-BY-SEARCH: tide data is free</p></html>'
`;
export const CONFIG = `target: main
untested: true
agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
research: { command: [sh, search.sh, "{query}"], timeout: 3s }
`;

/** A daemon whose scripted agent talks about ideas, and a program that searches. */
export class IdeaBed {
  readonly machine = new TidemillHome();
  readonly repository = new TemporaryRepository({
    'search.sh': SEARCH,
    'README.md': '# Harbour tools\n',
    '.tidemill/config.yaml': CONFIG,
    '.tidemill/scenario.yaml': SCENARIO,
    '.tidemill/profile.yaml': 'goals: [Help my village]\nskills: [Sailing]\nlifeStage: retired\n',
  });
  readonly root = this.repository.root;
  #daemon!: StartedDaemon;

  async open(): Promise<void> {
    this.#daemon = await this.machine.up(this.root);
  }
  async restart(): Promise<void> {
    this.#daemon.child.kill('SIGKILL');
    await this.#daemon.ended;
    await this.open();
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  play = (scenario: string) => writeFileSync(join(this.root, '.tidemill/scenario.yaml'), scenario);
  cli = (...args: string[]) => this.machine.run(args, this.root);
  json = <T>(...args: string[]) => this.machine.json<T>(args, this.root);
  shown = (idea = '1') => this.machine.ask(this.root, (api, project) => api.idea({ project, idea }));
}
