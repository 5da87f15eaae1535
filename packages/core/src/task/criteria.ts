import type { Criterion } from '@tidemill/contract';

const CHECKBOX = /^\s*[-*+]\s+\[[ xX]\]\s+(\S.*)$/;
const NUMBERED = /^\s*(?:[-*+]\s+)?\**(AC-\d+(?:\.\d+)*(?:\.[a-z])?)\**:\**\s*(\S.*)$/;

/**
 * Acceptance criteria from a task's body, in either of two formats: `- [ ] text` or `AC-1.2.a: text`; a checkbox may
 * contain a numbered one. Explicit criteria come first. Ids are unique: reviews refer to them.
 */
export function criteriaOf(body: string, given: string[]): Criterion[] {
  const found: { id: string | null; text: string }[] = given.map((text) => ({ id: null, text }));
  for (const line of body.split(/\r\n|[\n\r\u2028\u2029]/)) {
    const boxed = CHECKBOX.exec(line)?.[1];
    const numbered = NUMBERED.exec(boxed ?? line);
    if (numbered) found.push({ id: numbered[1]!, text: numbered[2]!.trim() });
    else if (boxed) found.push({ id: null, text: boxed.trim() });
  }
  const taken = new Set<string>();
  return found.map(({ id, text }, index) => {
    const unique = id && !taken.has(id) ? id : freeId(index + 1, taken);
    taken.add(unique);
    return { id: unique, text, met: null, evidence: '' };
  });
}

function freeId(from: number, taken: Set<string>): string {
  let n = from;
  while (taken.has(`C${n}`)) n += 1;
  return `C${n}`;
}
