import { runGuardHook } from './hooks/guard-hook.ts';

// `tidemill guard` as a program of its own, which the launcher starts instead of main.ts: it runs before every tool of a
// person's Claude Code and has no time to load the rest.
await runGuardHook();
