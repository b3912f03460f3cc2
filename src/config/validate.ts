import type { z } from 'zod';
import { excerpt } from './excerpt.ts';
import { nearestKey } from './nearest-key.ts';
import { configSchema, type FileConfig } from './schema.ts';
import { formatPath, type KeyPath, type YamlProblem, type YamlValue } from './yaml.ts';

export interface Validated {
  /** null when something is wrong. */
  config: FileConfig | null;
  problems: YamlProblem[];
}

export function validate(yaml: YamlValue): Validated {
  // An empty file says nothing, so everything has its default.
  const parsed = configSchema.safeParse(yaml.value ?? {});
  if (parsed.success) return { config: parsed.data, problems: [] };
  return { config: null, problems: parsed.error.issues.flatMap((issue) => explain(issue, yaml)) };
}

function explain(issue: z.core.$ZodIssue, yaml: YamlValue): YamlProblem[] {
  const path = keyPath(issue.path);
  const key = path.length === 0 ? null : formatPath(path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((unknown) => {
      const near = nearestKey(unknown, issue.message.split(', '));
      const meant = near === null ? 'allowed' : `did you mean \`${near}\`? Allowed`;
      const text = `unknown key \`${excerpt(unknown)}\`: ${meant}: ${issue.message}`;
      return { ...yaml.keyAt([...path, unknown]), key, text };
    });
  }
  const found = valueAt(yaml.value, path);
  const text =
    found === undefined
      ? `missing: ${issue.message}`
      : `${describeFound(found, path)} is not allowed: ${issue.message}`;
  return [{ ...yaml.valueAt(path), key, text }];
}

/** What stands in the file, in a few words. A value that may be a secret by mistake is not repeated. */
export function describeFound(found: unknown, path: KeyPath): string {
  if (found === null) return 'an empty value';
  if (Array.isArray(found) && path.length === 0) return 'a list at the top';
  if (Array.isArray(found) && found.every((item) => typeof item === 'number')) return excerpt(JSON.stringify(found));
  if (Array.isArray(found)) return 'this list';
  if (typeof found === 'object') return 'this mapping';
  if (path[0] === 'notify' && /^(url|.*Env)$/.test(String(path.at(-1)))) return 'this value';
  return typeof found === 'string' ? `"${excerpt(found)}"` : excerpt(String(found));
}

export function valueAt(value: unknown, path: KeyPath): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, part)) return undefined;
    current = (current as Record<string | number, unknown>)[part];
  }
  return current;
}

function keyPath(path: readonly PropertyKey[]): KeyPath {
  return path.map((part) => (typeof part === 'symbol' ? String(part) : part));
}
