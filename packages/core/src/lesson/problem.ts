import { type Actor, type LessonDraft, type LessonFault, withoutSecrets } from '@tidemill/contract';
import { wordsOf } from '../similarity/words.ts';

const CHECKS =
  '(?:tests?|test suites?|specs?|lint(?:er|ing|s)?|gates?|checks?|type ?checks?|type ?checking|assertions?|coverage|reviews?|reviewers?|hooks?|guards?|validation|verification|ci|pipelines?)';
const NEGATION = /\b(?:never|not|don'?t|doesn'?t|mustn'?t|cannot|avoid|stop|forbidden|nobody|refrain)\b|n't\b/i;

/** Ways to say that a check may be left out. Each is fine when it is said of what to avoid. */
const WEAKENING = [
  new RegExp(
    `\\b(?:skip(?:s|ping)?|bypass(?:es|ing)?|disabl(?:e|es|ing)|ignor(?:e|es|ing)|omit(?:s|ting)?|suppress(?:es|ing)?|silenc(?:e|es|ing)|turn(?:ing)? off|switch(?:ing)? off|comment(?:ing)? out|delet(?:e|es|ing)|weaken(?:s|ing)?|loosen(?:s|ing)?|relax(?:es|ing)?|circumvent(?:s|ing)?|without (?:running|waiting for)?)\\b[^.;\\n]{0,40}\\b${CHECKS}\\b`,
    'i',
  ),
  new RegExp(
    `\\b${CHECKS}\\b[^.;\\n]{0,30}\\b(?:skipped|ignored|disabled|bypassed|omitted|optional|unnecessary|unneeded|superfluous)\\b`,
    'i',
  ),
  /--no-verify\b|\beslint-disable|@ts-(?:ignore|nocheck|expect-error)\b|\bbiome-ignore\b|#\s*noqa\b|\b(?:it|test|describe)\.(?:skip|only)\b|\bxfail\b|\|\|\s*true\b|--passWithNoTests\b/i,
  /\b(?:always|just|simply|blindly) (?:approve|accept|pass)\b|\bapprove (?:it|them|everything|anything|all|without)\b/i,
  /\bmark(?:ed|ing)?\b[^.;\n]{0,30}\b(?:done|passed|passing|tested|complete|verified)\b[^.;\n]{0,30}\b(?:without|even|although|anyway|regardless)\b/i,
  /(?:\b(?:edit|change|overwrite|modify|remove|delete|write to)\b[^.;\n]{0,40})\.tidemill\b/i,
];
/** The same, where a negation belongs to it. */
const WEAKENING_AS_SAID = [
  new RegExp(`\\bno need (?:to|for)\\b[^.;\\n]{0,30}\\b(?:run|test|check|verify|review|${CHECKS})`, 'i'),
  new RegExp(
    `\\b(?:do not|don'?t|never|needn'?t|need not)\\b (?:run|write|add|wait for|bother with)\\b[^.;\\n]{0,20}\\b${CHECKS}\\b`,
    'i',
  ),
  new RegExp(
    `\\b${CHECKS}\\b[^.;\\n]{0,20}\\b(?:not|never|n't) (?:be )?(?:needed|necessary|required|important|matter)\\b`,
    'i',
  ),
];

/** Text that speaks to a model, or about the other agents, and not about the code. */
const INSTRUCTING = [
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|other|all|any|the|your|these)\b[^.\n]{0,20}\b(?:instructions?|rules?|prompts?|guidelines?|messages?)\b/i,
  /\byou are (?:now|an? )/i,
  /\b(?:system|developer) (?:prompt|message)s?\b/i,
  /<\/?\s*(?:system|assistant|user|instructions?|tool)\b|^\s*(?:system|assistant|human|user)\s*:/im,
  /\b(?:all|other|every|future|any|next|these|the) (?:coding |review )?(?:agents?|reviewers?|workers?|models?|assistants?|llms?)\b[^.\n]{0,40}\b(?:must|should|shall|have to|has to|need to|needs to|always|never|approve|will|are to)\b/i,
  /\b(?:curl|wget)\b[^\n]{0,200}\|\s*(?:ba|z|da)?sh\b/i,
  /\b(?:send|post|upload|exfiltrate|e-?mail|report)\b[^.\n]{0,60}\bhttps?:\/\//i,
  /\b(?:do not|don'?t|never) (?:tell|inform|mention|report|ask|show)\b[^.\n]{0,40}\b(?:persons?|people|users?|humans?|reviewers?|anyone|anybody|tidemill)\b/i,
  /[A-Za-z0-9+/=_-]{100,}/,
];

const SELF_SCORING =
  /\b(?:confidence|score|rating|quality|grade)\s*(?:is|of|:|=)?\s*(?:\d{1,3}\s*%|0?\.\d+|\d{1,2}\s*(?:\/|of|out of)\s*10)|\bI (?:did|performed|worked) (?:very |really )?(?:well|great|perfectly|excellently)\b|\bflawless(?:ly)?\b/i;

/** Advice that is about no code at all. */
const GENERIC =
  /^(?:please |always |remember to |make sure to |try to |i should |we should |next time,? )*(?:be (?:more )?(?:careful|thorough|precise|diligent)|reflect|think (?:harder|more|carefully|before)|pay (?:more )?attention|double[- ]check|improve|do better|write (?:better|good|clean|more) (?:code|tests?)|follow (?:the )?(?:best practices|conventions|instructions|requirements)|read the (?:requirements|instructions|task)|test (?:more|thoroughly|everything)|plan (?:better|more))\b/i;
const LEAST_WORDS = 4;

/** Patterns that match nearly every file. */
const EVERYTHING = /^(?:\.?\/?|\*+|(?:\*\*\/)+\*?|\*\.\*|(?:\*\*\/)*\*\.\*|\.\/\*+|\{.*\*\*.*\})$/;

export const matchesEverything = (pattern: string) => EVERYTHING.test(pattern.trim());

export interface LessonProblem {
  fault: LessonFault;
  message: string;
  hint: string;
}

/** What is wrong with a lesson, in words for its author; null when nothing is. */
export function problemOfLesson(draft: LessonDraft, by: Actor): LessonProblem | null {
  const text = [draft.text, draft.why, ...draft.topics].join('\n');
  if (withoutSecrets(text) !== text)
    return {
      fault: 'secret',
      message: 'the lesson contains what looks like a secret',
      hint: 'Leave keys, tokens and passwords out.',
    };
  const weak = weakening(text);
  if (weak !== null)
    return {
      fault: 'weakens',
      message: `the lesson says that a check may be left out: "${weak}"`,
      hint: 'Gates run whatever a lesson says. Say how to pass them; only a person changes them, in .tidemill/config.yaml.',
    };
  const instruction = firstOf(INSTRUCTING, text);
  if (instruction !== null)
    return {
      fault: 'instructs',
      message: `the lesson gives instructions to agents instead of saying something about the code: "${instruction}"`,
      hint: 'Describe what goes wrong in which files, and how to do it right.',
    };
  if (SELF_SCORING.test(text))
    return {
      fault: 'graded',
      message: 'the lesson grades itself or its author',
      hint: 'Tidemill measures whether it helps. Leave scores and confidences out.',
    };
  const broad = draft.filePatterns.find(matchesEverything);
  if (broad !== undefined)
    return {
      fault: 'broad',
      message: `the file pattern ${broad} matches everything`,
      hint: 'Name the files it is about, such as src/api/** or *.sql; leave the patterns out if it is about no files.',
    };
  return by.kind === 'agent' ? problemOfAgentsLesson(draft) : null;
}

/** Whether a text must not reach an agent, no matter who wrote it. */
export const isUnfit = (text: string): boolean =>
  withoutSecrets(text) !== text || weakening(text) !== null || firstOf(INSTRUCTING, text) !== null;

/** A person may say something general. An agent must have seen it somewhere. */
function problemOfAgentsLesson({ text, filePatterns, topics }: LessonDraft): LessonProblem | null {
  if (GENERIC.test(text.trim()) || new Set(wordsOf(text)).size < LEAST_WORDS)
    return {
      fault: 'generic',
      message: 'the lesson is too general to be of use',
      hint: 'Name the function, file, command or value that it is about, and what happens.',
    };
  if (filePatterns.length === 0 && topics.length === 0)
    return {
      fault: 'broad',
      message: 'the lesson fits every task',
      hint: 'Say which files (filePatterns) or topics it is about.',
    };
  return null;
}

function weakening(text: string): string | null {
  const said = firstOf(WEAKENING_AS_SAID, text);
  if (said !== null) return said;
  for (const pattern of WEAKENING)
    for (const match of text.matchAll(new RegExp(pattern.source, 'gi'))) {
      const sentence =
        text
          .slice(0, match.index)
          .split(/[.;\n]/)
          .at(-1) ?? '';
      if (!NEGATION.test(sentence) && !/\b(?:never|not)\b/i.test(match[0])) return match[0];
    }
  return null;
}

function firstOf(patterns: readonly RegExp[], text: string): string | null {
  for (const pattern of patterns) {
    const match = pattern.exec(text);
    if (match) return match[0].slice(0, 80);
  }
  return null;
}
