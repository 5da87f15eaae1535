/** "48 s", "3 min", "2 h 5 min", "4 d": short, and the same on every surface. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d`;
}

/** The duration of a gate or a run, often less than a second. */
export const took = (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : elapsed(ms));
