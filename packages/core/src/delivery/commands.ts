import type { Actor, DeliveredTask, Delivery, DeliveryStep, Receipt } from '@tidemill/contract';
import { environmentId } from '@tidemill/contract';
import { type Lookup, look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { askingSubject } from '../question/ask.ts';
import { beginDelivery, endDelivery, moveDelivery, takeDelivery } from './progress.ts';
import { proveDelivery } from './proof.ts';
import { requestDelivery } from './request.ts';
import { LOOKED_THROUGH } from './rules.ts';
import { beginStep, endStep } from './step.ts';
import { stopDelivery } from './stop.ts';

interface OfDelivery {
  deliveryId: string;
  environment: string;
}

export interface DeliveryCommands {
  /** A repetition with the same id changes nothing. */
  'delivery.request': OfDelivery & {
    commit: string;
    tree: string;
    tasks: DeliveredTask[];
    taskCount: number;
    cause: Delivery['cause'];
    specId: string | null;
    /** The reason for accepting missing evidence, or a commit that the earlier environment does not have. */
    override: string | null;
    /** The requester approves it too. */
    isApproved: boolean;
    /** Open deliveries to the environment that it takes the place of. */
    replaces: string[];
    by: Actor;
  };
  /** It starts. From now on only this owner writes about it. */
  'delivery.begin': OfDelivery & { owner: string };
  /** Its owner died, or a person decided what follows. */
  'delivery.take': OfDelivery & { owner: string; from: string | null };
  /** The gates ran on its commit, because others than Tidemill made it. */
  'delivery.prove': OfDelivery & { owner: string; tree: string; receipts: Receipt[] };
  'delivery.step_begin': OfDelivery & { owner: string } & Pick<DeliveryStep, 'kind' | 'name'>;
  'delivery.step_end': OfDelivery & { owner: string; result: Exclude<DeliveryStep['result'], 'running'>; note: string };
  'delivery.move': OfDelivery & {
    owner: string;
    to: 'running' | 'checking' | 'rolling_back' | 'asking' | 'rollback_failed';
    why: string;
    help?: string;
  };
  'delivery.end': OfDelivery & { owner: string; status: 'healthy' | 'failed' | 'rolled_back'; why: string };
  'delivery.stop': OfDelivery & { by: Actor };
}

const own = ({ projectId, deliveryId, environment }: OfDelivery & { projectId: string }): Lookup[] => [
  look('record', deliveryId),
  look('record', environmentId(projectId, environment)),
];
const asking = ({ projectId, deliveryId }: OfDelivery & { projectId: string }): Lookup[] => [
  ...askingSubject({ projectId, subjectId: deliveryId }),
  look('openRecordsOf', deliveryId),
];
const others = ({ projectId, environment }: OfDelivery & { projectId: string }): Lookup[] => [
  look('openRecordsOf', environmentId(projectId, environment)),
];

export const deliveryCommands: CommandParts<keyof DeliveryCommands> = {
  'delivery.request': {
    scope: (command) => [
      ...own(command),
      ...asking(command),
      ...others(command),
      ...command.replaces.flatMap((id) => [look('record', id), look('openRecordsOf', id)]),
      look('recordsOf', command.projectId, 'environment'),
      look('newestRecordsOf', environmentId(command.projectId, command.environment), 'delivery', LOOKED_THROUGH),
      look('evidenceFor', command.projectId, command.tree),
    ],
    decide: requestDelivery,
  },
  'delivery.begin': {
    scope: (command) => [...own(command), ...others(command), look('recordsOf', command.projectId, 'environment')],
    decide: beginDelivery,
  },
  'delivery.take': { scope: own, decide: takeDelivery },
  'delivery.prove': {
    scope: (command) => [
      look('lockedProject', command.projectId),
      ...own(command),
      look('evidenceFor', command.projectId, command.tree),
    ],
    decide: proveDelivery,
  },
  'delivery.step_begin': { scope: own, decide: beginStep },
  'delivery.step_end': { scope: own, decide: endStep },
  'delivery.move': { scope: (command) => [...own(command), ...asking(command)], decide: moveDelivery },
  'delivery.end': { scope: own, decide: endDelivery },
  'delivery.stop': {
    scope: (command) => [...own(command), look('openRecordsOf', command.deliveryId)],
    decide: stopDelivery,
  },
};
