import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Processes other than this one that were started for this machine's folder. */
export function strays({ folder }: { folder: string }): string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const isOurs = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder);
        const isOver = /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
        return isOurs && !isOver ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : [];
      } catch {
        return []; // ended meanwhile, or not ours to look at
      }
    });
}
