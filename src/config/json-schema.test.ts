import { describe, expect, it } from 'vitest';
import { configJsonSchema } from './json-schema.ts';
import { configKeys } from './narrow.ts';

interface Node {
  type?: string;
  description?: string;
  default?: unknown;
  additionalProperties?: unknown;
  properties?: Record<string, Node>;
  items?: Node | false;
  oneOf?: Node[];
}

function visit(node: Node, at: string, see: (node: Node, at: string) => void): void {
  see(node, at);
  for (const [key, child] of Object.entries(node.properties ?? {})) visit(child, `${at}.${key}`, see);
  if (node.items) visit(node.items, `${at}[]`, see);
  for (const option of node.oneOf ?? []) visit(option, at, see);
}

describe('the published JSON Schema', () => {
  const schema: Node & { $schema?: string } = JSON.parse(configJsonSchema());

  it('is draft 2020-12', () => {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  });

  it('describes every key in one sentence', () => {
    const bare: string[] = [];
    visit(schema, '', (node, at) => {
      for (const [key, child] of Object.entries(node.properties ?? {})) {
        if (!/^[A-Z][^.]*([.]\S[^.]*)*\.$/.test(child.description ?? '')) bare.push(`${at}.${key}`);
      }
    });
    expect(bare).toEqual([]);
  });

  it('has no room for unknown keys anywhere', () => {
    visit(schema, '', (node, at) => {
      if (node.type === 'object') expect(node.additionalProperties, at).toBe(false);
    });
  });

  it('has a default for every value, and a narrowing rule for every default', () => {
    const keys: string[] = [];
    const leaf = (node: Node, prefix: string) => {
      for (const [key, child] of Object.entries(node.properties ?? {})) {
        if (child.type === 'object') leaf(child, `${prefix}${key}.`);
        else if (child.default !== undefined) keys.push(`${prefix}${key}`);
      }
    };
    leaf(schema, '');
    expect(keys).toEqual(configKeys);
  });
});
