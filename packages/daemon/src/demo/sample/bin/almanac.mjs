#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { commands } from '../lib/commands.mjs';
import { minutesOf, parseTable } from '../lib/table.mjs';

const [name = 'list', time] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (command) {
  const clock = new Date();
  const now = time === undefined ? clock.getHours() * 60 + clock.getMinutes() : minutesOf(time);
  const table = parseTable(readFileSync(new URL('../data/harbour.csv', import.meta.url), 'utf8'));
  console.log(command(table, now));
} else {
  console.error(`almanac: there is no command "${name}"; the commands are ${Object.keys(commands).join(', ')}`);
  process.exitCode = 2;
}
