import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';

const FILES = ['a.txt', 'b.txt', 'c.txt'];

/** Adds its line below the first line of three files, which all tasks do, and keeps both sides of every conflict. */
const AGENT = `import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
await delay(100 + (task.number * 7919) % 400);
for (const file of ${JSON.stringify(FILES)}) {
  const kept = readFileSync(file, 'utf8').split('\\n').filter((line) => !/^(<<<<<<<|=======|>>>>>>>|\\|\\|\\|\\|\\|\\|\\|)/.test(line));
  const own = 'task ' + task.number + ' in ' + file;
  const lines = kept.includes(own) ? kept : [kept[0], own, ...kept.slice(1)];
  writeFileSync(file, lines.filter((line, at) => lines.indexOf(line) === at || line === '').join('\\n'));
}
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'kept both sides' }));
`;

/** Tasks that change the same lines of the same three files at once, by an agent that resolves every conflict rightly. */
export async function landTogether(tasks: number): Promise<void> {
  const machine = new TidemillHome({ USER: 'ada' });
  const repository = new TemporaryRepository({
    'agent.mjs': AGENT,
    ...Object.fromEntries(FILES.map((file) => [file, `first\nlast\n`])),
  });
  const { root } = repository;
  try {
    const gate = `{ name: whole, run: "! grep -n '^<<<<<<<' *.txt && head -1 a.txt | grep -qx first && tail -1 c.txt | grep -qx last" }`;
    repository.write({
      '.tidemill/config.yaml': `target: main\npipeline: quick\nsource: ['*.txt']\nworkers: ${Math.min(tasks, 5)}\nagents:\n  default: { type: command, command: [node, agent.mjs] }\ngates:\n  - ${gate}\n`,
    });
    repository.git('add', '-A');
    repository.git('commit', '-q', '-m', 'config');
    for (let number = 1; number <= tasks; number += 1)
      await machine.ask(root, (api, project) => api.addTask({ project, title: `Change ${number}` }));
    await machine.up(root);
    await machine.idle(root);
    const all = await machine.ask(root, (api, project) => api.tasks({ project }));
    const met = await machine.events(root, ['conflict.met']);
    const overtaken = met.flatMap(({ body }) => (body.type === 'conflict.met' && body.resolved > 0 ? [body] : []));
    for (const { overtakenBy } of overtaken) expect(overtakenBy.length).toBeGreaterThan(0);
    expect(all.map(({ number, stage, blocked }) => [number, stage, blocked?.text])).toEqual(
      all.map(({ number }) => [number, 'done', undefined]),
    );
    for (const file of FILES) {
      const text = readFileSync(join(root, file), 'utf8');
      for (let number = 1; number <= tasks; number += 1) expect(text).toContain(`task ${number} in ${file}\n`);
    }
  } finally {
    await machine.close();
    repository.remove();
  }
}
