import { describe, expect, test } from 'vitest';
import { defaultRules, Mill } from '../../../../test/support/mill.ts';

const projectId = 'project_1';

describe('a project and its workers', () => {
  test('a project is registered once, and configured only when it exists', () => {
    const mill = new Mill();
    const register = { type: 'project.register', projectId, name: 'a', root: '/a', rules: defaultRules } as const;
    expect(mill.refusal(register)).toBe('conflict');
    expect(mill.refusal({ type: 'project.configure', projectId: 'project_9', rules: defaultRules })).toBe('not_found');
    mill.add();
    mill.must({ type: 'project.configure', projectId, rules: { ...defaultRules, target: 'trunk' } });
    expect(mill.projects.get(projectId)).toMatchObject({ nextNumber: 2, rules: { target: 'trunk' } });
  });

  test('registering a known worker again records nothing, unless its role is new', () => {
    const mill = new Mill();
    const worker = { type: 'worker.register', projectId, workerId: 'agent-1', name: 'agent-1' } as const;
    expect(mill.must({ ...worker, role: 'builder' })).toEqual([]);
    expect(mill.must({ ...worker, role: 'reviewer' })).toHaveLength(1);
    expect(mill.workers.get('agent-1')?.role).toBe('reviewer');
    mill.must({ type: 'worker.remove', projectId, workerId: 'agent-1' });
    expect(mill.workers.has('agent-1')).toBe(false);
    expect(mill.must({ type: 'worker.remove', projectId, workerId: 'agent-1' })).toEqual([]);
  });
});
