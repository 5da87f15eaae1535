import type { Handlers } from '../handler.ts';
import { beatClaim, claimWork, finishClaim, listClaims, releaseClaim } from './claim.ts';
import { purgeQueue, recoverStuck } from './emergency.ts';
import { addWorker, listWorkers, removeWorker, steerWorkers } from './fleet.ts';

export const fleetHandlers: Handlers<'fleet'> = {
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
