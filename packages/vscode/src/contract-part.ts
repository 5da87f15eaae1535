// Everything that needs values of the contract. It is bundled as a file of its own, which is loaded when something is shown:
// the schemas take longer to load than the rest of the extension. Other modules import only types of the contract.

export { lossText, plainName, plainText } from '@tidemill/contract';
export { evidenceText } from './changes/evidence-text.ts';
export { outputFrom } from './changes/run-output.ts';
export { Follower } from './connection/follower.ts';
export { KNOWN } from './settings/known.ts';
export { groupsOf, menuOf, noteOf } from './tasks/groups.ts';
