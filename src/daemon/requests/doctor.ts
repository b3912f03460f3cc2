import { ok } from '../../model/result.ts';
import { countSources } from '../../watch/agent-sources.ts';
import { defineRequest } from './request.ts';

/** What only the daemon itself knows of how it does. */
export const doctor = defineRequest({
  name: 'doctor',
  who: 'anyone',
  input: {},
  answer: (_, { counters, watcher, saver, journal, acting, missing, config }) =>
    ok({
      counters: counters.all(),
      servers: watcher.servers,
      database: { down: saver.isDown, waiting: journal.pending, failure: journal.failure },
      /** Those used so far. */
      channels: acting.channels.map(({ name, ok: works, reason }) => ({ name, ok: works, reason })),
      config_missing: missing(),
      channels_set: config().notify.length,
      sources: countSources(watcher.views()),
      memory_mb: Math.round(process.memoryUsage.rss() / 1024 / 1024),
      agents: watcher.views().filter((view) => view.reading.state !== 'ended').length,
      holds: watcher.views().map(({ agent }) => ({ agent, ...acting.holdOn(agent) })),
    }),
});
