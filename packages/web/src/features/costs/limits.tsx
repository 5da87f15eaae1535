import { type AccountView, BudgetLimits } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { useShown } from '../../shell/project.tsx';

export function Limits({ account: { limits } }: { account: AccountView }) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay('admin');
  return (
    <>
      <button
        type="button"
        disabled={!may}
        title={may ? undefined : 'Needs the role admin'}
        onClick={() => setOpen(true)}
      >
        Edit limits
      </button>
      {isOpen && <Change limits={limits} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The error in a typed limit; null if it is valid. */
function faultOf(name: keyof BudgetLimits, text: string): string | null {
  if (!/^\s*\d+(\.\d+)?\s*$/.test(text)) return `“${plainLine(text).slice(0, 20)}” is not an amount. Write 50 or 12.50`;
  const read = BudgetLimits.shape[name].safeParse(Number(text));
  return read.success ? null : (read.error.issues[0]?.message ?? 'this is not a valid limit');
}

function Change({ limits, onClose }: { limits: AccountView['limits']; onClose: () => void }) {
  const { project } = useShown();
  const [daily, setDaily] = useState(String(limits.dailyUsd));
  const [monthly, setMonthly] = useState(String(limits.monthlyUsd));
  const act = useAct();
  const isWrong = faultOf('dailyUsd', daily) !== null || faultOf('monthlyUsd', monthly) !== null;
  const save = async () => {
    const given = { dailyUsd: Number(daily), monthlyUsd: Number(monthly) };
    if (await act(() => api.limitBudget({ project: project.id, ...given }), 'Limits of all projects changed'))
      onClose();
  };
  return (
    <Dialog title="Limits of all projects together" onClose={onClose}>
      <form
        className="limits"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isWrong) void save();
        }}
      >
        <Field name="dailyUsd" label="USD per day" value={daily} onChange={setDaily} />
        <Field name="monthlyUsd" label="USD per month" value={monthly} onChange={setMonthly} />
        <p className="dim">At 90 % no new work starts. At 100 % all work stops. A project can have lower limits.</p>
        <p className="row">
          <button type="submit" className="primary" disabled={isWrong}>
            Save
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}

interface FieldProps {
  name: keyof BudgetLimits;
  label: string;
  value: string;
  onChange: (value: string) => void;
}

function Field({ name, label, value, onChange }: FieldProps) {
  const fault = faultOf(name, value);
  return (
    <p className="field">
      <label htmlFor={name}>{label}</label>
      <input
        id={name}
        inputMode="decimal"
        autoComplete="off"
        aria-invalid={fault !== null}
        aria-describedby={`${name}-fault`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <span id={`${name}-fault`} role="status" className={fault ? 'waiting' : undefined}>
        {fault}
      </span>
    </p>
  );
}
