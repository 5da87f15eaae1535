import { type Api, type RouteName, routes } from '@tidemill/contract';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { type Connection, connect } from './connect.ts';
import { type CliContext, integer, type Json, jsonOption, withProject } from './context.ts';
import { flagOf, type OfferedCommand, offeredCommands } from './offered.ts';
import { oneKey } from './once.ts';
import { personName } from './person.ts';
import { linesOf } from './record-lines.ts';
import { harmless } from './terminal.ts';
import { viewOf } from './views.ts';

/** What `--help` says about a word that several of these commands share, and examples. */
const GROUP_TEXTS: Record<string, { about: string; examples: string[] }> = {
  tracker: {
    about: 'the issues or files that become tasks',
    examples: [
      'tidemill tracker',
      'tidemill tracker sync',
      'tidemill tracker items',
      'tidemill tracker take 12',
      'tidemill tracker refuse 13 --why "not part of this product"',
    ],
  },
  memory: {
    about: 'what Tidemill has learned: lessons that runs are given, with their figures',
    examples: [
      'tidemill memory',
      'tidemill memory show L7',
      'tidemill memory add "Regenerate the client after a change of the schema" --file "schema/**"',
      'tidemill memory for src/api/login.ts',
      'tidemill memory retire L7 --why "the schema is gone"',
      'tidemill memory summary',
    ],
  },
  loop: {
    about: 'the improvements that Tidemill proposes itself when the queue is low',
    examples: [
      'tidemill loop',
      'tidemill loop on',
      'tidemill loop proposals',
      'tidemill loop approve 3',
      'tidemill loop refuse 4 --why "we drop that part soon"',
      'tidemill loop score 3 8',
      'tidemill loop categories',
    ],
  },
};

/** Adds the commands of the contract that begin with this word, or all of them. */
export function addOperations(program: Command, context: CliContext, firstWord?: string): void {
  for (const offered of offeredCommands())
    if (firstWord === undefined || offered.words[0] === firstWord) addOperation(program, context, offered);
}

function addOperation(program: Command, context: CliContext, offered: OfferedCommand): void {
  const { offer, words, route } = offered;
  const parent = words.slice(0, -1).reduce(groupOf, program);
  const command = parent.command(words.at(-1)!, { isDefault: offer.isDefault ?? false }).description(offer.about);
  for (const { field, isOptional, isList } of offered.arguments) {
    const name = isList ? `${field}...` : field;
    command.argument(isOptional ? `[${name}]` : `<${name}>`, offer.options?.[field] ?? '', parserOf(route, field));
  }
  const positional = offered.arguments.map(({ field }) => field);
  const fieldOf = new Map<string, string>();
  for (const [field, text] of Object.entries(offer.options ?? {})) {
    if (positional.includes(field)) continue;
    const option = optionOf(route, field, text, offer.needs?.includes(field));
    fieldOf.set(option.attributeName(), field);
    command.addOption(option);
  }
  command.option(...jsonOption);
  withExamples(command, offer.examples ?? []);
  command.action(async (...all: unknown[]) => {
    const values = all.slice(0, offered.arguments.length);
    const { json, ...named } = command.opts<Record<string, unknown> & Json>();
    const options = Object.fromEntries(
      Object.entries(named).map(([name, value]) => [fieldOf.get(name) ?? name, value]),
    );
    const given = Object.fromEntries(
      offered.arguments.map(({ field }, index) => [field, joined(route, field, values[index])]),
    );
    await run(context, offered, defined({ ...given, ...options, ...offer.sets }), json ?? false);
  });
}

function withExamples(command: Command, examples: string[]): Command {
  const lines = examples.map((line) => `  ${line}`).join('\n');
  return examples.length === 0 ? command : command.addHelpText('after', `\nExamples:\n${lines}`);
}

