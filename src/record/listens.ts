import net from 'node:net';

const answerMs = 2_000;

/**
 * Does anybody listen at this socket? Also a process of another container, whose pid nobody sees from here: a socket of
 * one that is dead takes no connection.
 */
export function listens(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = net.connect(socket);
    const end = (said: boolean) => {
      connection.destroy();
      resolve(said);
    };
    connection.setTimeout(answerMs, () => end(true));
    connection.once('connect', () => end(true));
    // A full queue is one that somebody keeps.
    connection.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'EAGAIN'));
  });
}
