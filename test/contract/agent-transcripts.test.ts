import { afterEach, describe, expect, it } from 'vitest';
import { CASES } from '../support/transcripts/cases.ts';
import { type Played, playCase, RECORDED } from '../support/transcripts/stage.ts';
import { EXPECTATIONS } from './transcript-suite.ts';

// A player stands in for each vendor's program: it says what the real one said, and refuses what the real one did not
// hear. agent-transcripts.long.test.ts runs the real ones.

let played: Played | undefined;
afterEach(async () => {
  await played?.close();
  played = undefined;
});

describe.for(RECORDED)('the recorded $name', (vendor) => {
  const cases = CASES.filter(({ vendors }) => vendors?.includes(vendor.name) ?? true);
  it.for(cases.map((each) => [EXPECTATIONS[each.name]!.title, each] as const))('%s', async ([, each]) => {
    played = await playCase(each, vendor);
    await EXPECTATIONS[each.name]!.check(played, vendor.name);
    expect(await played.stage.leftOver()).toEqual([]);
  });
});
