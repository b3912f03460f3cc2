// The yardstick of `bench -- replay`: reads files in big pieces and does nothing but JSON.parse of every line.
import { closeSync, openSync, readSync } from 'node:fs';

const chunk = Buffer.allocUnsafe(1024 * 1024);
for (const file of process.argv.slice(2)) {
  const handle = openSync(file, 'r');
  let rest = Buffer.alloc(0);
  for (let bytes = readSync(handle, chunk); bytes > 0; bytes = readSync(handle, chunk)) {
    const all = rest.length > 0 ? Buffer.concat([rest, chunk.subarray(0, bytes)]) : chunk.subarray(0, bytes);
    let from = 0;
    for (let end = all.indexOf(10); end >= 0; end = all.indexOf(10, from)) {
      JSON.parse(all.toString('utf8', from, end));
      from = end + 1;
    }
    rest = Buffer.from(all.subarray(from));
  }
  closeSync(handle);
}
