// The gate of the end-to-end tests: every file says who made it, the shared ones are whole and without conflict.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const faults = [];
for (const name of existsSync('out') ? readdirSync('out') : []) {
  const text = readFileSync(`out/${name}`, 'utf8');
  if (text !== `made by #${name.replace('.txt', '')}\n`) faults.push(`out/${name} says ${JSON.stringify(text)}`);
}
for (const name of ['shared.txt', 'pair.txt']) {
  if (/^(<{7}|={7}|>{7})/m.test(readFileSync(name, 'utf8'))) faults.push(`${name} holds a conflict`);
}
const slots = readFileSync('shared.txt', 'utf8').match(/^slot (\d+): (empty|#\1)$/gm);
if (slots?.length !== 12) faults.push(`shared.txt has ${slots?.length ?? 0} whole slots instead of 12`);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
