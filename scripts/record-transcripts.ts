import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { install } from '../test/support/mission/vendors.ts';
import { CASES } from '../test/support/transcripts/cases.ts';
import { RECORDED, recordCase } from '../test/support/transcripts/stage.ts';
import { fileOf, textOf } from '../test/support/transcripts/transcript.ts';

// Records what the vendors' own programs say in each case: `npm run record`, or `npm run record -- codex work`.

const [wantedVendor, wantedCase] = process.argv.slice(2);
for (const vendor of RECORDED.filter(({ name }) => wantedVendor === undefined || name === wantedVendor)) {
  const found = await install(vendor.vendor);
  if ('missing' in found) {
    console.error(`${vendor.name} is not recorded: ${found.missing}`);
    process.exitCode = 1;
    continue;
  }
  for (const each of CASES.filter(({ name }) => wantedCase === undefined || name === wantedCase)) {
    if (each.vendors && !each.vendors.includes(vendor.name)) continue;
    const { transcript, seen, close } = await recordCase(each, vendor, found);
    const file = fileOf(vendor.name, each.name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, textOf(transcript));
    console.log(
      `${path.relative('.', file)}: ${seen.map(({ ended }) => JSON.stringify(ended).slice(0, 160)).join(' | ')}`,
    );
    await close();
  }
}
