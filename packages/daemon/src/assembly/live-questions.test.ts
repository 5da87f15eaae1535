import { afterEach, beforeEach, expect, test } from 'vitest';
import { DaemonBed } from '../../../../test/support/daemon-bed.ts';
import { until } from '../../../../test/support/until.ts';

/** Its agent needs information but asks nothing, so that the catalogue asks for it. */
const CONFIG = `target: main
pipeline: quick
sandbox: "off"
untested: true
agents:
  default:
    type: command
    command: [sh, -c, 'cat > /dev/null; echo "{\\"tidemill\\":\\"result\\",\\"outcome\\":\\"needs_info\\",\\"summary\\":\\"the colour\\"}"']
`;
let bed: DaemonBed;
beforeEach(async () => {
  bed = await DaemonBed.open({ '.tidemill/config.yaml': CONFIG });
  await bed.api.attachProject({ root: bed.repository.root });
});
afterEach(() => bed.close());

const asked = async (title: string) => {
  const { api, project } = bed;
  const { number } = await api.addTask({ project, title });
  const over = new AbortController();
  for await (const { body } of api.events({ project, follow: true, types: ['question.asked'] }, over.signal)) {
    if (body.type !== 'question.asked' || !body.question.text.includes(`#${number}`)) continue;
    over.abort();
    return body.question.text;
  }
  return '';
};

test('a project’s own question file applies without a restart, and an invalid one is refused', async () => {
  const { api, project, repository } = bed;
  expect(await asked('Before')).toContain('the agent cannot continue');
  const own = (text: string) => repository.write({ '.tidemill/questions/own.yaml': text });
  const warnings = async () => (await api.config({ project })).warnings.join('\n');
  own('- trigger: missing_contxt\n  questions: [{ type: blocking, text: "x" }]\n');
  await until(async () => (await warnings()).includes('.tidemill/questions/own.yaml:1'));
  own('- trigger: missing_context\n  questions: [{ type: blocking, text: "#{number} wants {missing}" }]\n');
  await until(async () => !(await warnings()).includes('own.yaml'));
  expect(await asked('After')).toBe('#2 wants the colour');
});
