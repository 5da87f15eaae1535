import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Compiled code is kept beside the program, where only its owner writes; this halves the time to start. Where that folder
// cannot be written Node goes on without. Everything else is loaded after this line, or it would not be cached.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tidemill'));

const { run } = await import('./cli/run.ts');
await run(process.argv);
