// The ports of the engine and the handlers, one file per noun. Import them from here.
export * from './ports/agent.ts';
export * from './ports/catalogue.ts';
export * from './ports/channel.ts';
export * from './ports/clock.ts';
export * from './ports/conflict-editor.ts';
export * from './ports/gate.ts';
export * from './ports/guard.ts';
export * from './ports/preparation.ts';
export * from './ports/process-control.ts';
export * from './ports/prompt.ts';
export * from './ports/reactor.ts';
export * from './ports/run-log.ts';
export * from './ports/session.ts';
export * from './ports/store.ts';
export * from './ports/workspace.ts';
