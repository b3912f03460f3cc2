import { type ClientConfigKey, clients } from '../clients/clients.ts';
import { isAnchoredPath, list, section, text } from './fields.ts';

const configDirError = 'an absolute path or one that starts with ~/';

const configured = clients.flatMap(({ name, title, configKey: key }) =>
  key === undefined ? [] : [{ name, title, key: key as ClientConfigKey }],
);

function ofOne(title: string) {
  return section({
    configDirs: list(
      text(configDirError).refine(isAnchoredPath, { error: configDirError }),
      'paths, absolute or starting with ~/',
    )
      .default([])
      .describe(`Further config directories of ${title} in which agents are looked for, besides the user's own.`),
  })
    .prefault({})
    .describe(`${title}.`);
}

export const clientSections = section(
  Object.fromEntries(configured.map(({ key, title }) => [key, ofOne(title)])) as Record<
    ClientConfigKey,
    ReturnType<typeof ofOne>
  >,
)
  .prefault({})
  .describe('What Watchkeeper has to know about the agent clients of this machine.');

type Sections = Record<ClientConfigKey, { configDirs: string[] }>;

export const configDirKeys = configured.map(({ key }) => `clients.${key}.configDirs` as const);

/** Those of the client with this name. */
export function configDirsOf(sections: Sections, client: string): readonly string[] {
  const key = configured.find(({ name }) => name === client)?.key;
  return key === undefined ? [] : sections[key].configDirs;
}
