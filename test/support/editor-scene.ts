/** What the walk through VS Code shows: a fleet at work, a change, two conflicts, one with a binary file. */
export const WALK_SCENE = {
  config: `workers: 2
pipeline: quick
critical: ["*.txt"]
source: ["*.txt"]
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

/** What most tests of the extension need: an agent at work that has changed a file, a question, a crash, a conflict. */
export const FLEET_SCENE = {
  isFolderSet: true,
  config: `workers: 2
pipeline: quick
budget: { dailyUsd: 50, monthlyUsd: 500 }
critical: ["*.txt"]
source: ["*.txt"]
`,
  scenario: `runs:
  - when: { task: wheel, mode: implement }
    do:
      - spend: { inputTokens: 1000, outputTokens: 2000, costUsd: 12.5 }
      - progress:
          percent: 25
          text: cutting the spokes
          todo: [ { text: measure, status: done }, { text: cut, status: active }, { text: fit, status: pending }, { text: oil, status: pending } ]
      - write: { path: src/wheel.ts, content: "export const spokes = 12;\\nexport const rim = 'oak';\\n" }
      - run: "{door wheel}"
      - result: { summary: turned }
  - when: { task: grain, mode: implement, attempt: 1 }
    do: [ { ask: { questions: [ { text: "Rye or wheat?", options: [ Rye, Wheat ] } ] } } ]
  - when: { task: boiler, mode: implement }
    do: [ { crash: { exitCode: 3 } } ]
  - when: { task: axle, mode: implement }
    do: [ { write: { path: src/axle.ts, content: "" } }, { run: "{door axle}" }, { result: { summary: oiled } } ]
  - when: { task: paint, mode: implement }
    do: [ { run: "{door paint}" }, { result: { summary: painted } } ]
  - when: { task: wall, mode: implement }
    do:
      - write: { path: wall.txt, content: "top\\nstones 12\\nmiddle\\nfloor\\n" }
      - run: "{door wall}"
      - result: { summary: raised }
default:
  implement: [ { write: { path: "src/{taskNumber}.ts", content: "export {};\\n" } }, { result: { summary: done } } ]
`,
  files: {
    'src/list.ts': '// TODO(ada): sort the list by date\nexport const list = [3, 1, 2];\n',
    'src/wheel.ts': 'export const spokes = 8;\n',
    'wall.txt': 'top\nstones 10\nmiddle\nfloor\n',
  },
};
