import type { Scenario } from '../clients/scenario.ts';
import type { Watching } from '../clients/watching.ts';
import type { PromptReport } from './prompt-report.ts';
export async function refuseEverywhere(_s: Scenario, _w: Watching, _r: PromptReport) {}
