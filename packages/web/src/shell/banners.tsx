import type { InboxItem, ProjectStatus } from '@tidemill/contract';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api.ts';
import { plainLine } from '../plain.ts';
import { withTimes } from '../words.ts';
import { Action } from './action.tsx';
import { Command } from './command.tsx';
import type { Liveness } from './live.ts';
import { errorText } from './toasts.tsx';

interface BannersProps {
  connection: Liveness;
  error: unknown;
  knownAt: number;
  isOutdated: boolean;
  status: ProjectStatus | undefined;
}

/** Connection problems and alerts, above every page. */
export function Banners({ connection, error, knownAt, isOutdated, status }: BannersProps) {
  const text = connectionText(connection, error, knownAt, isOutdated);
  const alerts = status?.alerts ?? [];
  // The alert about the target has the same cause and a button.
  const isSaid = alerts.some(({ actions }) => actions.some(({ id }) => id === 'repair'));
  const holds = isSaid ? [] : (status?.holds ?? []);
  return (
    <>
      <div role="alert">{text && <div className={`banner ${connection}`}>{text}</div>}</div>
      {holds.length > 0 && <div className="banner polling">{holds.map(plainLine).join(' ')}</div>}
      {status && alerts.length > 0 && <Alerts project={status.project.id} alerts={alerts} />}
    </>
  );
}

function connectionText(connection: Liveness, error: unknown, knownAt: number, isOutdated: boolean): ReactNode {
  // A time of day, not an age: a text for screen readers must not change every second.
  const known = knownAt > 0 ? ` Last update: ${new Date(knownAt).toLocaleTimeString('en-GB')}.` : '';
  if (connection === 'signed_out')
    return (
      <>
        The daemon was restarted, and the page has a new link. Open the link that this command prints:
        <Command text="tidemill status" />
      </>
    );
  if (connection === 'offline') return `Offline: the daemon does not respond. Retrying automatically.${known}`;
  if (isOutdated)
    return (
      <>
        The daemon was upgraded. This page is from the previous version.
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </>
    );
  if (connection === 'polling')
    return 'The live connection is down. The page updates every 5 seconds until it is back.';
  if (error) return errorText(error);
  return null;
}

/** Less severe alerts are only in the inbox. */
const SHOWN: InboxItem['severity'][] = ['critical', 'error', 'warning'];
const MOST = 3;

function Alerts({ project, alerts }: { project: string; alerts: InboxItem[] }) {
  const [at] = useLocation();
  const urgent = alerts.filter(({ severity }) => SHOWN.includes(severity));
  if (at === '/inbox' || urgent.length === 0) return null;
  return (
    <section aria-label="Alerts">
      <ul className="alerts">
        {urgent.slice(0, MOST).map(({ ref, severity, title, text, actions }) => (
          <li key={ref} className={`alert ${severity}`}>
            <strong>{severity}</strong>
            <span>
              {title}: {plainLine(withTimes(text))}
            </span>
            {actions.slice(0, 1).map(({ id, label }) => (
              <Action
                key={id}
                className="primary"
                act={() => api.actOnAlert({ project, ref, action: id, by: 'page' })}
                done={`${label}: done`}
              >
                {label}
              </Action>
            ))}
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
