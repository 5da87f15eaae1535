import type { Seen } from './connection/seen.ts';
import { otherVersionText, plural } from './words.ts';

export interface StatusText {
  text: string;
  tooltip: string;
  command: string;
}

const ACTIVE = ['working', 'reviewing', 'ideating'];

/** The project in a few words, for the status bar. */
export function statusTextOf({ state, status, isLive, isUnreadable, version }: Seen): StatusText {
  const fleet = 'tidemill.fleet.focus';
  if (state === 'looking') return { text: '$(sync) Tidemill', tooltip: 'Looking for Tidemill', command: fleet };
  if (state === 'no_repository')
    return { text: '$(circle-slash) Tidemill', tooltip: 'This workspace has no git repository', command: fleet };
  if (state === 'no_daemon')
    return {
      text: '$(debug-stop) Tidemill',
      tooltip: 'Tidemill is not running. Select to start it',
      command: 'tidemill.start',
    };
  if (state === 'other_version' || (isUnreadable && !status))
    return { text: '$(warning) Tidemill', tooltip: otherVersionText(version), command: fleet };
  if (state === 'no_project' || !status?.running)
    return {
      text: '$(debug-stop) Tidemill',
      tooltip: 'Tidemill does not work on this repository. Select to start it',
      command: 'tidemill.start',
    };
  const active = status.workers.filter((worker) => ACTIVE.includes(worker.status)).length;
  const crashed = status.workers.filter((worker) => worker.status === 'crashed' || worker.status === 'failed').length;
  const working = active > 0 ? `${plural(active, 'agent')} working` : 'no agent working';
  const more = `${crashed > 0 ? `, ${crashed} crashed` : ''}${isLive ? '' : ', no live connection'}${isUnreadable ? `. ${otherVersionText(version)}` : ''}`;
  if (status.inbox > 0) {
    const needs = status.inbox === 1 ? '1 needs you' : `${status.inbox} need you`;
    return {
      text: `$(bell-dot) ${needs}`,
      tooltip: `Tidemill: ${needs}, ${working}${more}`,
      command: 'tidemill.inbox.focus',
    };
  }
  return {
    text: active > 0 ? `$(sync~spin) ${active} working` : '$(check) Tidemill',
    tooltip: `Tidemill: ${working}${more}`,
    command: fleet,
  };
}
