import type { Command, DecideEnv, Decision } from './command.ts';
import type { Slice } from './slice.ts';

export function decide(_slice: Slice, _command: Command, _env: DecideEnv): Decision {
  throw new Error('being written');
}
