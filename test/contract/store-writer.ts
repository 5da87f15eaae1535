/** Creates tasks until it is killed and prints each one's id once it is acknowledged: `store-writer.ts URL SCHEMA`. */
import { writeSync } from 'node:fs';
import { open } from './store-bed.ts';

const [url = '', schema = ''] = process.argv.slice(2);
const mill = await open({ url, schema });
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (;;) writeSync(1, `${(await mill.create()).id}\n`);
  }),
);
