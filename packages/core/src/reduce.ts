import type { EventBody } from '@tidemill/contract';
import type { Slice } from './slice.ts';

export function reduce(_slice: Slice, _projectId: string, _at: number, _body: EventBody): void {
  throw new Error('being written');
}
