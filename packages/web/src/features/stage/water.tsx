/** In units of the drawing: a basin is this wide and as high. */
const BASIN = 100;
/** Through an open gate the water runs down, or up, over this breadth; a shut one holds it upright. */
const SLOPE = 16;
/** There is always a little at the bottom: the mill is never dry. */
const SHALLOWEST = 4;
/** Below the counts, which are to be read. */
const DEEPEST = 62;

/** The first task wets the bottom, then each doubling raises the water: 1 and 10,000 both look right. */
export const levelOf = (count: number) => (count === 0 ? 0 : Math.min(1, 0.2 + Math.log2(count) * 0.1));

const heightOf = (level: number) => BASIN - Math.max(SHALLOWEST, level * DEEPEST);

/** The water of all basins as one body. */
export function Water({ levels, shut }: { levels: number[]; shut: boolean[] }) {
  const surface = surfaceOf(levels, shut);
  const width = levels.length * BASIN;
  return (
    <svg className="water" viewBox={`0 0 ${width} ${BASIN}`} preserveAspectRatio="none" aria-hidden="true">
      <path className="body" d={`${surface} V${BASIN} H0 Z`} />
      <path className="surface" d={surface} />
    </svg>
  );
}

/** The same commands whatever the levels are, so that one shape can pass over into the other. */
function surfaceOf(levels: number[], shut: boolean[]): string {
  const parts = [`M0 ${heightOf(levels[0] ?? 0)}`];
  for (const [index, level] of levels.entries()) {
    const next = levels[index + 1];
    const y = heightOf(level);
    const end = (index + 1) * BASIN;
    if (next === undefined) {
      parts.push(`H${end}`);
      continue;
    }
    // At the gate itself: its leaf hides what is upright there.
    const gate = end - 3;
    const slope = shut[index] ? 0.01 : SLOPE;
    parts.push(
      `H${gate - slope}`,
      `C${gate - slope / 4} ${y} ${gate + slope / 4} ${heightOf(next)} ${gate + slope} ${heightOf(next)}`,
    );
  }
  return parts.join(' ');
}
