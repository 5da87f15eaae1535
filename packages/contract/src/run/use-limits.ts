import { z } from 'zod';

const FACTORS: Record<string, number> = { MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 };

/** `"512MB"`, `"8GB"`: an amount of memory in a config file, in bytes once parsed. */
export const ByteSize = z
  .string()
  .regex(/^\d+(\.\d+)? ?(MB|GB|TB)$/i, 'an amount of memory is a number and MB, GB or TB, such as 8GB')
  .transform((value) => Math.round(Number.parseFloat(value) * (FACTORS[value.slice(-2).toUpperCase()] ?? 1)));

/** How much one run of an agent, gate or step may use, with everything it starts. */
export const UseLimits = z.strictObject({
  /** Left out: four fifths of the machine's memory. */
  memory: ByteSize.optional(),
  processes: z.number().int().min(10, 'a command and what it starts need at least 10').default(4000),
});
export type UseLimits = z.infer<typeof UseLimits>;
