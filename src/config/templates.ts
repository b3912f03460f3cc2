import type { z } from 'zod';
import { checkTemplates, defaultTemplates, type TemplateKey } from '../decide/templates.ts';
import { section, text } from './fields.ts';

const templateTexts = defaultTemplates();

function template(key: TemplateKey, description: string) {
  return text('one line of text').default(templateTexts[key]).describe(description);
}

export const templates = section({
  spawnUpdate: template('spawnUpdate', 'Asks for the status of background work.'),
  spawnStalled: template(
    'spawnStalled',
    'Says that background work {task} has written nothing to {output} for {minutes} minutes.',
  ),
  spawnFailed: template(
    'spawnFailed',
    'Says that background work {task} has failed with {error}, its output in {output}.',
  ),
  spawnAbandoned: template(
    'spawnAbandoned',
    'Says that background work {task} counts as abandoned after {minutes} minutes without a sign, its output in {output}.',
  ),
  contextCheck: template('contextCheck', 'Asks for the usage of the context window.'),
  highContext: template('highContext', 'Says that the context window is {percent} percent full.'),
  handoff: template(
    'handoff',
    'Asks for a handoff document in {file} that holds {nonce}, and says {why} and which {background} work runs.',
  ),
  handoffAgain: template('handoffAgain', 'Sends a handoff document in {file} back, with its {problems} and {nonce}.'),
  handoffResume: template('handoffResume', 'Asks a fresh context to resume the work from the handoff in {file}.'),
  continue: template('continue', 'Asks to go on after a turn that ended with {error}.'),
  stalled: template('stalled', 'Asks what holds up work that has not moved for {minutes} minutes while {activity}.'),
} satisfies Record<TemplateKey, z.ZodType>)
  .superRefine((texts, context) => {
    for (const { key, reason } of checkTemplates(texts)) {
      context.addIssue({ code: 'custom', path: [key], message: reason });
    }
  })
  .prefault({})
  .describe('The words of the prompts that rules send, with evidence in the slots that each of them names.');
