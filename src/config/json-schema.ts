import { z } from 'zod';
import { projectKeys } from './narrow.ts';
import { configSchema } from './schema.ts';

/** The text of schema/watchkeeper.schema.json, for editors. */
export function configJsonSchema(): string {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { target: 'draft-2020-12', io: 'input', reused: 'inline' });
  const document = {
    $schema,
    title: 'Watchkeeper configuration',
    description:
      '~/.config/watchkeeper/config.yaml for the machine, or watchkeeper.yaml in a project for the agents in it, which may ' +
      `only narrow what the machine says: ${projectKeys.join(', ')}.`,
    ...rest,
  };
  // Short lists on one line, as the formatter has them, so that the checked-in file passes the lint as printed.
  const text = JSON.stringify(document, null, 2).replace(
    /\[\n\s+([^[\]{}]*?)\n\s+\]/g,
    (_, items: string) => `[${items.replace(/\n\s+/g, ' ')}]`,
  );
  return `${text}\n`;
}