function groupOf(parent: Command, word: string): Command {
  const known = parent.commands.find((each) => each.name() === word);
  if (known) return known;
  const { about = `commands about ${word}s`, examples = [] } = GROUP_TEXTS[word] ?? {};
  return withExamples(parent.command(word).description(about), examples);
}

/** Sends the request of the command, and prints its response. */
async function run(context: CliContext, { route, offer, words }: OfferedCommand, given: object, isJson: boolean) {
  const { terminal, env } = context;
  const fields = fieldsOf(route);
  const { key, retried } = oneKey();
  const options = routes[route].method === 'GET' ? {} : key;
  await retried(() =>
    connected(context, 'project' in fields, async (api, project, daemon) => {
      const by = 'by' in fields ? { by: personName(env) } : {};
      const call = api[route] as (input: object, signal: undefined, options: object) => Promise<unknown>;
      const response = await call({ ...project, ...by, ...given }, undefined, options);
      const output = offer.picks ? offer.picks(response) : response;
      if (isJson) return terminal.json(output);
      const said = offer.says && [offer.says(output)].flat().map(harmless);
      const view = said ? null : await viewOf(words);
      const lines = said ?? view?.(output as never, terminal, daemon !== null) ?? linesOf(output, terminal);
      for (const line of lines) terminal.line(line);
    }),
  );
}

type Work = (api: Api, project: { project?: string }, daemon: Connection['daemon']) => Promise<void>;

async function connected(context: CliContext, isOfProject: boolean, work: Work): Promise<void> {
  if (isOfProject) return withProject(context, (api, { id }, daemon) => work(api, { project: id }, daemon));
  const connection = await connect(context.env);
  try {
    await work(connection.api, {}, connection.daemon);
  } finally {
    await connection.close();
  }
}

interface FieldSchema {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  items?: FieldSchema;
  anyOf?: FieldSchema[];
}

const fieldsOf = (route: RouteName) => routes[route].input.shape as Record<string, z.ZodType>;

/** What the schema asks of a field, whatever its default or whether it may be null. */
function schemaOf(route: RouteName, field: string): FieldSchema {
  const type = fieldsOf(route)[field];
  if (!type) throw new Error(`the command of ${route} names ${field}, which its input does not have`);
  const schema = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as FieldSchema;
  return schema.anyOf?.find((each) => each.type !== 'null') ?? schema;
}

/** Words of one text, `memory list two words`. */
function joined(route: RouteName, field: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const isText = schemaOf(route, field).type === 'string';
  return isText ? value.join(' ') || undefined : value;
}

const isNumber = ({ type }: FieldSchema) => type === 'integer' || type === 'number';

function parserOf(route: RouteName, field: string): (text: string, before: unknown) => unknown {
  const schema = schemaOf(route, field);
  const each = schema.items ?? schema;
  const one: (text: string) => unknown = isNumber(each) ? numberIn(each) : (text) => text;
  if (schema.type !== 'array') return one;
  // A glob may contain commas.
  const parts = (text: string) => (isNumber(each) ? text.split(',') : [text]);
  return (text, before) => [...(Array.isArray(before) ? before : []), ...parts(text).map((part) => one(part))];
}

function numberIn({ type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: FieldSchema): (text: string) => number {
  if (type === 'integer') return integer(minimum, maximum);
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a number from ${minimum} to ${maximum}.`);
  };
}

function optionOf(route: RouteName, field: string, text: string, isNeeded = false): Option {
  const schema = schemaOf(route, field);
  const { flag, fixed, value, about } = flagOf(field, text);
  if (fixed !== undefined) return new Option(flag, about).preset(fixed);
  if (schema.type === 'boolean') return new Option(flag, about);
  const option = new Option(`${flag} <${value}>`, about);
  const isRequired = !fieldsOf(route)[field]!.safeParse(undefined).success;
  if (isRequired || isNeeded) option.makeOptionMandatory();
  if (schema.enum) return option.choices(schema.enum.map(String));
  return option.argParser(parserOf(route, field));
}

const defined = (values: object) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
