import { kinds } from './table.mjs';

// Each command gets the day's table and a time in minutes since midnight, and returns the text to print.
export const commands = {
  list: (table) => table.map(({ at, kind, height }) => `${at} ${kinds[kind]} ${height}`).join('\n'),
};
