import type { CategoryView } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';
import { ScrollBox } from '../../shell/scroll-box.tsx';
import { elapsed, useNow } from '../../time.ts';
import { timeOf } from '../../words.ts';

const MONTH_MS = 30 * 24 * 3_600_000;
const STATE_CLASS: Record<CategoryView['state'], string> = {
  ready: 'landed',
  resting: 'idle',
  off: 'dim',
  later: 'dim',
  broken: 'crashed',
};

/** Every category with its use within 30 days and what came of it. */
export function Categories({ categories }: { categories: CategoryView[] }) {
  return (
    <section className="loop-part" aria-label="Categories">
      <h3>Categories</h3>
      <ScrollBox label="Categories" className="loop-categories">
        <table>
          <thead>
            <tr>
              <th scope="col">Category</th>
              <th scope="col">State</th>
              <th scope="col">Last used</th>
              <th scope="col">Proposed</th>
              <th scope="col">Approved</th>
              <th scope="col">Landed</th>
              <th scope="col">Reverted</th>
              <th scope="col">Tasks a week</th>
              <th scope="col">Score</th>
            </tr>
          </thead>
          <tbody>
            {categories.map((category) => (
              <Row key={category.slug} category={category} />
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </section>
  );
}

function Row({ category }: { category: CategoryView }) {
  const { name, state, why, restsUntil, lastUsedAt, proposed, approved, landed, reverted, tasksPerWeek, score } =
    category;
  const now = useNow();
  const isRecent = lastUsedAt !== null && now - lastUsedAt < MONTH_MS;
  return (
    <tr>
      <th scope="row">{plainLine(name)}</th>
      <td>
        <span className={STATE_CLASS[state]}>{state}</span>
        {why && (
          <span className="dim">
            : {plainLine(why)}
            {restsUntil !== null && `, until ${timeOf(restsUntil)}`}
          </span>
        )}
      </td>
      <td className={isRecent ? undefined : 'dim'}>
        {lastUsedAt === null ? 'never' : `${elapsed(Math.max(0, now - lastUsedAt))} ago`}
      </td>
      <td>{proposed}</td>
      <td>{approved}</td>
      <td>{landed}</td>
      <td>{reverted}</td>
      <td>{tasksPerWeek.toFixed(1)}</td>
      <td>{score === null ? 'none' : score.toFixed(1)}</td>
    </tr>
  );
}
