import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { leakedProcesses } from '../packages/daemon/src/process/leaks.ts';
import { homeIdOf, type Measured, secondsUntil, startWorking } from './criteria-daemon.ts';
import { timed } from './sample.ts';

const WORKERS = 10;
const BUSY = 3;

/** Works until it is told to end. Its task says whether it listens. */
const AGENT = `import { readFileSync, writeFileSync } from 'node:fs';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
if (task.title.includes('stubborn')) process.on('SIGTERM', () => undefined);
writeFileSync('work.txt', 'begun');
writeFileSync(process.env.DOOR + '/begun-' + task.number + '-' + process.pid + '-' + Date.now(), '');
setInterval(() => undefined, 1000);
`;

/** What a person does with the fleet, until it has happened. */
export async function measureFleet(folder: string): Promise<Measured[]> {
  if (process.platform !== 'linux') throw new Error('agents are found in /proc, which only Linux has');
  const measured: Measured[] = [];
  const note = (id: string, what: string, seconds: number) => void measured.push({ id, what, seconds });
  const bed = await startWorking(folder, AGENT, 'pipeline: quick\n', WORKERS);
  const { api, project, root, door } = bed;
  const by = 'bench';
  const worker = async (name: string) => (await api.workers({ project })).find((each) => each.name === name);
  const isStatus = (name: string, status: string) => async () => (await worker(name))?.status === status;
  const steer = (name: string, operation: 'start' | 'pause' | 'resume' | 'stop' | 'restart') =>
    api.steerWorkers({ project, worker: name, operation, by });
  const homeId = await homeIdOf(bed.home);
  const agents = async () => (await leakedProcesses(homeId)).length;
  const begun = () => readdirSync(door).length;
  const startAgents = async (title: string) => {
    const before = begun();
    for (let count = 0; count < BUSY; count += 1) await api.addTask({ project, title, accept: ['done'] });
    await secondsUntil(() => begun() === before + BUSY);
  };
  const timedUntil = async (act: () => Promise<unknown>, isSo: () => Promise<boolean> | boolean) => {
    const actMs = await timed(act);
    return actMs / 1000 + (await secondsUntil(isSo));
  };

  try {
    const sessions = () =>
      readdirSync(join(root, '.claude-sessions')).filter((name) => /^agent-\d+\.session$/.test(name));
    const written = await secondsUntil(() => sessions().length === WORKERS);
    note('AC-1.2.a', `${WORKERS} session files, from the start of the program`, bed.program.readyMs / 1000 + written);

    const config = join(root, '.tidemill', 'config.yaml');
    const changed = `${await readFile(config, 'utf8')}budget: { dailyUsd: 7, monthlyUsd: 70 }\n`;
    const hasLimit = async () => (await api.budget({})).some(({ limits }) => limits.dailyUsd === 7);
    note('AC-1.1.a', 'a changed setting is in effect', await timedUntil(() => writeFile(config, changed), hasLimit));

    let slowest = 0;
    for (let call = 0; call < 20; call += 1) slowest = Math.max(slowest, await timed(() => api.workers({ project })));
    note('AC-1.3.e', 'a summary of all workers, the slowest of 20', slowest / 1000);

    await steer('agent-10', 'stop');
    note(
      'AC-1.4.a',
      'a started worker is idle',
      await timedUntil(() => steer('agent-10', 'start'), isStatus('agent-10', 'idle')),
    );
    await api.removeWorker({ project, worker: 'agent-10' });
    const isBack = async () =>
      (await api.workers({ project })).filter(({ role }) => role === 'builder').length === WORKERS;
    note('AC-1.5.f', 'an added worker is shown', await timedUntil(() => api.addWorker({ project }), isBack));

    await startAgents('Listen');
    const busy = (await api.workers({ project })).filter(({ task }) => task !== null).map(({ name }) => name);
    note(
      'AC-2.5.a',
      'a pause is shown',
      await timedUntil(() => steer(busy[0]!, 'pause'), isStatus(busy[0]!, 'paused')),
    );
    await steer(busy[0]!, 'resume');

    const before = begun();
    note(
      'AC-5.5.c',
      'a restarted agent works again',
      await timedUntil(
        () => steer(busy[1]!, 'restart'),
        () => begun() > before,
      ),
    );

    await api.steerWorkers({ project, worker: 'all', operation: 'stop', by });
    note('AC-1.4.d', 'stopped agents have ended', await secondsUntil(async () => (await agents()) === 0));
    await api.purgeQueue({ project, by });

    await api.steerWorkers({ project, worker: 'all', operation: 'start', by });
    await startAgents('Be stubborn');
    const seconds = await timedUntil(
      () => api.emergencyStop({ by, reason: 'bench' }),
      async () => (await agents()) === 0,
    );
    for (const id of ['AC-1.5.d', 'AC-2.5.c', 'AC-5.5.b'])
      note(id, 'after an emergency stop no agent is left that ignores signals', seconds);

    await api.steerWorkers({ project, worker: 'all', operation: 'start', by });
    await secondsUntil(async () => (await agents()) > 0);
  } finally {
    const endMs = await timed(() => bed.program.stop());
    note('AC-1.4.e', 'the program ends with agents at work that ignore signals', endMs / 1000);
  }
  return measured;
}
