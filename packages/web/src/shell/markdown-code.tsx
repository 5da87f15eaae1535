import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { Fragment, type ReactNode, useMemo } from 'react';

// Each language brings its usual other names: ts, tsx, js, sh, html, toml, yml.
const languages = { bash, css, diff, go, ini, java, javascript, json, python, rust, sql, typescript, xml, yaml };
const lowlight = createLowlight(languages);
/** Longer code is shown in one colour. */
const MOST = 20_000;

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** Code in colours, if its language is known here. */
export default function Highlighted({ text, language }: { text: string; language: string }) {
  return useMemo(
    () =>
      text.length <= MOST && lowlight.registered(language) ? drawn(lowlight.highlight(language, text).children) : text,
    [text, language],
  );
}

const drawn = (nodes: Node[]): ReactNode => nodes.map((node, index) => <Fragment key={index}>{word(node)}</Fragment>);

function word(node: Node): ReactNode {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return null;
  const names = node.properties.className;
  return <span className={Array.isArray(names) ? names.join(' ') : undefined}>{drawn(node.children as Node[])}</span>;
}
