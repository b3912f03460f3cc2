// The programs a test run starts. Each leads a process group of its own, so that Ctrl-C reaches it through us alone, once,
// and whatever it started can be ended with it.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

const graceMs = 15_000;
const running = new Set();
let stopped = false;

export function wasStopped() {
  return stopped;
}

export function stopAll() {
  if (stopped) return;
  stopped = true;
  for (const child of running) end(child);
}

/** First the polite signal, so that a test run can stop its servers. */
function end(child) {
  signalGroup(child, 'SIGINT');
  setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs).unref();
}

function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Gone by itself.
  }
}

/**
 * Runs a program in the project's folder. `show`: its output goes straight to the terminal, otherwise it is returned.
 * `code` is null when it could not start, was killed, or took longer than `limitMs`.
 */
export function run(file, args, { env = process.env, show = false, limitMs, cwd = root }) {
  return new Promise((resolve) => {
    const stdio = show ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'];
    const child = spawn(file, args, { cwd, env, stdio, detached: true });
    running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const timer = setTimeout(() => {
      output += `not finished after ${Math.round(limitMs / 1000)} s\n`;
      if (show) process.stderr.write(output);
      end(child);
    }, limitMs);
    const done = (code) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code, output });
    };
    child.on('error', (error) => {
      output += `${error.message}\n`;
      done(null);
    });
    child.on('close', done);
    if (stopped) end(child);
  });
}

/** The file behind a command of an installed package, wherever PATH points. */
export function program(name, file) {
  return path.join(root, 'node_modules', name, file);
}
