import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { install } from '../support/mission/vendors.ts';
import { CASES } from '../support/transcripts/cases.ts';
import { shapesOf } from '../support/transcripts/plain.ts';
import { type Played, RECORDED, recordCase } from '../support/transcripts/stage.ts';
import { fileOf, readTranscript } from '../support/transcripts/transcript.ts';
import { EXPECTATIONS } from './transcript-suite.ts';

const installed = await Promise.all(RECORDED.map(async (each) => ({ ...each, found: await install(each.vendor) })));

/** On a busy machine a program says the same in other pieces, or ends by a signal: then it is played again. */
const TRIES = 3;

let played: Played | undefined;
afterEach(async () => {
  await played?.close();
  played = undefined;
});

describe.for(installed)('the real program $name', { timeout: 120_000 }, ({ found, ...vendor }) => {
  beforeEach(({ skip }) => skip('missing' in found, 'missing' in found ? found.missing : ''));

  const cases = CASES.filter(({ vendors }) => vendors?.includes(vendor.name) ?? true);
  it.for(cases.map((each) => [EXPECTATIONS[each.name]!.title, each] as const))(
    '%s, and says it as it was recorded',
    async ([, each]) => {
      if ('missing' in found) return;
      const kept = shapesOf(readTranscript(fileOf(vendor.name, each.name)).entries);
      for (let left = TRIES; left > 0; left -= 1) {
        await played?.close();
        const recorded = await recordCase(each, vendor, found);
        played = recorded;
        await EXPECTATIONS[each.name]!.check(recorded, vendor.name);
        expect(await recorded.stage.leftOver()).toEqual([]);
        // opencode looks for its own packages at the registry, which is this server.
        expect(recorded.others.filter((other) => !other.includes('opencode'))).toEqual([]);
        const said = shapesOf(recorded.transcript.entries);
        if (left === 1) expect(said).toEqual(kept);
        else if (isDeepStrictEqual(said, kept)) return;
      }
    },
  );
});
