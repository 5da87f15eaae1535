import type { Handlers } from '../handler.ts';
import { approve, edit, importDraft, reject, request, resume, revise, stop } from './change.ts';
import { diff, list, show } from './view.ts';

export const specHandlers: Handlers<'specs'> = {
  specs: list,
  newSpec: request,
  importSpec: importDraft,
  spec: show,
  specDiff: diff,
  editSpec: edit,
  approveSpec: approve,
  reviseSpec: revise,
  rejectSpec: reject,
  stopSpec: stop,
  resumeSpec: resume,
};
