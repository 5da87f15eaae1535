import { INSTRUCTION_FILES, type InstructionFile, LessonKind, LessonStage, SpecAction } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { type CliContext, collect, integer, type Json, jsonOption, withProject } from './context.ts';
import { knowledgeLines, lessonDetailLines, lessonLines, reflectionLines, summaryLines } from './memory-view.ts';
import { personName } from './person.ts';

interface Fields {
  file?: string[];
  topic?: string[];
  action?: SpecAction;
  why?: string;
  allProjects?: boolean;
}

/** Commands about what was learned. */
export function addMemory(program: Command, context: CliContext): void {
  const { terminal } = context;
  const write = (lines: string[]) => {
    for (const line of lines) terminal.line(line);
  };
  const memory = program
    .command('memory')
    .description('what Tidemill has learned: lessons that runs are given, with their figures')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill memory\n  tidemill memory show L7\n  tidemill memory add "Regenerate the client after a change of the schema" --file "schema/**"\n  tidemill memory for src/api/login.ts\n  tidemill memory retire L7 --why "the schema is gone"\n  tidemill memory summary',
    );
  memory
    .command('list', { isDefault: true })
    .argument('[words...]', 'only lessons with all of these words')
    .description('list lessons, the most certain first')
    .addOption(new Option('--stage <stage>', 'only lessons in this stage').choices(LessonStage.options))
    .addOption(new Option('--kind <kind>', 'only lessons of this kind').choices(LessonKind.options))
    .option('--unused', 'only lessons that were not handed out for 90 days')
    .option('--all', 'retired and superseded ones too')
    .option(...jsonOption)
    .action(
      (words: string[], options: Json & { stage?: LessonStage; kind?: LessonKind; unused?: boolean; all?: boolean }) =>
        withProject(context, async (api, project) => {
          const { stage, kind, unused = false, all = false } = options;
          const found = await api.lessons({
            project: project.id,
            unused,
            all,
            limit: 1000,
            ...(stage ? { stage } : {}),
            ...(kind ? { kind } : {}),
            ...(words.length > 0 ? { words: words.join(' ') } : {}),
          });
          if (options.json) return terminal.json(found);
          write(found.length === 0 ? ['There are no lessons.'] : found.flatMap((each) => lessonLines(each, terminal)));
        }),
    );
  memory
    .command('show <lesson>')
    .description('show a lesson, where it comes from and where it was used')
    .option(...jsonOption)
    .action((lesson: string, options: Json) =>
      withProject(context, async (api, project) => {
        const found = await api.lesson({ project: project.id, lesson });
        if (options.json) terminal.json(found);
        else write(lessonDetailLines(found, terminal));
      }),
    );
  memory
    .command('for')
    .argument('[files...]', 'paths or globs')
    .description('show what an agent would be told about some files')
    .addOption(new Option('--action <action>', 'what happens to the files').choices(SpecAction.options))
    .option('--topic <topic>', 'a topic; may be repeated', collect)
    .option(...jsonOption)
    .action((files: string[], options: Json & Pick<Fields, 'action' | 'topic'>) =>
      withProject(context, async (api, project) => {
        const { action, topic = [] } = options;
        const asked = { project: project.id, files, topics: topic, limit: 5, tokens: 1_000 };
        const answer = await api.knowledgeFor(action ? { ...asked, action } : asked);
        if (options.json) terminal.json(answer);
        else write(knowledgeLines(answer, terminal));
      }),
    );
  memory
    .command('summary')
    .description('show what was learned within the last 7 days')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const summary = await api.memorySummary({ project: project.id });
        if (options.json) terminal.json(summary);
        else write(summaryLines(summary, terminal));
      }),
    );
  addChanges(memory, context);
}

const withFields = (command: Command): Command =>
  command
    .option('--why <reason>', 'what happens otherwise')
    .option('--file <glob>', 'files it is about; may be repeated', collect)
    .option('--topic <topic>', 'a topic it is about; may be repeated', collect)
    .addOption(new Option('--action <action>', 'what happens to the files').choices(SpecAction.options));

