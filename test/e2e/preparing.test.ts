import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const STEP = 'sh install.sh';

test('a prepare step that takes long is named by up and by status', { timeout: 120_000 }, async () => {
  const machine = new TidemillHome();
  const go = join(machine.folder, 'go');
  const repository = new TemporaryRepository({
    '.gitignore': 'deps/\n',
    'install.sh': 'until [ -e "$GO" ]; do sleep 0.1; done; mkdir -p deps; echo x > deps/x\n',
    '.tidemill/config.yaml': JSON.stringify({
      target: 'main',
      pipeline: 'quick',
      sandbox: 'off',
      agents: { default: { type: 'command', command: ['true'], free: true } },
      prepare: [{ run: STEP, files: ['install.sh'], network: false, env: { GO: go } }],
      gates: [{ name: 'test', run: 'test -e deps/x' }],
    }),
  });
  const { root } = repository;
  await machine.run(['task', 'add', 'Any', '--accept', 'It is there'], root);
  const up = spawn(process.execPath, [inject('launcher'), 'up', '--plain'], { cwd: root, env: machine.env });
  const ended = once(up, 'exit');
  try {
    const lines = createInterface(up.stdout);
    const said = async (text: string) => {
      for await (const [line] of on(lines, 'line', { close: ['close'] })) if (line.includes(text)) return line;
      throw new Error(`up ended without saying ${text}`);
    };
    expect(await said('preparing: ')).toMatch(/^\d\d:\d\d:\d\d {2}preparing: sh install\.sh$/);
    expect(await machine.run(['status'], root)).toMatchObject({
      stdout: expect.stringMatching(/^ {2}preparing: sh install\.sh, \d+ s$/m),
    });
    writeFileSync(go, '');
    expect(await said('prepared: ')).toMatch(/prepared: sh install\.sh, \d+ s$/);
    expect((await machine.json<{ preparing: unknown[] }>(['status'], root)).preparing).toEqual([]);
  } finally {
    writeFileSync(go, '');
    up.kill('SIGTERM');
    await ended;
    await machine.close();
    repository.remove();
  }
});
