import type { Story } from './story.ts';

export const WIDTH = 80;

interface Place {
  root: string;
  /** Shell lines that make `tidemill` available by that name. */
  howToCall: string[];
}

/** The demo's summary: what happened, and what to look at. Lines without paths fit 80 columns. */
export function summaryLines(story: Story, place: Place, proposal: string | null): string[] {
  const { chapters, landed, gatesRun, gatesPassed } = story;
  const done = chapters.filter(({ stage }) => stage === 'done').length;
  const seconds = Math.round(story.tookMs / 1000);
  const count = (number: number) => number.toLocaleString('en-US');
  return [
    `${done} of ${chapters.length} tasks done in ${seconds} s, with up to ${story.mostAtOnce} agents building at once.`,
    '',
    ...chapterLines(story),
    '',
    `  ${landed} commits landed on main. ${gatesRun} gate runs, ${gatesRun - gatesPassed} of them failed.`,
    `  ${story.agentRuns} agent runs; as scripted ${count(story.inputTokens)} tokens in, ${count(story.outputTokens)} out, $${story.costUsd.toFixed(2)}.`,
    ...(proposal === null ? [] : ['', `Next, if you say yes: ${proposal}`, '  tidemill loop approve 1']),
    '',
    'Where to look',
    ...wayTo(place),
    ...table(lookAt(story).map(([command, what]) => [`  ${command}`, what])),
  ];
}

export function interruptedLines(place: Place): string[] {
  return ['Stopped early. Work is kept. To continue:', ...wayTo(place), '  tidemill up'];
}

const wayTo = ({ howToCall, root }: Place) => [...howToCall, `cd ${quoted(root)}`].map((line) => `  ${line}`);

function chapterLines({ chapters }: Story): string[] {
  const rows = chapters.flatMap(({ number, title, happened }) =>
    happened.map((text, index): [string, string] => [index === 0 ? `  #${number}  ${title}` : '', text]),
  );
  const right = Math.min(40, Math.max(...rows.map(([, text]) => text.length)));
  const left = WIDTH - right - 2;
  return rows.map(([name, text]) => `${fit(name, left).padEnd(left)}  ${fit(text, right)}`);
}

function lookAt({ chapters }: Story): [command: string, what: string][] {
  const eventful = chapters.find(({ happened }) => happened.some((text) => text.startsWith('conflict'))) ?? chapters[0];
  return [
    ['node bin/almanac.mjs mill', 'what the agents have built'],
    ['git log', 'one commit per task, with its evidence'],
    ...(eventful
      ? [[`tidemill task show ${eventful.number}`, 'every run and gate of a task'] as [string, string]]
      : []),
    ['tidemill evidence verify HEAD', 'the newest commit against the receipts'],
    ['tidemill events', 'everything that happened, in order'],
    ['tidemill doctor', 'checks git, store, log and evidence'],
  ];
}

function table(rows: [string, string][]): string[] {
  const left = Math.max(...rows.map(([name]) => name.length)) + 3;
  return rows.map(([name, text]) => name.padEnd(left) + text);
}

export const fit = (text: string, width: number) => {
  const line = text.replace(/\s+/g, (space) => (space.includes('\n') ? ' ' : space));
  return line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`;
};

/** Quoted for a shell. */
export const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
