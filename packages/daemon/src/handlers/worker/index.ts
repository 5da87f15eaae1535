import type { Handlers } from '../handler.ts';
import { beatClaim, claimWork, finishClaim, listClaims, releaseClaim } from './claim.ts';
import { purgeQueue, recoverStuck } from './emergency.ts';
import { addWorker, listWorkers, removeWorker, steerWorkers } from './worker.ts';

export const workerHandlers: Handlers<'workers'> = {
  workers: listWorkers,
  addWorker,
  steerWorkers,
  removeWorker,
  recoverStuck,
  purgeQueue,
  claims: listClaims,
  claimWork,
  beatClaim,
  releaseClaim,
  finishClaim,
};
