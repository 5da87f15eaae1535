import type { CutText } from '@tidemill/contract';
import * as vscode from 'vscode';
import { DaemonDocuments } from '../daemon-documents.ts';
import type { Link } from '../link.ts';
import { EVIDENCE_SCHEME } from './address.ts';

const MOST_OUTPUTS = 20;
const MOST_BYTES = 100_000;

export function evidenceUri(project: string, task: number): vscode.Uri {
  return vscode.Uri.from({ scheme: EVIDENCE_SCHEME, path: `/Evidence of #${task}`, query: `${project}&${task}` });
}

/** What proves a task's change: criteria, receipts, the output of gates. */
export class EvidenceDocuments extends DaemonDocuments {
  #known = '';

  constructor(link: Link) {
    super(link, EVIDENCE_SCHEME);
  }

  protected async read(uri: vscode.Uri): Promise<string> {
    const [project = '', task = ''] = uri.query.split('&');
    const [{ evidenceText }, { api }] = await Promise.all([import('../contract-part.ts'), this.link.ready()]);
    const detail = await api.task({ project, task });
    const newest = detail.evidence.slice(-MOST_OUTPUTS);
    const outputs = await Promise.all(
      newest.map(async ({ id }): Promise<[string, CutText]> => {
        return [id, await api.evidenceLog({ project, evidence: id, maxBytes: MOST_BYTES })];
      }),
    );
    return evidenceText(detail, new Map(outputs));
  }

  protected follow(): void {
    const numbers = this.open.map(({ uri }) => Number(uri.query.split('&')[1]));
    const now = JSON.stringify(this.link.seen.tasks.filter(({ number }) => numbers.includes(number)));
    if (now !== this.#known) this.readAgain(() => true);
    this.#known = now;
  }
}
