import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeProject, startDaemon } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const runProgram = promisify(execFile);

/** From starting the program to its word that it is ready: store open, server listening, project attached. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const root = join(folder, 'repository');
    await makeProject(root);
    const start = async (home: string) => {
      const daemon = await startDaemon(root, home);
      await daemon.stop();
      return daemon.readyMs / 1000;
    };
    const kept = join(folder, 'home');
    await start(kept);
    const times = await interleaved(sized(options, 9, 2), {
      again: () => start(kept),
      first: (round) => start(join(folder, `home-${round}`)),
      bare: async () => (await timed(() => runProgram(process.execPath, ['-e', '0']))) / 1000,
    });
    const peer = { name: '`node -e 0`, start to end', value: median(times.bare) };
    const target = { atMost: 0.5 };
    return {
      name: 'start',
      title: 'Cold start to ready',
      rows: [
        row({ name: '`tidemill up`, data folder known', value: median(times.again), unit: 's', peer, target }),
        row({ name: '`tidemill up`, new data folder', value: median(times.first), unit: 's', peer, target }),
      ],
      notes: ['Each a new process: launcher, store, HTTP server, repository looked at, three workers registered.'],
    };
  });
}
