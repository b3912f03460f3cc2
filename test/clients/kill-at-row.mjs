// Loaded into a daemon under test: once the file is there, kills it just before it sends its database the last of the
// statements that the file lists, in their order. To the database it is as if the power had gone.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';

const file = process.env.KILL_AT_ROW ?? '';
const { write } = net.Socket.prototype;
let passed = 0;

net.Socket.prototype.write = function (chunk, ...rest) {
  if (file !== '' && Buffer.isBuffer(chunk) && existsSync(file)) look(chunk.toString('latin1'));
  return write.call(this, chunk, ...rest);
};

function look(sent) {
  const statements = JSON.parse(readFileSync(file, 'utf8'));
  if (!sent.includes(statements[passed])) return;
  passed += 1;
  if (passed < statements.length) return;
  writeFileSync(`${file}.done`, '');
  process.kill(process.pid, 'SIGKILL');
}
