import { useQuery } from '@tanstack/react-query';
import type { GuardProposalView, ShownCall } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Action, useMay } from '../../shell/action.tsx';
import { Failed } from '../../shell/failed.tsx';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { useProject } from '../../shell/project.tsx';
import { useElapsed } from '../../time.ts';
import { plural } from '../../words.ts';
import { TraceById } from './traces.tsx';

const STATUS_CLASS: Record<GuardProposalView['status'], string> = {
  proposed: 'waiting',
  observing: 'ideating',
  enforced: 'landed',
  refused: 'dim',
  withdrawn: 'dim',
};

export function useGuards() {
  const project = useProject();
  return useQuery({
    queryKey: ['guards', project.id],
    queryFn: ({ signal }) => api.guardProposals({ project: project.id }, withTimeout(signal)),
  });
}

export const isWaitingGuard = ({ status }: GuardProposalView) => status === 'proposed' || status === 'observing';

/** Guards that were learned and decided about. */
export function DecidedGuards() {
  const { data, error } = useGuards();
  const decided = data?.filter((guard) => !isWaitingGuard(guard)) ?? [];
  if (decided.length === 0) return <Failed error={error} />;
  return (
    <section className="memory-part" aria-label="Learned guards">
      <h3>Learned guards</h3>
      <ul className="lessons">
        {decided.map((guard) => (
          <GuardCard key={guard.id} guard={guard} />
        ))}
      </ul>
    </section>
  );
}

/** A learned guard, with the recorded calls that it would have refused and allowed. */
export function GuardCard({ guard }: { guard: GuardProposalView }) {
  const { name, status, why, yaml, file, fileState, refused, allowed, observed, traceIds, bypasses } = guard;
  const ago = useElapsed(guard.createdAt);
  const [isOpen, setOpen] = useState(false);
  const id = `guard-${name}`;
  return (
    <li className="card lesson" data-item-of="memory" data-guard={name} tabIndex={-1} aria-labelledby={id}>
      <p className="row">
        <span>guard</span>
        <span className={STATUS_CLASS[status]}>{status}</span>
        <span className="dim">
          by {plainLine(guard.proposedBy.name)}, {ago} ago
        </span>
        {bypasses > 0 && <span className="waiting">{plural(bypasses, 'bypass', 'bypasses')}</span>}
        {fileState !== 'same' && <span className="waiting">its file is {fileState}</span>}
      </p>
      <h4 id={id}>{plainLine(name)}</h4>
      <p dir="auto">{plain(why)}</p>
      <p className="dim">
        Would have refused {plural(guard.refusedCount, 'recorded call')} and allowed {guard.allowedCount}
        {status === 'observing' && `; ${guard.observedCount} since it observes`}
      </p>
      <Calls title="Refused" calls={refused} />
      <Calls title="Would refuse, while it observes" calls={observed} />
      <Calls title="Allowed" calls={allowed} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          Its rule and where it comes from <span className="unseen">{plainLine(name)}</span>
        </summary>
        <p className="dim">{plainLine(file)}</p>
        <p className="quoted">{plain(yaml)}</p>
        {isOpen && traceIds.length > 0 && (
          <ul className="traces" aria-label="Traces that it comes from">
            {traceIds.slice(0, 5).map((trace) => (
              <TraceById key={trace} id={trace} />
            ))}
          </ul>
        )}
      </details>
      {guard.decidedWhy && (
        <p className="dim" dir="auto">
          {plainLine(guard.decidedBy?.name ?? '')}: {plain(guard.decidedWhy)}
        </p>
      )}
      <Decision guard={guard} />
    </li>
  );
}

