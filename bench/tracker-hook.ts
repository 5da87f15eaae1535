import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { systemClock } from '../packages/daemon/src/clock.ts';
import { EmulatedGithub } from '../test/support/github/emulated-github.ts';
import { addressOf, CHECKOUT, makeProject, startDaemon } from './daemon-process.ts';
import { inTemporaryFolder } from './temporary.ts';

const SECRET = 'hush';

export interface SeenAfter {
  /** From the sending of the signed webhook until the API shows the task. */
  byWebhookMs: number;
  /** From the label until then, without a webhook. */
  byPollingMs: number;
}

/** How soon a label is a task of the real program, which listens on loopback and follows a repository with these issues. */
export async function labelSeen(fill: (github: EmulatedGithub) => Promise<number>, pollMs: number): Promise<SeenAfter> {
  return inTemporaryFolder(async (folder) => {
    const [root, home] = [join(folder, 'mill'), join(folder, 'home')];
    const github = await EmulatedGithub.start({ folder: join(folder, 'github') });
    await makeProject(
      root,
      `github: { api: "${github.url}", repository: ada/mill, webhookSecret: $HOOK_SECRET }\n` +
        `tracker: { type: github, labels: [agent], poll: ${pollMs / 1000}s }\n`,
    );
    const env = { HOOK_SECRET: SECRET, GITHUB_TOKEN: 'ghp_mill' };
    const daemon = await startDaemon(root, home, 3, CHECKOUT, env);
    try {
      const { url, token } = await addressOf(home);
      const api = createClient({ url, token });
      const { id: project } = (await api.projects({ root }))[0]!;
      // Nobody works on them, so that only the reading is measured.
      await api.steerWorkers({ project, worker: 'all', operation: 'pause', by: 'bench' });
      const count = await fill(github);
      await when(async () => (await api.tracker({ project })).items >= count);
      const served = { github, api, project };
      const byWebhook = () => deliver(url, project);
      // The first one also loads what the route needs. Another one is heard a second later.
      await seen(served, 'warm', byWebhook);
      await systemClock.sleep(1_000);
      const byWebhookMs = await seen(served, 'woken', byWebhook);
      return { byWebhookMs, byPollingMs: await seen(served, 'polled', async () => undefined) };
    } finally {
      await daemon.stop();
      await github.close();
    }
  });
}

async function seen(
  { github, api, project }: { github: EmulatedGithub; api: Api; project: string },
  title: string,
  act: () => Promise<void>,
): Promise<number> {
  const number = await github.as('ada').openIssue(title, '- [ ] x');
  await github.as('ada').label(number, 'agent');
  const from = performance.now();
  await act();
  await when(async () => (await api.tasks({ project, search: title, limit: 1 })).length > 0);
  return performance.now() - from;
}

/** As GitHub sends it. */
async function deliver(url: string, project: string): Promise<void> {
  const body = JSON.stringify({ action: 'labeled' });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = {
    ...{ 'content-type': 'application/json', 'x-github-event': 'issues' },
    'x-hub-signature-256': `sha256=${signature}`,
  };
  const { status } = await fetch(`${url}/v1/hooks/github/${project}`, { method: 'POST', body, headers });
  if (status !== 202) throw new Error(`the webhook was answered with ${status}`);
}

async function when(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await systemClock.sleep(5);
}
