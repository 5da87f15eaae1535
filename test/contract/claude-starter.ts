import { ClaudeBench, installClaude } from './claude-bench.ts';

// A process of its own that starts Claude Code and is killed by the test: `node claude-starter.ts URL SANDBOX`.

const [url = '', sandbox = 'auto'] = process.argv.slice(2);
const installed = await installClaude();
if ('missing' in installed) throw new Error(installed.missing);
const bench = await ClaudeBench.open(installed.modules, sandbox === 'off' ? 'off' : 'auto');
process.stdout.write(`${bench.base}\n`);
await bench.start(url).end;
