import { trendChecks } from '../detect/checks.ts';
import { covers, type Judged } from './score.ts';

/** Nobody has labelled trends: where they were raised is all that can be said of them. */
export interface TrendFigures {
  name: string;
  raised: number;
  /** In a stretch labelled as trouble of any kind. */
  in_trouble: number;
  /** In what a healthy label covers. */
  in_healthy: number;
}

export function trendFigures(judged: readonly Judged[]): TrendFigures[] {
  return trendChecks.map(({ name }) => {
    const figures: TrendFigures = { name, raised: 0, in_trouble: 0, in_healthy: 0 };
    for (const { run, trends } of judged) {
      for (const alarm of trends.filter(({ check }) => check === name)) {
        const labels = run.labels.filter((label) => covers(label, alarm));
        figures.raised += 1;
        if (labels.some(({ label }) => label !== 'healthy')) figures.in_trouble += 1;
        else if (labels.length > 0) figures.in_healthy += 1;
      }
    }
    return figures;
  });
}

export function trendMarkdown(figures: readonly TrendFigures[]): string[] {
  return [
    '## Trends',
    '',
    'No run is labelled for these, so they have no precision. Each compares a run with its own past; they are shown and',
    'recorded, never acted on. Where they were raised:',
    '',
    '| check | raised | within a labelled trouble | in healthy work | where nobody looked |',
    '|---|---|---|---|---|',
    ...figures.map(
      ({ name, raised, in_trouble, in_healthy }) =>
        `| ${name} | ${raised} | ${in_trouble} | ${in_healthy} | ${raised - in_trouble - in_healthy} |`,
    ),
    '',
  ];
}
