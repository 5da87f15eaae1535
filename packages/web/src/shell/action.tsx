import { useQueryClient } from '@tanstack/react-query';
import { type AccessRole, mayAct } from '@tidemill/contract';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { complain, tell } from './notices.tsx';

/** Of the person at this page; undefined until it is known. */
export const Role = createContext<AccessRole | undefined>(undefined);

/** What the person at this page may do. Until that is known, everything is offered: the daemon decides anyway. */
export function useMay(needed: AccessRole): boolean {
  const role = useContext(Role);
  return role === undefined || mayAct(role, needed);
}

/** Does something at the daemon and says how it went. True when it was done. */
export function useAct(): (work: () => Promise<unknown>, done?: string) => Promise<boolean> {
  const cache = useQueryClient();
  return async (work, done) => {
    try {
      await work();
    } catch (error) {
      complain(error);
      return false;
    }
    if (done) tell(done);
    void cache.invalidateQueries({}, { cancelRefetch: false });
    return true;
  };
}

interface ActionProps {
  act: () => Promise<unknown>;
  done?: string;
  /** Asked before: names what it will hit and how to undo it. */
  confirm?: { title: string; text: ReactNode; yes: string; isHarmless?: boolean };
  needs?: AccessRole;
  className?: string;
  label?: string;
  disabled?: boolean;
  /** The key that presses it, for pages that find it by that. */
  marks?: string;
  children: ReactNode;
}

/** A button that acts at the daemon: asks first where it must, and cannot be pressed twice. */
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
        // Not disabled meanwhile: that would take the focus from whoever pressed it by keyboard.
        aria-disabled={isBusy || undefined}
        aria-busy={isBusy}
        aria-label={label}
        data-key={marks}
        title={may ? undefined : `This needs the role ${needs}`}
        onClick={() => (confirm ? setAsking(true) : void go())}
      >
        {children}
      </button>
      {isAsking && confirm && (
        <Dialog title={confirm.title} onClose={() => setAsking(false)}>
          <div className="prose">{confirm.text}</div>
          <footer>
            <button type="button" onClick={() => setAsking(false)}>
              Keep things as they are
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
