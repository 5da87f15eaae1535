import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConfigProblem, Pipeline } from '@tidemill/contract';
import { builtinPipelines, checkPipeline } from '@tidemill/core';
import { BadFile, YamlFile } from './document.ts';

const PIPELINE_FOLDER = '.tidemill/pipelines';

/** The built-in pipelines and the project's own, which may replace a built-in one by name. */
export async function loadPipelines(
  root: string,
  gates: string[],
): Promise<{ pipelines: Record<string, Pipeline>; problems: ConfigProblem[] }> {
  const folder = join(root, PIPELINE_FOLDER);
  const names = existsSync(folder) ? (await readdir(folder)).filter((name) => /\.ya?ml$/.test(name)).sort() : [];
  const pipelines = { ...builtinPipelines };
  const problems: ConfigProblem[] = [];
  const files = new Map<string, string>();
  for (const name of names) {
    try {
      const file = new YamlFile(`${PIPELINE_FOLDER}/${name}`, await readFile(join(folder, name), 'utf8'));
      const pipeline = file.parse(Pipeline);
      file.refuse(checkPipeline(pipeline, gates));
      const other = files.get(pipeline.name);
      if (other)
        file.refuse([{ path: ['name'], message: `the pipeline "${pipeline.name}" is also defined in ${other}` }]);
      files.set(pipeline.name, name);
      pipelines[pipeline.name] = pipeline;
    } catch (error) {
      if (!(error instanceof BadFile)) throw error;
      // The line number is of that file, not of the config.
      problems.push(...error.message.split('\n').map((message) => ({ line: null, message })));
    }
  }
  return { pipelines, problems };
}
