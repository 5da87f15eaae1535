import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT, commandSeconds, makeProject, startDaemon } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const runProgram = promisify(execFile);

/** Commands from start to end, and `up` from start to ready: store open, server listening, project attached. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const root = join(folder, 'repository');
    await makeProject(root);
    const start = async (home: string, launcher?: string) => {
      const daemon = await startDaemon(root, home, 3, launcher);
      await daemon.stop();
      return daemon.readyMs / 1000;
    };
    const kept = join(folder, 'home');
    const served = join(folder, 'served');
    const daemon = await startDaemon(root, served);
    try {
      // The first of each compiles what all others find compiled.
      await start(kept);
      await start(kept, CHECKOUT);
      await commandSeconds(['--version'], root, served);
      await commandSeconds(['status'], root, served);
      const times = await interleaved(sized(options, 9, 2), {
        version: () => commandSeconds(['--version'], root, served),
        status: () => commandSeconds(['status'], root, served),
        again: () => start(kept),
        first: (round) => start(join(folder, `home-${round}`)),
        checkout: () => start(kept, CHECKOUT),
        bare: async () => (await timed(() => runProgram(process.execPath, ['-e', '0']))) / 1000,
      });
      const peer = { name: '`node -e 0`, start to end', value: median(times.bare) };
      const figure = (name: string, values: number[], ratioAtMost?: number) =>
        row({
          name,
          value: median(values),
          unit: 's',
          peer,
          target: ratioAtMost === undefined ? undefined : { ratioAtMost },
        });
      return {
        name: 'start',
        title: 'Cold start',
        rows: [
          figure('`tidemill --version`', times.version, 4),
          figure('`tidemill status`, through a running daemon', times.status, 5),
          figure('`tidemill up` to ready, data folder known', times.again, 10),
          figure('`tidemill up` to ready, new data folder', times.first, 10),
          figure('`tidemill up` to ready, from the checkout', times.checkout),
        ],
        notes: [
          'Each a new process of the installed program. Ready: store, HTTP server, repository looked at, three workers registered.',
        ],
      };
    } finally {
      await daemon.stop();
    }
  });
}
