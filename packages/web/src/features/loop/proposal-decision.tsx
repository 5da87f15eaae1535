import { useState } from 'react';
import { api } from '../../api.ts';
import { Action, useAct, useMay } from '../../shell/action.tsx';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { useProject } from '../../shell/project.tsx';

const SCORES = Array.from({ length: 11 }, (_, score) => score);

/** Approve, refuse with a reason, or score a proposal. */
export function ProposalDecision({ number, score }: { number: number; score?: number | null }) {
  const project = useProject();
  const may = useMay('operator');
  const [isRefusing, setRefusing] = useState(false);
  const about = { project: project.id, proposal: String(number), by: 'page' };
  return (
    <p className="row">
      <Action
        className="primary"
        act={() => api.approveProposal(about)}
        done={`Proposal ${number} is a task now`}
        marks="yes"
      >
        <kbd>y</kbd> Approve <span className="unseen">proposal {number}</span>
      </Action>
      <button type="button" disabled={!may} data-key="refuse" onClick={() => setRefusing(true)}>
        <kbd>r</kbd> Refuse <span className="unseen">proposal {number}</span>
      </button>
      {score !== undefined && <Scoring number={number} score={score} />}
      {isRefusing && <Refusal number={number} onClose={() => setRefusing(false)} />}
    </p>
  );
}

function Refusal({ number, onClose }: { number: number; onClose: () => void }) {
  const project = useProject();
  const [why, setWhy] = useState('');
  const about = { project: project.id, proposal: String(number), by: 'page' };
  return (
    <FormDialog
      title={`Refuse proposal ${number}?`}
      onClose={onClose}
      send={() => api.refuseProposal({ ...about, why: why.trim() })}
      done={`Proposal ${number} is refused`}
      yes="Refuse"
      isReady={why.trim() !== ''}
    >
      <label>
        Why? Later agents read it, and nothing like this is accepted again.
        <textarea rows={3} value={why} maxLength={20_000} onChange={(event) => setWhy(event.target.value)} />
      </label>
    </FormDialog>
  );
}

/** Scores weigh the choice of the next category. */
export function Scoring({ number, score }: { number: number; score: number | null }) {
  const project = useProject();
  const run = useAct();
  const may = useMay('operator');
  const give = (value: string) =>
    void run(
      () => api.scoreProposal({ project: project.id, proposal: String(number), by: 'page', score: Number(value) }),
      `Proposal ${number} has ${value} of 10`,
    );
  return (
    <label className="scoring">
      Value <span className="unseen">of proposal {number}</span>
      <select value={score ?? ''} disabled={!may} onChange={(event) => give(event.target.value)}>
        <option value="" disabled>
          no score
        </option>
        {SCORES.map((each) => (
          <option key={each} value={each}>
            {each} of 10
          </option>
        ))}
      </select>
    </label>
  );
}
