import { ClaudeBench } from './claude-bench.ts';

// A process of its own that starts Claude Code and is killed by the test: `node claude-starter.ts URL SANDBOX`.

const [url = '', sandbox = 'auto'] = process.argv.slice(2);
const bench = await ClaudeBench.open(sandbox === 'off' ? 'off' : 'auto');
process.stdout.write(`${bench.base}\n`);
await bench.start(url).end;
