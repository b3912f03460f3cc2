import { shown } from '../model/text.ts';
import { type ConformanceResult, readResults } from '../watch/conformance-results.ts';

interface Check {
  ok: boolean;
  detail: string;
  fix: string | null;
}

/** Which versions of a client were tried, which signals are off for them, and which run untried. */
export function checkConformance(dir: string, running: readonly { client: string; version: string | null }[]): Check {
  const runs = (result: ConformanceResult) =>
    running.some(({ client, version }) => client === result.client && version === result.client_version);
  const results = readResults(dir).sort((a, b) => (a.at < b.at ? 1 : -1));
  const tried = results.slice(0, shownMax).map(describe);
  if (results.length > shownMax) tried.push(`and ${results.length - shownMax} more`);
  const known = new Set(results.map(({ client, client_version }) => `${client} ${client_version}`));
  const untried = new Set(
    running.flatMap(({ client, version }) =>
      version === null || known.has(`${client} ${version}`) ? [] : [shown(`${client} ${version}`, 60)],
    ),
  );
  const never = [...untried].map((version) => `${version} runs and was never tried: run \`watchkeeper conformance\``);
  const told = [...tried, ...never];
  const detail =
    told.length === 0 ? 'never run: `watchkeeper conformance` tries the installed client' : told.join('; ');
  const degraded = results.some((result) => runs(result) && offSignals(result).length > 0);
  return degraded
    ? {
        ok: false,
        detail,
        fix: 'states come from the other signals; run `watchkeeper conformance` again after an update',
      }
    : { ok: true, detail, fix: null };
}

const shownMax = 5;

function offSignals({ signals }: ConformanceResult): string[] {
  return signals.flatMap(({ source, off }) => off.map((fact) => shown(`${source} ${fact}`, 40)));
}

function describe(result: ConformanceResult): string {
  const off = offSignals(result);
  const found = off.length === 0 ? 'all signals hold' : `${off.join(', ')} off`;
  return shown(`${result.client} ${result.client_version}: ${found} (${String(result.at).slice(0, 10)})`, 200);
}
