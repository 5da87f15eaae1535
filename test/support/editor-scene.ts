/** What the walk through VS Code shows: a fleet at work, a question, a change, two conflicts, one with a binary file. */
export const SCENE = {
  config: `workers: 2
pipeline: quick
critical: ["*.txt"]
gates:
  - { name: no-markers, run: "! grep -n '^<<<<<<<' *.txt" }
`,
  scenario: `runs:
  - when: { task: wheel, mode: implement }
    do:
      - progress: { percent: 40, text: cutting the spokes }
      - say: { text: "turning the wheel" }
      - write: { path: src/wheel.ts, content: "export const spokes = 12;\\nexport const rim = 'oak';\\n" }
      - write: { path: src/axle.ts, content: "export const axle = 'iron';\\n" }
      - run: "{door wheel}"
      - result: { summary: turned }
  - when: { task: grain, mode: implement, attempt: 1 }
    do: [ { ask: { questions: [ { text: "Rye or wheat?", options: [ Rye, Wheat ] } ] } } ]
  - when: { task: wall, mode: implement }
    do:
      - write: { path: wall.txt, content: "top\\nstones 12\\nmiddle\\nfloor\\n" }
      - write: { path: arms.txt, content: "lion\\0" }
      - run: "{door conflict}"
      - result: { summary: raised }
  - when: { task: floor, mode: implement, attempt: 1 }
    do:
      - write: { path: floor.txt, content: "oak\\n" }
      - run: "{door conflict}"
      - result: { summary: laid }
  - when: { task: boiler, mode: implement }
    do: [ { run: "{door boiler}" }, { result: { summary: heated } } ]
default:
  implement:
    - append: { path: "floor.txt", content: "and more\\n" }
    - result: { summary: done }
`,
  files: {
    'wall.txt': 'top\nstones 10\nmiddle\nfloor\n',
    'floor.txt': 'clay\n',
    'arms.txt': 'eagle\0',
    'src/wheel.ts': 'export const spokes = 8;\n',
  },
};
