import type { CutText } from '@tidemill/contract';
import * as vscode from 'vscode';
import { problemText } from '../act.ts';
import type { Link } from '../link.ts';
import { EVIDENCE_SCHEME } from './address.ts';

const MOST_OUTPUTS = 20;
const MOST_BYTES = 100_000;

export function evidenceUri(project: string, task: number): vscode.Uri {
  return vscode.Uri.from({ scheme: EVIDENCE_SCHEME, path: `/Evidence of #${task}`, query: `${project}&${task}` });
}

/** What proves a task's change: criteria, receipts, the output of gates. */
export function registerEvidence(context: vscode.ExtensionContext, link: Link): void {
  const changes = new vscode.EventEmitter<vscode.Uri>();
  const open = () => vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === EVIDENCE_SCHEME);
  let known = '';
  context.subscriptions.push(
    changes,
    vscode.workspace.registerTextDocumentContentProvider(EVIDENCE_SCHEME, {
      onDidChange: changes.event,
      provideTextDocumentContent: (uri) => read(link, uri),
    }),
    link.onChange((part) => {
      if (part !== 'tasks' || open().length === 0) return;
      const numbers = open().map(({ uri }) => Number(uri.query.split('&')[1]));
      const now = JSON.stringify(link.seen.tasks.filter(({ number }) => numbers.includes(number)));
      if (now !== known) for (const { uri } of open()) changes.fire(uri);
      known = now;
    }),
  );
}

async function read(link: Link, uri: vscode.Uri): Promise<string> {
  const [project = '', task = ''] = uri.query.split('&');
  try {
    const [{ evidenceText }, { api }] = await Promise.all([import('../contract-part.ts'), link.ready()]);
    const detail = await api.task({ project, task });
    const newest = detail.evidence.slice(-MOST_OUTPUTS);
    const outputs = await Promise.all(
      newest.map(async ({ id }): Promise<[string, CutText]> => {
        return [id, await api.evidenceLog({ project, evidence: id, maxBytes: MOST_BYTES })];
      }),
    );
    return evidenceText(detail, new Map(outputs));
  } catch (error) {
    return `The evidence could not be read.\n${problemText(error)}`;
  }
}
