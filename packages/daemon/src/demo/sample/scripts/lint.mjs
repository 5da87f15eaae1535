import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// What a program without dependencies can check about itself: every module loads, and no line is untidy.
const files = ['bin', 'lib', 'scripts', 'test'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => join(folder, name)),
);

function faultsOf(file) {
  const text = readFileSync(file, 'utf8');
  const isLibrary = file.startsWith('lib');
  const faults = text.split('\n').flatMap((line, index) => {
    const where = `${file}:${index + 1}`;
    if (/\s$/.test(line)) return [`${where}: space at the end of the line`];
    if (line.includes('\t')) return [`${where}: tab`];
    if (line.length > 120) return [`${where}: ${line.length} characters; the most is 120`];
    if (/^(<{7}|>{7}|={7})( |$)/.test(line)) return [`${where}: conflict marker`];
    if (isLibrary && /\bconsole\./.test(line)) return [`${where}: a module in lib prints nothing`];
    return [];
  });
  return text.endsWith('\n') ? faults : [...faults, `${file}: no newline at the end`];
}

const faults = files.flatMap(faultsOf);
for (const file of files.filter((name) => name.startsWith('lib'))) {
  await import(join('..', file)).catch((error) => faults.push(`${file}: ${error.message}`));
}

for (const fault of faults) console.error(fault);
console.log(`${files.length} files checked, ${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
