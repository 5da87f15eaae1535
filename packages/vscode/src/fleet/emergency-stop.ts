import type { EmergencyImpact } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act } from '../act.ts';
import type { Link } from '../link.ts';
import { sayWarning } from '../say.ts';
import { plural } from '../words.ts';
import { impactText } from './impact.ts';

const STOP = 'Stop everything now';
const PATIENCE_MS = 3000;

/** Names what it stops, and then stops it. Also where the workspace is not trusted: it only ends work. */
export async function stopEverything(link: Link): Promise<void> {
  await act(link, async ({ api, by }) => {
    // The stop also works if the daemon cannot list what it would end.
    const impact = await api
      .emergencyImpact({}, AbortSignal.timeout(PATIENCE_MS))
      .catch((error): EmergencyImpact | null => {
        link.log.warn(`The emergency stop could not be previewed: ${error}`);
        return null;
      });
    const detail = impactText(impact);
    if ((await vscode.window.showWarningMessage('Stop everything now?', { modal: true, detail }, STOP)) !== STOP)
      return;
    const { workers, tasks } = await api.emergencyStop({ by, reason: 'asked for in the editor' });
    const released = tasks.length > 0 ? ` ${plural(tasks.length, 'task')} released.` : '';
    void sayWarning(`${plural(workers.length, 'agent')} stopped.${released} Work is kept. Continue with "Resume all".`);
  });
}
