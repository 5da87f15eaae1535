import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentBench } from './agent-bench.ts';
import { describeAgents, describePatientAgents, printed, RESULT, run, VARIANTS } from './agent-suite.ts';

describeAgents(VARIANTS);
describePatientAgents(VARIANTS.slice(0, 1));

describe('a command agent', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await AgentBench.open('auto');
  });
  afterAll(() => bench.close());

  it('gets the brief on standard input, marks in the environment, and no secret of ours', async () => {
    process.env.TIDEMILL_TEST_SECRET = 'hush';
    const asked = { model: 'large', tools: ['Read', 'Bash'] };
    const trial = await bench.start('command', run(`cat; env; echo '${RESULT}'`), asked);
    await trial.end;
    delete process.env.TIDEMILL_TEST_SECRET;
    const [brief = ''] = trial.output().split('\n');
    expect(JSON.parse(brief)).toMatchObject({
      protocol: 1,
      mode: 'implement',
      prompt: 'Do it, ü.',
      task: { number: 7, acceptance: [{ id: 'c1' }, { id: 'c2' }] },
      attempt: 1,
      feedback: [],
      ...asked,
    });
    expect(trial.output()).toContain(`TIDEMILL_HOME_ID=${bench.host.homeId}\n`);
    expect(trial.output()).toMatch(/TIDEMILL_RUN=run_/);
    expect(trial.output()).not.toContain('hush');
  });

  it.each([
    ['no-such-agent', 'there is no program no-such-agent on PATH'],
    ['./no-such-agent', 'repository/no-such-agent does not exist'],
    ['./agent.sh', 'agent.sh is not executable'],
  ])('fails to start with a reason when its program cannot be started: %s', async (program, says) => {
    const end = await (await bench.start('command', printed(RESULT), { command: [program] })).end;
    expect(end).toMatchObject({ kind: 'failed', failure: 'spawn', exitCode: null });
    expect(end).toHaveProperty('message', expect.stringContaining(says));
  });

  it('runs its program from the checkout, not the copy in the worktree', async () => {
    await writeFile(path.join(bench.worktree, 'agent.sh'), 'echo forged');
    const trial = await bench.start('command', run(`echo genuine; echo '${RESULT}'`));
    await trial.end;
    expect(trial.output()).toBe('genuine\n');
  });
});
