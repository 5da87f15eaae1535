import { afterAll, beforeAll, describe } from 'vitest';
import { refusesNastyValues } from '../../../../test/support/bad-input-suite.ts';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';

let served: ServedDaemon;
let task: number;
beforeAll(async () => {
  served = await ServedDaemon.start();
  task = (await served.api.addTask({ project: served.project, title: 'Something to be found' })).number;
});
afterAll(() => served.close());

describe('what a parameter may hold', () => {
  refusesNastyValues(() => ({ served, task }));
});
