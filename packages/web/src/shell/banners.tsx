import type { InboxItem, ProjectStatus } from '@tidemill/contract';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api.ts';
import { plainLine } from '../plain.ts';
import { withTimes } from '../words.ts';
import { Action } from './action.tsx';
import { Command } from './command.tsx';
import type { Liveness } from './live.ts';
import { errorText } from './notices.tsx';

interface BannersProps {
  connection: Liveness;
  error: unknown;
  knownAt: number;
  isOutdated: boolean;
  status: ProjectStatus | undefined;
}

/** What a person must know before they believe the page. */
export function Banners({ connection, error, knownAt, isOutdated, status }: BannersProps) {
  const text = trouble(connection, error, knownAt, isOutdated);
  const alerts = status?.alerts ?? [];
  return (
    <>
      <div role="alert">{text && <div className={`banner ${connection}`}>{text}</div>}</div>
      {status && alerts.length > 0 && <Alerts project={status.project.id} alerts={alerts} />}
    </>
  );
}

function trouble(connection: Liveness, error: unknown, knownAt: number, isOutdated: boolean): ReactNode {
  // A time of day, not an age: what is told aloud must not change every second.
  const known = knownAt > 0 ? ` Shown is what was known at ${new Date(knownAt).toLocaleTimeString('en-GB')}.` : '';
  if (connection === 'signed_out')
    return (
      <>
        The daemon was started anew, and its page has a new link. Open the link that this prints:
        <Command text="tidemill status" />
      </>
    );
  if (connection === 'offline') return `Offline: the daemon does not answer. Trying again by itself.${known}`;
  if (isOutdated)
    return (
      <>
        The daemon was upgraded. This page is of the version before.
        <button type="button" onClick={() => location.reload()}>
          Load it again
        </button>
      </>
    );
  if (connection === 'polling')
    return 'The live connection is down: looking every 5 seconds instead, until it is back.';
  // While it connects, an answer that failed says more than that.
  if (error) return errorText(error);
  return null;
}

/** Whatever is milder waits in the inbox. */
const SHOWN: InboxItem['severity'][] = ['critical', 'error', 'warning'];
const MOST = 3;

function Alerts({ project, alerts }: { project: string; alerts: InboxItem[] }) {
  const [at] = useLocation();
  const pressing = alerts.filter(({ severity }) => SHOWN.includes(severity));
  // There they stand with everything else.
  if (at === '/inbox' || pressing.length === 0) return null;
  return (
    <section aria-label="Alerts">
      <ul className="alerts">
        {pressing.slice(0, MOST).map(({ ref, severity, title, text }) => (
          <li key={ref} className={`alert ${severity}`}>
            <strong>{severity}</strong>
            <span>
              {title}: {plainLine(withTimes(text))}
            </span>
            <Action
              className="quiet"
              act={() => api.acknowledge({ project, ref, by: 'page' })}
              label={`Acknowledge ${title}`}
            >
              Acknowledge
            </Action>
          </li>
        ))}
      </ul>
    </section>
  );
}
