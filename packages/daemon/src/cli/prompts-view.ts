import type { PromptChangeView } from '@tidemill/contract';
import { fit, oneLine, type Terminal } from './terminal.ts';

export const promptLines = (found: PromptChangeView[], terminal: Terminal): string[] =>
  found.length === 0 ? ['No text was proposed.'] : found.flatMap((each) => linesOf(each, terminal));

function linesOf({ ref, file, status, trial, why, replay }: PromptChangeView, { width, paint }: Terminal): string[] {
  const shown = trial ? `${trial.verdict}: ${trial.why}` : replay ? `${replay} tries it` : 'not tried by a replay';
  return [
    fit(`${ref}  ${file}  ${status.replaceAll('_', ' ')}`, width),
    paint('dim', fit(`   ${oneLine(shown)}${why === '' ? '' : `; ${oneLine(why)}`}`, width)),
  ];
}
