import { type Alert, isOpenAlert, personActor } from '@tidemill/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { alertId } from './alert.ts';

const projectId = 'project_1';
const about = { projectId, kind: 'disk_full', subject: '' } as const;
const id = alertId(projectId, 'disk_full', '');

let mill: Mill;
beforeEach(() => {
  mill = new Mill();
});
const raise = (text = 'x', severity: 'warning' | 'error' = 'warning') =>
  mill.must({ type: 'alert.raise', taskId: null, ...about, text, severity }).map(({ type }) => type);
const resolve = () => mill.must({ type: 'alert.resolve', ...about }).map(({ type }) => type);
const row = () => mill.records.get(id) as Alert;

describe('an alert whose condition is over', () => {
  it('is closed without a person, once', () => {
    raise();
    expect(isOpenAlert(row())).toBe(true);
    expect([resolve(), resolve()]).toEqual([['alert.resolved'], []]);
    expect(isOpenAlert(row())).toBe(false);
  });

  it('changes nothing when the alert was never raised', () => {
    expect(resolve()).toEqual([]);
  });

  it('that comes back soon is open again without another notice, with its new text and severity', () => {
    raise('first');
    mill.must({ type: 'alert.acknowledge', projectId, alertId: id, by: personActor('ada') });
    resolve();
    expect(raise('second', 'error')).toEqual(['alert.repeated']);
    expect(row()).toMatchObject({ text: 'second', severity: 'error', count: 2, acknowledgedAt: null });
    expect(isOpenAlert(row())).toBe(true);
  });

  it('that comes back later is a new alert', () => {
    raise();
    resolve();
    mill.now += 5 * 60_000;
    expect(raise()).toEqual(['alert.raised']);
    expect(isOpenAlert(row())).toBe(true);
  });
});

describe('an alert that is raised again while it is open', () => {
  it('is about the newest task, and about none when the newest names none', () => {
    const about = (taskId: string | null) => {
      mill.must({ type: 'alert.raise', projectId, kind: 'disk_full', taskId, text: 'x' });
      return row().taskId;
    };
    expect([about('a'), about('b'), about('b'), about(null)]).toEqual(['a', 'b', 'b', null]);
  });

  it('shows the newest text, and an acknowledgement holds', () => {
    raise('a.txt is dirty');
    mill.must({ type: 'alert.acknowledge', projectId, alertId: id, by: personActor('ada') });
    raise('b.txt is dirty');
    expect(row().text).toBe('b.txt is dirty');
    expect(isOpenAlert(row())).toBe(false);
  });
});
