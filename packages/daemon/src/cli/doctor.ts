import { AppError, type Finding, type ReactorView } from '@tidemill/contract';
import type { Command } from 'commander';
import { reachDaemon } from '../assembly/reach.ts';
import { rootOf } from '../git/repository.ts';
import type { RepairedRow } from '../ports.ts';
import { type Connection, connect } from './connect.ts';
import { type CliContext, type Json, jsonOption } from './context.ts';
import { EXIT } from './failure.ts';
import { dateAndTime, table } from './terminal.ts';

export function addDoctor(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('check git, the store, the evidence, the event reactors and leftover files')
    .option('--repair', 'set aside rows that are unreadable or differ from the event log, and rebuild them from it')
    .option(...jsonOption)
    .action((options: Json & { repair?: boolean }) => doctor(context, options));
}

async function doctor(context: CliContext, options: Json & { repair?: boolean }): Promise<void> {
  const { terminal, env } = context;
  const found = await openUnlessDamaged(env);
  if ('damaged' in found) {
    if (options.json) terminal.json({ ok: false, findings: found.damaged, reactors: null });
    else printFindings(context, found.damaged);
    return context.setExitCode(EXIT.failure);
  }
  const { connection } = found;
  try {
    const repaired = options.repair ? await repairRows(connection) : [];
    const { findings, reactors } = await connection.api.doctor({});
    findings.push(...(await newRepository(connection, context.cwd)));
    const ok = findings.every(({ level }) => level !== 'problem');
    if (options.json) terminal.json({ ok, findings, reactors, ...(options.repair && { repaired }) });
    else {
      for (const { noun, id, why, isRebuilt } of repaired) {
        const then = isRebuilt ? 'rebuilt from the log' : 'removed';
        terminal.line(
          `${terminal.paint('green', 'repaired ')}${'log'.padEnd(11)}${noun} ${id} ${why}: set aside, ${then}`,
        );
      }
      if (options.repair && repaired.length === 0) terminal.line('Nothing to repair: every row matches the event log.');
      printFindings(context, findings);
      if (reactors && reactors.length > 0) {
        const names = new Map((await connection.api.projects({})).map(({ id, name }) => [id, name]));
        terminal.line();
        for (const line of reactorLines(reactors, names, terminal.width)) terminal.line(line);
      }
      const problems = findings.filter(({ level }) => level === 'problem').length;
      terminal.line(ok ? '\nNo problems.' : `\n${problems === 1 ? '1 problem' : `${problems} problems`}.`);
    }
    if (!ok) context.setExitCode(EXIT.failure);
  } finally {
    await connection.close();
  }
}

/** What `tidemill init` has set up, and no daemon has worked on yet, is not in the store. */
async function newRepository({ api }: Connection, cwd: string): Promise<Finding[]> {
  const { examineRepository } = await import('../assembly/examine-repository.ts');
  const root = await rootOf(cwd).catch((error: unknown) => {
    if (error instanceof AppError) return cwd;
    throw error;
  });
  return (await api.projects({ root })).length > 0 ? [] : examineRepository(cwd);
}

/** A damaged store is never opened: that could make it worse. A running daemon has opened it already. */
async function openUnlessDamaged(env: NodeJS.ProcessEnv): Promise<{ connection: Connection } | { damaged: Finding[] }> {
  const { examineDamagedStore } = await import('../assembly/examine-store.ts');
  const damaged = (await reachDaemon(env)) ? null : await examineDamagedStore(env);
  if (damaged) return { damaged };
  try {
    return { connection: await connect(env) };
  } catch (error) {
    const failed = error instanceof AppError && error.code === 'store_failed' ? error : null;
    const findings = failed && (await examineDamagedStore(env, failed.message));
    if (!findings) throw error;
    return { damaged: findings };
  }
}

function printFindings({ terminal }: CliContext, findings: Finding[]): void {
  const styles = { ok: 'green', warning: 'yellow', problem: 'red' } as const;
  for (const { level, check, text, hint } of findings) {
    terminal.line(`${terminal.paint(styles[level], level.padEnd(9))}${check.padEnd(11)}${text}`);
    for (const line of hint ? hint.split('\n') : []) terminal.line(`${' '.repeat(20)}${line}`);
  }
}

function reactorLines(reactors: ReactorView[], names: Map<string, string>, width: number): string[] {
  const rows = reactors.map(({ name, projectId, position, behind, state, lastError }) => [
    name,
    projectId === null ? 'all projects' : (names.get(projectId) ?? projectId),
    state,
    position === null ? 'the clock' : `event ${position}`,
    position === null ? '' : `${behind} behind`,
    lastError ? `${dateAndTime(lastError.at)} ${lastError.message}` : 'no error',
  ]);
  return table([['REACTOR', 'PROJECT', 'STATE', 'FOLLOWS', '', 'LAST ERROR'], ...rows], width);
}

/** Refused while a daemon runs: it would overwrite the repaired rows. */
async function repairRows({ repair }: Connection): Promise<RepairedRow[]> {
  if (repair) return repair();
  throw new AppError('daemon_running', 'cannot repair the store while a daemon uses it', {
    hint: 'Stop it with `tidemill stop`, then run `tidemill doctor --repair` again.',
  });
}
