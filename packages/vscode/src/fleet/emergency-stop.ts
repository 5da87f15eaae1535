import * as vscode from 'vscode';
import { problemText } from '../act.ts';
import { runInTerminal } from '../daemon-commands.ts';
import type { Link } from '../link.ts';
import { sayError, sayWarning } from '../say.ts';
import { plural } from '../words.ts';
import { impactText } from './impact.ts';
import { previewOf, stopWithin } from './stop-within.ts';

const STOP = 'Stop everything now';

/** Names what it stops, and then stops it. Also where the workspace is not trusted: it only ends work. */
export async function stopEverything(link: Link): Promise<void> {
  const api = await link.api();
  const onFailure = (error: unknown) => link.log.warn(`The emergency stop had a problem: ${problemText(error)}`);
  const detail = impactText(api && (await previewOf(api, onFailure)));
  if ((await vscode.window.showWarningMessage('Stop everything now?', { modal: true, detail }, STOP)) !== STOP) return;
  const report = api && (await stopWithin(api, { by: link.by, reason: 'asked for in the editor' }, onFailure));
  if (!report) return stopByProgram(link);
  const { workers, tasks } = report;
  const released = tasks.length > 0 ? ` ${plural(tasks.length, 'task')} released.` : '';
  void sayWarning(`${plural(workers.length, 'agent')} stopped.${released} Work is kept. Continue with "Resume all".`);
}

/** A daemon that does not answer cannot stop its agents. The program kills it with all processes it started. */
async function stopByProgram(link: Link): Promise<void> {
  const args = ['stop', '--emergency', '--yes'];
  const silent = 'Tidemill does not answer, so it could not stop its agents.';
  if (vscode.workspace.isTrusted && link.root) {
    void sayWarning(`${silent} The terminal kills it with all processes it started. Work is kept.`);
    return runInTerminal(link, args);
  }
  const copy = 'Copy command';
  const command = `tidemill ${args.join(' ')}`;
  const text = `${silent} Run \`${command}\` in a terminal. It kills Tidemill with all processes it started.`;
  if ((await sayError(text, copy)) === copy) await vscode.env.clipboard.writeText(command);
}
