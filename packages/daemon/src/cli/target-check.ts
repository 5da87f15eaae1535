import type { TargetCheck } from '../assembly/target-check.ts';
import { openDataFolder } from '../config/data-folder.ts';
import type { CliContext } from './context.ts';
import { type Terminal, took } from './terminal.ts';

/** What `init` knows about the target after its gates ran there. */
export type Checked = TargetCheck | { trouble: string };

/** Runs the gates on the target once. Ctrl-C skips it. */
export async function runTargetCheck({ env }: CliContext, root: string): Promise<Checked> {
  const { checkTarget } = await import('../assembly/target-check.ts');
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error('it was interrupted'));
  process.once('SIGINT', stop);
  try {
    return await checkTarget({ root, folder: openDataFolder(env), signal: stopping.signal });
  } catch (error) {
    return { trouble: error instanceof Error ? error.message : String(error) };
  } finally {
    process.off('SIGINT', stop);
  }
}

const MOST_LINES = 10;

export async function showTargetCheck(
  context: CliContext,
  root: string,
  { target, commands }: { target: string; commands: string[] },
): Promise<void> {
  const { terminal } = context;
  terminal.line(`Running ${commands.join(', ')} once on ${target}, without an agent. Ctrl-C skips it.`);
  const startedAt = performance.now();
  const checked = await runTargetCheck(context, root);
  const time = took(performance.now() - startedAt);
  if ('trouble' in checked)
    terminal.line(terminal.paint('yellow', `${target} was not checked: ${checked.trouble}. \`tidemill up\` does it.`));
  else if (checked.failures.length === 0) terminal.line(`${target} passes its gates (${time}).`);
  else showFailures(checked, time, terminal);
  terminal.line();
}

function showFailures({ target, failures }: TargetCheck, time: string, { line, paint }: Terminal): void {
  const names = failures.map(({ name }) => name);
  line(paint('yellow', `${target} itself fails ${names.join(', ')} (${time}), so no task will start until it passes.`));
  const told = new Set<string>();
  for (const { name, text, advice } of failures) {
    // Gates that lack the same program have one cause.
    if (advice !== null && told.has(advice + text)) continue;
    if (advice !== null) told.add(advice + text);
    if (advice !== null) line(`  ${advice}`);
    else if (name === 'prepare') line('  Correct `prepare` in .tidemill/config.yaml.');
    else line(`  Repair it, or have an agent do it: tidemill task add "Repair ${name}" --repairs ${name}`);
    const said = text.trim().split('\n');
    for (const each of said.filter((one) => one !== advice).slice(0, MOST_LINES)) line(paint('dim', `    ${each}`));
  }
}
