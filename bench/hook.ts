import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerHook } from '../packages/daemon/src/hooks/hook-answer.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

/** What the hooks of a person's own session need to decide, without the start of the process. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    mkdirSync(join(folder, '.git'));
    mkdirSync(join(folder, '.tidemill'));
    writeFileSync(
      join(folder, '.tidemill', 'config.yaml'),
      'target: main\nagents:\n  default: { type: command, command: ["true"] }\ngates:\n  - { name: test, run: npm test }\n',
    );
    const transcript = join(folder, 'transcript.jsonl');
    const use = { type: 'tool_use', id: 'a', name: 'Edit', input: { file_path: join(folder, 'src/a.ts') } };
    const line = `${JSON.stringify({ message: { content: [use] }, pad: 'x'.repeat(2_000) })}\n`;
    // One megabyte is read of it.
    writeFileSync(transcript, line.repeat(1_000));
    const ask = (event: string, more: object = {}) => {
      const text = JSON.stringify({ hook_event_name: event, cwd: folder, transcript_path: transcript, ...more });
      return timed(() => answerHook(text, { TIDEMILL_HOME: join(folder, 'data') }));
    };
    const bash = () =>
      ask('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'cd src && npm run build && git push' } });
    const edit = () =>
      ask('PreToolUse', { tool_name: 'Edit', tool_input: { file_path: join(folder, 'src/a.ts'), new_string: 'x' } });
    // The first of each fills the caches in the data folder.
    for (const first of [bash, edit, () => ask('Stop')]) await first();
    const times = await interleaved(sized(options, 101, 11), { bash, edit, stop: () => ask('Stop') });
    const figure = (name: string, values: number[]) =>
      row({ name, value: median(values), unit: 'ms', target: { atMost: 50 } });
    return {
      name: 'hook',
      title: "Hooks of a person's own session",
      rows: [
        figure('decision about a shell command', times.bash),
        figure('decision about an edit', times.edit),
        figure('decision at the end of a session', times.stop),
      ],
      notes: [
        'In one process, caches filled; the call is recorded. `start` measures how long a process takes to start.',
      ],
    };
  });
}
