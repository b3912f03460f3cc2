export function cost(
  argv: string[],
  env: Record<string, string>,
): Promise<{ cpuS: number; wallS: number; peakMb: number }>;