function addChanges(memory: Command, context: CliContext): void {
  const { terminal } = context;
  withFields(memory.command('add <text>'))
    .description('record a lesson; one that says the same is confirmed instead')
    .addOption(new Option('--kind <kind>', 'what it is').choices(LessonKind.options).default('gotcha'))
    .option('--all-projects', 'it is useful in other repositories too')
    .option(...jsonOption)
    .action((text: string, options: Json & Fields & { kind: LessonKind }) =>
      withProject(context, async (api, project) => {
        const { kind, why = '', file = [], topic = [], action = null, allProjects = false } = options;
        const lesson = await api.addLesson({
          project: project.id,
          by: personName(context.env),
          kind,
          text,
          why,
          filePatterns: file,
          topics: topic,
          action,
          scope: allProjects ? 'all' : 'project',
        });
        if (options.json) return terminal.json(lesson);
        const { number, occurrences } = lesson;
        terminal.line(
          occurrences > 1 ? `L${number} says the same, and is confirmed.` : `Lesson L${number} is recorded.`,
        );
      }),
    );
  withFields(memory.command('edit <lesson>'))
    .description('change a lesson; with another text its figures begin again')
    .option('--text <text>', 'its new text')
    .option(...jsonOption)
    .action((lesson: string, options: Json & Fields & { text?: string }) =>
      withProject(context, async (api, project) => {
        const { text, why, file, topic, action } = options;
        const changed = await api.editLesson({
          project: project.id,
          lesson,
          by: personName(context.env),
          ...(text === undefined ? {} : { text }),
          ...(why === undefined ? {} : { why }),
          ...(file === undefined ? {} : { filePatterns: file }),
          ...(topic === undefined ? {} : { topics: topic }),
          ...(action === undefined ? {} : { action }),
        });
        if (options.json) terminal.json(changed);
        else terminal.line(`Lesson L${changed.number} is now version ${changed.version}.`);
      }),
    );
  memory
    .command('retire <lesson>')
    .description('retire a lesson: no run is given it any more')
    .requiredOption('--why <reason>', 'the reason')
    .option(...jsonOption)
    .action((lesson: string, options: Json & { why: string }) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const retired = await api.retireLesson({ project: project.id, lesson, why: options.why, by });
        if (options.json) terminal.json(retired);
        else terminal.line(`Lesson L${retired.number} is retired.`);
      }),
    );
  memory
    .command('restore <lesson>')
    .description('bring a retired lesson back as an experiment')
    .option(...jsonOption)
    .action((lesson: string, options: Json) =>
      withProject(context, async (api, project) => {
        const restored = await api.restoreLesson({ project: project.id, lesson, by: personName(context.env) });
        if (options.json) terminal.json(restored);
        else terminal.line(`Lesson L${restored.number} is an experiment again.`);
      }),
    );
  memory
    .command('reflections')
    .description('show what went otherwise than planned, which assumption failed, and what came of it')
    .option('--limit <number>', 'how many (default: 50)', integer(1, 1000))
    .option(...jsonOption)
    .action((options: Json & { limit?: number }) =>
      withProject(context, async (api, project) => {
        const found = await api.reflections({ project: project.id, limit: options.limit });
        if (options.json) return terminal.json(found);
        if (found.length === 0)
          terminal.line('There are no reflections. `learning.reflection` in the config switches them on.');
        for (const line of found.flatMap((reflection) => reflectionLines(reflection, terminal))) terminal.line(line);
      }),
    );
  memory
    .command('promote <lesson>')
    .description('add a lesson in production to AGENTS.md, by a task with its diff')
    .addOption(new Option('--file <file>', 'which file').choices(INSTRUCTION_FILES).default('AGENTS.md'))
    .option(...jsonOption)
    .action((lesson: string, options: Json & { file: InstructionFile }) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const promoted = await api.promoteLesson({ project: project.id, lesson, file: options.file, by });
        if (options.json) terminal.json(promoted);
        else terminal.line(`#${promoted.task.number} adds L${promoted.lesson} to ${promoted.file}.`);
      }),
    );
}
