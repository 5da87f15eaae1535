/** The width and height of a basin in drawing units. */
const BASIN = 100;
/** The width of the slope between two levels at an open gate. */
const SLOPE = 16;
/** The level of an empty basin. */
const SHALLOWEST = 4;
/** Keeps the water below the counts. */
const DEEPEST = 62;

/** A logarithmic scale, so that 1 and 10,000 tasks both look right. */
export const levelOf = (count: number) => (count === 0 ? 0 : Math.min(1, 0.2 + Math.log2(count) * 0.1));

const heightOf = (level: number) => BASIN - Math.max(SHALLOWEST, level * DEEPEST);

/** The water of all basins as one shape. */
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

/** The path always has the same commands, so that CSS can animate between two shapes. */
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
    // The gate hides the vertical edge.
    const gate = end - 3;
    const slope = shut[index] ? 0.01 : SLOPE;
    parts.push(
      `H${gate - slope}`,
      `C${gate - slope / 4} ${y} ${gate + slope / 4} ${heightOf(next)} ${gate + slope} ${heightOf(next)}`,
    );
  }
  return parts.join(' ');
}
