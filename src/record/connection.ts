import pg from 'pg';

/** A connection for one purpose. Throws, also for a URL that is none. */
export async function connect(url: string, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, ...options });
  client.on('error', () => {});
  try {
    await client.connect();
    await speakPlainly(client);
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Whatever the server or the role is set to, times and bytes come back as they are read here. */
export async function speakPlainly(client: pg.ClientBase): Promise<void> {
  await client.query("SET datestyle TO 'ISO, MDY'; SET intervalstyle TO 'postgres'; SET bytea_output TO 'hex'");
}

/** A name with several addresses fails with one error for each, and says nothing itself. */
export function reasonOf(error: unknown): string {
  const { message, code, errors } = error as { message?: string; code?: string; errors?: Error[] };
  return message || errors?.[0]?.message || code || String(error);
}
