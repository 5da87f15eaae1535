import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryView, EnvironmentView } from '@tidemill/contract';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';

const AGENT = {
  default: { implement: [{ write: { path: 'src/{taskNumber}.txt', content: 'fine\n' } }, { result: {} }] },
};

/** What is live in an environment are the names of the files in `src`. `more`: its other lines. */
export const environment = (name: string, more: string) => `    - name: ${name}
      run: ['ls src > "$OUT/${name}.new"', 'mv "$OUT/${name}.new" "$OUT/${name}"']
      env: { OUT: "$LIVE" }
      writable: ["$LIVE"]
${more}`;

/** The real program, and a repository that it delivers to a folder. */
export class DeliveryProgram {
  readonly machine = new TidemillHome({ DEPLOY_KEY: 'kippers-at-noon' });
  readonly repository = new TemporaryRepository({
    'src/a.txt': 'ok\n',
    'agent.json': JSON.stringify(AGENT),
    '.gitignore': '.tidemill/\n',
  });
  readonly root = this.repository.root;
  /** Where it is live. */
  readonly live = join(this.repository.folder, 'live');

  constructor(...environments: string[]) {
    mkdirSync(this.live);
    const config = `target: main
pipeline: quick
agents:
  default: { type: scripted, script: agent.json }
gates:
  - { name: test, run: "true" }
delivery:
  environments:
${environments.map((text) => text.replaceAll('$LIVE', this.live)).join('\n')}
`;
    this.repository.write({ '.tidemill/config.yaml': config });
  }

  add(title: string) {
    return this.machine.ask(this.root, (api, project) => api.addTask({ project, title, accept: ['a file exists'] }));
  }
  liveIn(name: string): string[] {
    return readFileSync(join(this.live, name), 'utf8').trim().split('\n');
  }
  history(): Promise<DeliveryView[]> {
    return this.machine.ask(this.root, (api, project) => api.deliveries({ project }));
  }
  environments(): Promise<EnvironmentView[]> {
    return this.machine.ask(this.root, (api, project) => api.environments({ project }));
  }

  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }
}
