import type { InboxItem, NeedsYou, ProjectStatus, QuestionView } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { statusLines } from './status-lines.ts';
import { openTerminal } from './terminal.ts';

const terminal = { ...openTerminal({ NO_COLOR: '1' }), width: 80 };
const EMPTY: ProjectStatus = {
  ...{ project: { id: 'p', name: 'bakery', root: '/bakery', target: 'main' }, daemon: null, running: true, idle: true },
  ...{ tasks: {}, total: 0, environments: [], workers: [], preparing: [], needsYou: [], questions: [], gates: [] },
  sources: { ideas: 0, specs: 0, feedback: 0, proposals: 0, issues: 0 },
  sandbox: { active: true, text: '' } as ProjectStatus['sandbox'],
  ...{ inbox: 0, conflicts: 0, alerts: [], holds: [], warnings: [], lastSeq: 1 },
};
const shown = (some: Partial<ProjectStatus>) => statusLines({ ...EMPTY, ...some }, terminal).join('\n');

const alert = (some: Partial<InboxItem>): InboxItem => ({
  ...{ ref: 'a1b2c3', kind: 'alert', severity: 'error', isBlocking: false, at: 0, title: 'all failed', task: null },
  text: 'All agents failed.\nThe last error: HTTP 500',
  command: 'tidemill inbox do a1b2c3 pause',
  actions: [{ id: 'pause', label: 'Pause all agents' }],
  ...some,
});
const need = (some: Partial<NeedsYou>): NeedsYou => ({
  ...{ number: 7, title: 'Sell bread', stage: 'blocked', at: 'plan', holds: 'agent_failed' },
  ...{ why: 'the agent keeps failing: no money', command: 'tidemill task retry 7', ...some },
});

describe('the status of a project', () => {
  test('shows an alert with its last error and the command that helps', () => {
    expect(shown({ alerts: [alert({})] })).toContain(
      '  alerts: 1\n  all failed: All agents failed.\n  The last error: HTTP 500\n     tidemill inbox do a1b2c3 pause',
    );
    expect(shown({ alerts: [alert({ severity: 'info' })] })).not.toContain('alerts');
  });

  test('tells one cause once: by its alert, its hold or its task', () => {
    const why = '`npm ci` failed: no network';
    const waits = need({ holds: 'waiting', why });
    const prepared = shown({ needsYou: [waits], alerts: [alert({ text: `${why} The tasks wait.` })] });
    expect(prepared.match(/no network/g)).toHaveLength(1);
    const red = alert({ title: 'baseline red', actions: [{ id: 'repair', label: 'Add a repair task' }] });
    expect(shown({ alerts: [red], holds: ['main fails its gates.'] })).not.toContain('baseline red');
    expect(shown({ alerts: [red] })).toContain('baseline red');
    const question = { ref: 'Q7.1', type: 'blocking', text: '#7 Sell bread is stuck', command: 'tidemill answer Q7.1' };
    const asked = (stage: string) =>
      shown({ needsYou: [need({})], questions: [{ ...question, task: { stage } } as QuestionView] });
    expect(asked('blocked')).not.toContain('Q7.1');
    expect(asked('implement')).toContain('questions: 1\n  Q7.1');
  });
});
