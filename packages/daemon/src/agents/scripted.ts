import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Agent } from '../ports.ts';
import type { ChildHost } from '../process/child.ts';
import { createCommandAgent } from './command.ts';

/**
 * Plays a scenario file (see scenario.ts). The player is a program of its own, so that its crash is a crash, its hang a
 * hang, and everything the engine does to a real agent happens to it too.
 */
export function createScriptedAgent(options: { label: string; script: string; host: ChildHost }): Agent {
  const player = createCommandAgent({
    label: options.label,
    command: [process.execPath, playerFile(), options.script],
    env: {},
    host: options.host,
  });
  // It asks no model. What its scenario says to spend is booked all the same.
  return { ...player, isFree: true };
}

/** Beside this file: as source in a checkout, as JavaScript in the packed build. */
function playerFile(): string {
  const source = fileURLToPath(new URL('./scripted-player.ts', import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL('./scripted-player.js', import.meta.url));
}
