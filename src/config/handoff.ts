import { z } from 'zod';
import { documentRecipe, type Recipe, whyBadWords } from '../decide/handoff/recipe.ts';
import { amount, isAnchoredPath, isInsidePath, list, minutesMax, oneOf, percent, section, text } from './fields.ts';

// How a full context is handed over to a fresh one.

const dirError = 'a path inside the project (relative, without ..), an absolute path or one that starts with ~/';
const fileError = 'a path inside the project (relative, without ..), where * stands for any characters of one name';
const nameError = 'a name of 1 to 64 letters, digits, dots, dashes or underscores';

function name() {
  return z.string({ error: nameError }).regex(/^[A-Za-z0-9._-]{1,64}$/, { error: nameError });
}

function words(kind: 'ask' | 'resume') {
  const error = 'one line: a prompt, or a command of your own that starts with /';
  return text(error).superRefine((value, context) => {
    const reason = whyBadWords(value, kind);
    if (reason !== null) context.addIssue({ code: 'custom', message: reason });
  });
}

const recipe = section({
  name: name()
    .refine((value) => value !== documentRecipe, { error: `another name than ${documentRecipe}, which is built in` })
    .describe('The name under which `recipe` and the record know it.'),
  match: text('an agent name, where * stands for any characters and ? for one')
    .max(200, { error: 'an agent name or pattern of at most 200 characters' })
    .optional()
    .describe('The agents that hand over by it, whatever `recipe` says; * stands for any characters and ? for one.'),
  atPercent: percent().optional().describe('The context usage from which these agents are handed over.'),
  ask: words('ask').describe(
    'Asks for the handoff: a prompt, with {file}, {nonce}, {why} and {background} as needed, or a slash command.',
  ),
  file: text(fileError)
    .refine((value) => isInsidePath(value) && !value.endsWith('/') && !value.includes('**'), { error: fileError })
    .describe('Where the file is then; where * fits several, the newest counts.'),
  resume: words('resume').describe(
    'Resumes in the fresh context: a prompt, with {file} as needed, or a slash command.',
  ),
});

const waitError = `true, false or a number of minutes greater than 0 and at most ${minutesMax}`;

export const handoff = section({
  atPercent: percent().default(85).describe('The context usage from which an agent is handed over to a fresh context.'),
  deadlineMinutes: amount(minutesMax).default(5).describe('How long an agent has to write its handoff.'),
  dir: text(dirError)
    .refine((value) => isInsidePath(value) || isAnchoredPath(value), { error: dirError })
    .default('.watchkeeper/handoffs')
    .describe("Where handoff files are written; a relative path is inside the agent's project."),
  maxParallel: z
    .int({ error: 'a whole number from 1 to 100' })
    .min(1, { error: 'a whole number from 1 to 100' })
    .max(100, { error: 'a whole number from 1 to 100' })
    .default(2)
    .describe('How many handoffs may run at the same time.'),
  compaction: oneOf(['forestall', 'leave'])
    .default('forestall')
    .describe(
      'Whether an agent is handed over before its client compacts the context by itself (forestall), or the client is left to do it (leave).',
    ),
  waitForBackground: z
    .union([z.boolean(), z.number().gt(0).lte(minutesMax)], { error: waitError })
    .default(true)
    .describe(
      'Whether a handoff waits for background work to end: true until its deadline, a number for so many minutes.',
    ),
  recipe: name().default(documentRecipe).describe('How agents hand over: document, or the name of one of `recipes`.'),
  recipes: list(recipe, 'recipes, each with name, ask, file and resume')
    .default([])
    .describe('Other ways to hand over: which words ask for it, where the file is, and which words resume.'),
})
  .superRefine(({ recipe: chosen, recipes }, context) => {
    const names = recipes.map((one: Recipe) => one.name);
    const twice = names.findIndex((one, index) => names.indexOf(one) !== index);
    if (twice !== -1)
      context.addIssue({ code: 'custom', path: ['recipes', twice, 'name'], message: 'a name no other recipe has' });
    if (chosen !== documentRecipe && !names.includes(chosen))
      context.addIssue({
        code: 'custom',
        path: ['recipe'],
        message: `one of: ${[documentRecipe, ...names].join(', ')}`,
      });
  })
  .prefault({})
  .describe('How a full context is handed over to a fresh one.');
