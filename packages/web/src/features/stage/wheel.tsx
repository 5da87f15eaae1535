const PADDLES = [0, 45, 90, 135, 180, 225, 270, 315];

/** Turns while a worker has a task. The text beside it says the same. */
export function Wheel({ isTurning }: { isTurning: boolean }) {
  return (
    <svg className={isTurning ? 'wheel turning' : 'wheel'} viewBox="-50 -50 100 100" aria-hidden="true">
      <g>
        <circle r="34" />
        <circle r="26" />
        <circle r="5" />
        {PADDLES.map((angle) => (
          <path key={angle} d="M5 0 H44 M44 -7 V7" transform={`rotate(${angle})`} />
        ))}
      </g>
    </svg>
  );
}
