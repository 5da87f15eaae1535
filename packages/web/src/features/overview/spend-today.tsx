import type { ProjectStatus } from '@tidemill/contract';
import { SpendBar } from '../../shell/frame.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { limit, money, withTimes } from '../../words.ts';

export function SpendToday({ budget, isAlone }: { budget: ProjectStatus['budget']; isAlone: boolean }) {
  if (!budget) return <section className="strip" aria-label="Spend today" />;
  const { project, all } = budget;
  const stopped = project.stopped ?? all.stopped;
  return (
    <section className={stopped ? 'strip urgent' : 'strip'} aria-labelledby="spend-today">
      <h2 id="spend-today">Spend today</h2>
      <p>
        <strong className="sum">{money(project.daily.spentUsd)}</strong> of {limit(project.limits.dailyUsd)}
      </p>
      {stopped && <p className="waiting">{withTimes(stopped)}</p>}
      <div className="spends">
        <SpendBar
          name="Today"
          spent={project.daily.spentUsd}
          of={project.limits.dailyUsd}
          percent={project.daily.percent}
          isBare
        />
        <SpendBar
          name="This month"
          spent={project.monthly.spentUsd}
          of={project.limits.monthlyUsd}
          percent={project.monthly.percent}
        />
        {!isAlone && (
          <SpendBar
            name="All projects today"
            spent={all.daily.spentUsd}
            of={all.limits.dailyUsd}
            percent={all.daily.percent}
          />
        )}
      </div>
      <p className="dim">
        {project.daily.reservedUsd > 0 && `${money(project.daily.reservedUsd)} reserved for current runs. `}
        Forecast: {money(project.monthly.forecastUsd)} this month.
      </p>
      <p>
        <PageLink to="/costs">View costs</PageLink>
      </p>
    </section>
  );
}
