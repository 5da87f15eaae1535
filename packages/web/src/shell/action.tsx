import { useQueryClient } from '@tanstack/react-query';
import { type AccessRole, mayAct } from '@tidemill/contract';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { showError, showToast } from './toasts.tsx';

/** The role of the person at this page; undefined until it is known. */
export const Role = createContext<AccessRole | undefined>(undefined);

/** Whether the person may act in a role. True until the role is known, because the daemon checks anyway. */
export function useMay(needed: AccessRole): boolean {
  const role = useContext(Role);
  return role === undefined || mayAct(role, needed);
}

/** Runs a request and shows its result. Returns true on success. */
export function useAct(): (work: () => Promise<unknown>, done?: string) => Promise<boolean> {
  const cache = useQueryClient();
  return async (work, done) => {
    try {
      await work();
    } catch (error) {
      showError(error);
      return false;
    }
    if (done) showToast(done);
    void cache.invalidateQueries({}, { cancelRefetch: false });
    return true;
  };
}

interface ActionProps {
  act: () => Promise<unknown>;
  done?: string;
  /** Asks first: names what is affected and how to undo it. */
  confirm?: { title: string; text: ReactNode; yes: string; no?: string; isHarmless?: boolean };
  needs?: AccessRole;
  className?: string;
  label?: string;
  disabled?: boolean;
  /** The key that presses it, for pages that find the button by key. */
  marks?: string;
  children: ReactNode;
}

/** A button that sends a request. It asks first where needed and ignores a second press. */
export function Action(props: ActionProps) {
  const { act, done, confirm, needs = 'operator', className, label, disabled, marks, children } = props;
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const run = useAct();
  const may = useMay(needs);
  const go = async () => {
    setAsking(false);
    if (isBusy) return;
    setBusy(true);
    await run(act, done);
    setBusy(false);
  };
  return (
    <>
      <button
        type="button"
        className={className}
        disabled={!may || disabled}
        // Not disabled while busy, because that would lose the keyboard focus.
        aria-disabled={isBusy || undefined}
        aria-busy={isBusy}
        aria-label={label}
        data-key={marks}
        title={may ? undefined : `Needs the role ${needs}`}
        onClick={() => (confirm ? setAsking(true) : void go())}
      >
        {children}
      </button>
      {isAsking && confirm && (
        <Dialog title={confirm.title} onClose={() => setAsking(false)}>
          <div className="prose">{confirm.text}</div>
          <footer>
            <button type="button" onClick={() => setAsking(false)}>
              {confirm.no ?? 'Cancel'}
            </button>
            <button type="button" className={confirm.isHarmless ? 'primary' : 'danger'} onClick={() => void go()}>
              {confirm.yes}
            </button>
          </footer>
        </Dialog>
      )}
    </>
  );
}
