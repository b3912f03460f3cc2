import { createHash } from 'node:crypto';

export const port = 5432;
export const adminRole = 'wk_admin';
export const daemonRole = 'watchkeeper';
export const database = 'watchkeeper';

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Shown in the title of every server process, so that they can be told apart where /proc/<pid>/cwd is not readable. */
export function clusterName(cluster: string): string {
  return `wk-${shortHash(cluster)}`;
}

export function postgresConf(
  place: { cluster: string; socketDir: string },
  { confDir, major }: { confDir: string; major: string },
): string {
  const values: Record<string, string> = {
    cluster_name: clusterName(place.cluster),
    hba_file: `${confDir}/pg_hba.conf`,
    ident_file: `${confDir}/pg_ident.conf`,
    // No TCP; the socket's directory admits the server's user and root only.
    listen_addresses: '',
    port: String(port),
    // A list of directories, so a comma in the path would split it.
    unix_socket_directories: `"${place.socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    // 18 MB for the whole server instead of 28.
    ...(Number(major) < 18 ? {} : { io_method: 'sync' }),
    max_connections: '40',
    shared_buffers: '32MB',
    max_wal_size: '256MB',
    wal_level: 'minimal',
    max_wal_senders: '0',
    // logind's RemoveIPC takes a user's POSIX shared memory at logout.
    dynamic_shared_memory_type: 'mmap',
    fsync: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    // One file per weekday, overwritten a week later.
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgresql-%a.log',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    log_truncate_on_rotation: 'on',
    log_timezone: 'UTC',
  };
  return lines(Object.entries(values).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`));
}

export const hbaConf = lines(['local all all peer map=wk']);

/**
 * Who becomes a role: whoever starts the server, and root, who can become anybody anyway. Not the server's own user, nor
 * any other.
 */
export function identConf(caller: string | null): string {
  const names = [...new Set([caller, 'root'])].filter((name) => name !== null && !/["\n\r]/.test(name));
  return lines(names.flatMap((name) => [daemonRole, adminRole].map((role) => `wk "${name}" ${role}`)));
}

function lines(all: string[]): string {
  return `${all.join('\n')}\n`;
}
