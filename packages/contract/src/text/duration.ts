import { z } from 'zod';

/** `90`, `"45s"`, `"2m"`, `"1h"`: a duration in a config file, in milliseconds once parsed. A bare number is seconds. */
export const Duration = z
  .union([
    z.number().positive(),
    z.string().regex(/^\d+(\.\d+)?(ms|s|m|h)$/, 'a duration is a number and ms, s, m or h, such as 2m'),
  ])
  .transform((value) => {
    if (typeof value === 'number') return value * 1000;
    const unit = value.replace(/[\d.]/g, '');
    const factor = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit] ?? 1000;
    return Number.parseFloat(value) * factor;
  });
