import { join } from 'node:path';
import { BUNDLE_LIMIT, bundleExtension } from '../scripts/vscode-bundle.ts';
import { makeProject, startDaemon, startProgram } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { inTemporaryFolder } from './temporary.ts';

interface Measured {
  activationMs: number;
  loadMs: number;
  shownMs: number;
  idlePercent: number;
  changeMs: number;
  slowestChangeMs: number;
}

/** The VS Code extension as it is packed, beside a daemon with nothing to do. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const [root, home, packed] = [join(folder, 'repository'), join(folder, 'home'), join(folder, 'extension')];
    await makeProject(root);
    const { bytes } = await bundleExtension(packed);
    const daemon = await startDaemon(root, home);
    try {
      const seconds = sized(options, 30, 3);
      const program = join(import.meta.dirname, 'editor-host.ts');
      const args = [program, join(packed, 'dist', 'extension.cjs'), root, home];
      const host = await startProgram([...args, String(seconds), String(sized(options, 10, 2))], folder, {
        TIDEMILL_HOME: home,
      });
      const { activationMs, loadMs, shownMs, idlePercent, changeMs, slowestChangeMs } = JSON.parse(
        host.line,
      ) as Measured;
      await host.stop();
      return {
        name: 'vscode',
        title: 'The VS Code extension',
        rows: [
          row({ name: 'bundle', value: bytes / 1000, unit: 'kB', target: { atMost: BUNDLE_LIMIT / 1000 } }),
          row({ name: 'activation, loading included', value: activationMs, unit: 'ms', target: { atMost: 150 } }),
          row({ name: 'of that, loading', value: loadMs, unit: 'ms' }),
          row({ name: 'first view with agents and figures', value: shownMs, unit: 'ms', target: { atMost: 2000 } }),
          row({
            name: 'a change of an agent until it is shown',
            value: changeMs,
            unit: 'ms',
            target: { atMost: 500 },
          }),
          row({ name: 'the slowest of them', value: slowestChangeMs, unit: 'ms', target: { atMost: 500 } }),
          row({
            name: `processor time with the fleet open, over ${seconds} s`,
            value: idlePercent,
            unit: '%',
            target: { atMost: 0.1 },
          }),
        ],
        notes: [
          "In a Node process of its own with a stand-in for the editor's API: what the editor itself needs is not counted. 100 % is one core.",
        ],
      };
    } finally {
      await daemon.stop();
    }
  });
}
