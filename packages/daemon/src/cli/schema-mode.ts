import { z } from 'zod';

/** These run for as long as people work; all others parse a few answers and end. */
const LASTING = ['up', 'demo'];

export const isLasting = (command: string | undefined) => LASTING.includes(command ?? '');

/** Compiling a parser takes longer than it saves in a process that uses it once. */
export const interpretSchemas = () => void z.config({ jitless: true });
