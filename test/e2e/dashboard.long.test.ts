import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { ALL_LOOKS, showPages } from '../support/pages.ts';
import { beginWork, needPerson, PAGES, SCENE } from './dashboard-scene.ts';

const bed = usePages(SCENE);

test('every page fits wide and narrow windows and has no serious finding of axe, in both themes', {
  timeout: 8 * PATIENCE_MS,
}, async () => {
  await beginWork(bed);
  await needPerson(bed);
  expect(await showPages(bed, PAGES, ALL_LOOKS)).toEqual([]);
});
