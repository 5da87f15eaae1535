import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fitParts, type PromptPart } from './budget.ts';

const part = (priority: number, pieces: string[], more: Partial<PromptPart> = {}): PromptPart => ({
  name: `p${priority}`,
  priority,
  pieces,
  times: 1,
  shape: (all) => all.map((piece) => `${piece}\n`).join(''),
  ...more,
});
const long = (letter: string, length = 4_000) => letter.repeat(length);

it('the prompt budget leaves out parts below 0.8 piece by piece, the first ones first', () => {
  const { texts, dropped } = fitParts({ older: part(0.5, [long('a'), long('b'), long('c')]) }, 2_500, 0);
  expect(texts.older).toBe(`${long('b')}\n${long('c')}\n`);
  expect(dropped).toEqual(['p0.5: the first 1 of 3 left out']);
  expect(fitParts({ older: part(0.5, [long('a'), long('b')]) }, 100, 0)).toMatchObject({
    texts: { older: '' },
    dropped: ['p0.5: all 2 left out'],
  });
});

it('the prompt budget cuts the long pieces and keeps the short ones whole', () => {
  const { texts, dropped } = fitParts({ said: part(0.95, ['short', long('b'), long('c')]) }, 1_000, 0);
  expect(texts.said).toMatch(/^short\nb{1000,1900}\n\[cut here: [\d,]+ more characters\]\nc{1000,1900}\n\[cut here:/);
  expect(texts.said.length).toBeLessThanOrEqual(4_000);
  expect(dropped).toEqual([expect.stringMatching(/^p0\.95: [\d,]+ of 8,005 characters left out$/)]);
});

it('the prompt budget gives the change what others do not need, and at least three quarters', () => {
  const change = part(1, [long('d', 40_000)]);
  const lengthOf = (others: Record<string, PromptPart>) =>
    fitParts({ change, ...others }, 5_000, 0).texts.change!.match(/d/g)!.length;
  expect(lengthOf({})).toBeGreaterThan(19_500);
  expect(lengthOf({ plan: part(0.9, [long('p', 2_000)]) })).toBeGreaterThan(17_500);
  const squeezed = lengthOf({ plan: part(0.9, [long('p', 90_000)]), older: part(0.5, [long('o')]) });
  expect(squeezed).toBeGreaterThan(14_500);
  expect(squeezed).toBeLessThanOrEqual(15_000);
});

it('the prompt budget counts a part as often as it is shown, and ignores one that is not shown', () => {
  const twice = fitParts({ plan: part(0.9, [long('p')], { times: 2 }) }, 1_500, 0);
  expect(twice.texts.plan.length).toBeLessThanOrEqual(3_000);
  const never = fitParts({ plan: part(0.9, [long('p')], { times: 0 }), next: part(0.5, [long('n')]) }, 1_100, 0);
  expect(never).toEqual({ texts: { plan: '', next: `${long('n')}\n` }, dropped: [] });
});

it('a prompt never exceeds its budget by more than what is always kept, and reports all it removes', () => {
  const anyPart = fc
    .record({
      priority: fc.constantFrom(1, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5),
      pieces: fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3_000 }), { maxLength: 5 }),
    })
    .map(({ priority, pieces }) => part(priority, pieces));
  fc.assert(
    fc.property(fc.array(anyPart, { maxLength: 6 }), fc.integer({ min: 0, max: 5_000 }), (list, tokens) => {
      const named = Object.fromEntries(list.map((each, index) => [`k${index}`, { ...each, name: `k${index}` }]));
      const { texts, dropped } = fitParts(named, tokens, 0);
      const total = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
      const always = list.filter(({ priority }) => priority >= 0.8).flatMap(({ pieces }) => pieces).length * 400;
      expect(total).toBeLessThanOrEqual(tokens * 4 + always);
      for (const [key, each] of Object.entries(named))
        expect(texts[key] === each.shape(each.pieces)).toBe(!dropped.some((line) => line.startsWith(`${key}: `)));
    }),
  );
});
