import { it } from 'vitest';
import { checkout } from '../support/documents.ts';
import { TourShell } from '../support/tour.ts';

it('the tour of the README works in a checkout, with the program as it is in its sources', async () => {
  const shell = await TourShell.open(checkout);
  try {
    await shell.expectTour();
  } finally {
    await shell.close();
  }
}, 180_000);
