import { type Command, Option } from 'commander';
import type { HealthDocument } from '../../../daemon/status.ts';
import { askDaemon } from '../daemon.ts';
import { exit } from '../outcome.ts';
import { ago, type Color, print, printJson, table, withOwnTimes, wrapped } from '../output.ts';

interface HealthOptions {
  filter?: 'unhealthy';
  json?: boolean;
}

export function addHealth(program: Command): void {
  program
    .command('health')
    .summary('who is healthy, and what is wrong with the others')
    .description(
      "The health checks' verdict on one agent or on all. With --filter unhealthy it exits 1 if there is any.",
    )
    .argument('[agent]', 'its name, as `status` shows it')
    .addOption(new Option('--filter <which>', 'only these').choices(['unhealthy']))
    .option('--json', 'one JSON document')
    .action(async (name: string | undefined, options: HealthOptions) => {
      if (name !== undefined) {
        const health = await askDaemon('agent-health', { agent: name });
        if (options.json) printJson(health);
        else print(healthText([health]));
        return;
      }
      const health = await askDaemon('health', { filter: options.filter ?? null });
      const { items, findings } = health;
      if (options.json) printJson(health);
      else {
        print(items.length === 0 ? (options.filter ? 'all agents are healthy' : 'no agent yet') : healthText(items));
        for (const finding of findings) print(hostText(finding));
      }
      if (options.filter === 'unhealthy' && items.length + findings.length > 0) process.exitCode = exit.no;
    });
}

const standings = { seen: '', kept: ' (not seen now)', open: ' (not seen now)', quarantined: ' (comes and goes)' };

function findingText({ check, standing, evidence }: HealthDocument['findings'][number]): string {
  return `${check}${standings[standing]}: ${withOwnTimes(evidence[0]?.text ?? '')}`;
}

/** Of the host, or of work that has no agent. */
export function hostText({ check, evidence }: HealthDocument['findings'][number]): string {
  return wrapped(`${check}: ${withOwnTimes(evidence[0]?.text ?? '')}`);
}

export function healthText(items: HealthDocument[]): string {
  const nowMs = Date.now();
  const colors: Record<HealthDocument['status'], Color> = {
    healthy: 'green',
    warning: 'yellow',
    critical: 'red',
    unknown: 'red',
  };
  const rows = items.map((item) => [
    { text: item.agent },
    { text: item.status, color: colors[item.status] },
    { text: item.detail === null ? item.state : `${item.state}/${item.detail}` },
    { text: item.last_output === null ? '-' : `${ago(Date.parse(item.last_output), nowMs)} ago` },
    { text: item.findings.map(({ check }) => check).join(', ') || '-' },
  ]);
  const reasons = items.flatMap(({ agent, findings }) =>
    findings.map((finding) => `${agent}: ${findingText(finding)}`),
  );
  return [
    table(['AGENT', 'HEALTH', 'STATE', 'LAST OUTPUT', 'FINDINGS'], rows),
    ...reasons.map((reason) => wrapped(reason)),
  ].join('\n');
}