function Calls({ title, calls }: { title: string; calls: ShownCall[] }) {
  if (calls.length === 0) return null;
  return (
    <details>
      <summary>
        {title}: {calls.length}
      </summary>
      <ul className="calls">
        {calls.map((call) => (
          <li key={`${call.from} ${call.at} ${call.what}`}>
            <span className="dim">{plainLine(call.tool)}</span> <code dir="auto">{plainLine(call.what)}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

type Asked = 'edit' | 'refuse' | 'withdraw' | 'bypass';

function Decision({ guard }: { guard: GuardProposalView }) {
  const project = useProject();
  const may = useMay('operator');
  const [asked, setAsked] = useState<Asked | null>(null);
  const { name, status } = guard;
  if (status === 'refused' || status === 'withdrawn') return null;
  const about = { project: project.id, guard: name, by: 'page' };
  const ask = (what: Asked, text: string, marks?: string) => (
    <button type="button" disabled={!may} data-key={marks} onClick={() => setAsked(what)}>
      {text} <span className="unseen">{plainLine(name)}</span>
    </button>
  );
  return (
    <p className="row">
      {status === 'enforced' ? (
        <>
          {ask('bypass', 'Let one call pass')}
          {ask('withdraw', 'Withdraw')}
        </>
      ) : (
        <>
          <Action
            className="primary"
            act={() => api.decideGuardProposal({ ...about, decision: 'approve' })}
            done={`The guard ${name} is enforced now`}
            marks="yes"
          >
            <kbd>y</kbd> Approve <span className="unseen">{plainLine(name)}</span>
          </Action>
          {ask('edit', 'Edit', 'edit')}
          {ask('refuse', 'Refuse', 'refuse')}
        </>
      )}
      {asked === 'edit' && <EditRule guard={guard} onClose={() => setAsked(null)} />}
      {asked !== null && asked !== 'edit' && <Reason guard={guard} asked={asked} onClose={() => setAsked(null)} />}
    </p>
  );
}

const REASONS = {
  refuse: { title: 'Refuse', ask: 'Why? It does not come back.', done: 'is refused' },
  withdraw: { title: 'Withdraw', ask: 'Why? It refuses nothing any more.', done: 'is withdrawn' },
  bypass: {
    title: 'Let one call pass',
    ask: 'Why may the next call of your own session pass, within ten minutes? It counts against the guard.',
    done: 'lets one call pass',
  },
} as const;

interface ReasonProps {
  guard: GuardProposalView;
  asked: keyof typeof REASONS;
  onClose: () => void;
}

function Reason({ guard: { name }, asked, onClose }: ReasonProps) {
  const project = useProject();
  const [why, setWhy] = useState('');
  const about = { project: project.id, guard: name, by: 'page', why: why.trim() };
  const { title, ask, done } = REASONS[asked];
  const send = () =>
    asked === 'bypass' ? api.bypassGuard(about) : api.decideGuardProposal({ ...about, decision: asked });
  return (
    <FormDialog
      title={`${title}: ${plainLine(name)}`}
      onClose={onClose}
      send={send}
      done={`The guard ${name} ${done}`}
      yes={title}
      isReady={why.trim() !== ''}
    >
      <label>
        {ask}
        <textarea rows={2} value={why} maxLength={2_000} onChange={(event) => setWhy(event.target.value)} />
      </label>
    </FormDialog>
  );
}

function EditRule({ guard: { name, yaml }, onClose }: { guard: GuardProposalView; onClose: () => void }) {
  const project = useProject();
  const [text, setText] = useState(yaml);
  return (
    <FormDialog
      title={`Edit the guard ${plainLine(name)}`}
      onClose={onClose}
      send={() =>
        api.decideGuardProposal({ project: project.id, guard: name, by: 'page', decision: 'observe', yaml: text })
      }
      done={`The guard ${name} is changed, and observes`}
      yes="Save and observe"
      isReady={text.trim() !== ''}
      isWide
    >
      <label>
        The guard as YAML. It is tested with the recorded calls again.
        <textarea
          className="code"
          rows={12}
          value={text}
          maxLength={10_000}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
    </FormDialog>
  );
}
