import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const AGENT = `import { writeFileSync } from 'node:fs';
writeFileSync('made.txt', 'made\\n');
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' }));
`;

test.each([
  ['for an agent', 'reset -q --hard --no-recurse-submodules'],
  ['for gates', 'reset -q --hard'],
])(
  'a stop takes at most ten seconds during a checkout %s that takes minutes, and the next start makes it whole',
  {
    timeout: 90_000,
  },
  async (_name, step) => {
    const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const machine = new TidemillHome({ USER: 'ada' });
    const repository = new TemporaryRepository({ 'agent.mjs': AGENT });
    const { root } = repository;
    const bin = join(machine.home, 'bin');
    const [slow, begun] = [join(bin, 'slow'), join(bin, 'begun')];
    try {
      mkdirSync(bin);
      writeFileSync(slow, '');
      // A checkout of many files, as git shows it from outside: it runs for minutes in a program that git started, and ends
      // when it is asked to.
      const script = `#!/bin/sh\ncase "$*" in *"${step}"*) if [ -e '${slow}' ]; then : > '${begun}'; sleep 300; exit 1; fi;; esac\nexec '${real}' "$@"\n`;
      writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
      machine.env.PATH = `${bin}:${machine.env.PATH}`;
      const config =
        'target: main\npipeline: quick\nagents:\n  default: { type: command, command: [node, agent.mjs] }\ngates:\n  - { name: ready, run: test -e agent.mjs }\n';
      repository.write({ '.tidemill/config.yaml': config });
      repository.git('add', '-A');
      repository.git('commit', '-q', '-m', 'config');
      await machine.ask(root, (api, project) => api.addTask({ project, title: 'Make it' }));
      const daemon = await machine.up(root);
      await until(() => existsSync(begun));
      const before = Date.now();
      process.kill(daemon.pid, 'SIGTERM');
      await daemon.ended;
      expect(Date.now() - before).toBeLessThan(10_000);
      rmSync(slow);
      await machine.up(root);
      await machine.idle(root);
      expect(readFileSync(join(root, 'made.txt'), 'utf8')).toBe('made\n');
    } finally {
      await machine.close();
      repository.remove();
    }
  },
);
