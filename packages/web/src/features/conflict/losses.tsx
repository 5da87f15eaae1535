import { lossLines, lossSummary, type MergeLoss } from '@tidemill/contract';

/** Lines of each file that are shown. */
const SHOWN_LINES = 12;

/** What the resolution drops of the target: each file, and the lines. */
export function Losses({ losses, target }: { losses: MergeLoss[]; target: string }) {
  return (
    <ul className="losses">
      {losses.map((loss) => {
        const lines = lossLines(loss).slice(0, SHOWN_LINES);
        const more = loss.lineCount - lines.length;
        return (
          <li key={loss.content}>
            {lossSummary(loss, target)}
            {lines.length > 0 && <pre>{lines.join('\n')}</pre>}
            {lines.length > 0 && more > 0 && <span className="dim">… and {more} more</span>}
          </li>
        );
      })}
    </ul>
  );
}
