import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// `tidemill guard` as a program of its own, which the launcher starts instead of main.ts: it runs before every tool of a
// person's Claude Code and has no time to load the rest.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tidemill'));

const { runGuardHook } = await import('./hooks/guard-hook.ts');
await runGuardHook();
