import type { Config } from '../config/schema.ts';
import { askWords, documentRecipe, recipeFile, recipeFor, resumeWords } from '../decide/handoff/recipe.ts';
import type { AgentView } from '../model/agent.ts';
import { anchored } from './look.ts';

/** By which words and file an agent would be handed over at this moment. */
export interface Plan {
  recipe: string;
  file: string;
  /** The agent can be told where its document is: a path with a blank, say, cannot be typed. */
  canBeSaid: boolean;
}

export function planFor(
  { agent, cwd }: Pick<AgentView, 'agent' | 'cwd'>,
  { handoff: policy, templates }: Config,
  atMs: number,
  taken: ReadonlySet<string>,
): Plan {
  const recipe = recipeFor(agent, policy);
  const projectDir = cwd ?? '/';
  const file = recipeFile(recipe, anchored(policy.dir), projectDir, atMs, taken);
  const place = { file, projectDir };
  const asked = askWords(
    recipe,
    { ...place, nonce: '00000000', why: 'somebody asked for it', background: [] },
    templates,
  );
  return {
    recipe: recipe?.name ?? documentRecipe,
    file,
    canBeSaid: asked.ok && resumeWords(recipe, place, templates).ok,
  };
}
