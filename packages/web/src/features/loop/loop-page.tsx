import './loop.css';
import { useQuery } from '@tanstack/react-query';
import type { LoopView } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { useProject } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { plural } from '../../words.ts';
import { Categories } from './categories.tsx';
import { Figures } from './figures.tsx';
import { History } from './history.tsx';
import { ProposalCard } from './proposal-card.tsx';

/** The improvements that Tidemill proposes itself. */
export default function LoopPage() {
  const project = useProject();
  const { data, error, isPending } = useQuery({
    queryKey: ['loop', project.id],
    queryFn: ({ signal }) => api.loop({ project: project.id }, withTimeout(signal)),
  });
  useKeys([
    {
      keys: 'y',
      does: 'Approve the first proposal, or the one with the focus',
      run: () => press('yes'),
    },
    { keys: 'r', does: 'Say why to refuse it', run: () => press('refuse') },
  ]);
  return (
    <>
      <PageHead title="Loop" about={data ? <Standing view={data} /> : 'Improvements that Tidemill proposes itself.'}>
        {data && <Switch view={data} />}
      </PageHead>
      <RoleNote what="Switching the loop and deciding about proposals" />
      <Failed error={error} />
      {isPending && <p className="dim">Loading…</p>}
      {data && (
        <>
          {data.paused && (
            <p className="crashed" role="status">
              The loop paused itself: {plainLine(data.paused.why)}. Existing tasks go on. “Switch on” lets it propose
              again.
            </p>
          )}
          <Figures view={data} />
          <Waiting view={data} />
          <Categories categories={data.categories} />
          <History />
        </>
      )}
    </>
  );
}

/** Presses the button of the proposal with the focus, else of the first one. */
function press(mark: string): void {
  const within = document.activeElement?.closest('[data-proposal]') ?? document.querySelector('[data-proposal]');
  within?.querySelector<HTMLButtonElement>(`[data-key="${mark}"]`)?.click();
}

function Standing({ view: { isOn, paused, text, proposing, queue } }: { view: LoopView }) {
  return (
    <span className="row">
      <span className={isOn ? 'ideating' : paused ? 'crashed' : 'paused'}>
        {isOn ? 'on' : paused ? 'paused' : 'off'}
      </span>
      {!paused && <span>{plainLine(text)}</span>}
      <span>
        {plural(queue.depth, 'task')} in the queue, kept between {queue.min} and {queue.max}
      </span>
      {proposing && <span className="ideating">an agent looks for an improvement in {plainLine(proposing)}</span>}
    </span>
  );
}

function Switch({ view: { isOn, exposure, approval } }: { view: LoopView }) {
  const project = useProject();
  const turn = (on: boolean) => () => api.switchLoop({ project: project.id, on, by: 'page' });
  if (isOn)
    return (
      <Action act={turn(false)} done="The loop is off. Existing tasks go on.">
        Switch off
      </Action>
    );
  const who = approval === 'requires_approval' ? 'You approve each proposal.' : 'Proposals become tasks by themselves.';
  return (
    <Action
      act={turn(true)}
      done="The loop is on"
      className="primary"
      confirm={{
        title: 'Switch the loop on?',
        text: `Agents look for improvements while the queue is low. This costs money. ${who} It uses ${exposure.categories} categories, and ${plural(exposure.agents, 'of its tasks is', 'of its tasks are')} worked on at once.`,
        yes: 'Switch on',
        isHarmless: true,
      }}
    >
      Switch on
    </Action>
  );
}

function Waiting({ view: { waiting, isOn } }: { view: LoopView }) {
  return (
    <section className="loop-part" aria-label="Waiting for your yes">
      <h3>Waiting for your yes</h3>
      {waiting.length === 0 ? (
        <Empty>
          {isOn ? 'No proposal waits for you.' : 'The loop is off, and no proposal waits. Switch it on to get some.'}
        </Empty>
      ) : (
        <ul className="proposals">
          {waiting.map((proposal) => (
            <ProposalCard key={proposal.id} proposal={proposal} />
          ))}
        </ul>
      )}
    </section>
  );
}
