import { test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { card, findsAmongMany } from './board-suite.ts';

const SCENARIO = `default:
  implement: [ { ask: { questions: ["Lava or granite?"] } } ]
`;
const CONFIG = 'workers: 1\npipeline: quick\ngates: [{ name: test, run: "true" }]\n';
const bed = usePages({ config: CONFIG, scenario: SCENARIO }, () => bed.show('Board'));

test('a board of ten thousand tasks scrolls to the last, and finds one by its text', {
  timeout: 5 * PATIENCE_MS,
}, async () => {
  const holder = await bed.add('Say which stone');
  await card(bed.page, 'needs_info', holder).waitFor();
  await findsAmongMany(bed, { many: 10_000, holder, newest: holder, open: 0 });
});
