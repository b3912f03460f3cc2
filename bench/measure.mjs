// What a program costs: CPU of all its threads and children, time on the clock, memory at its highest.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Runs it to its end with its output thrown away. */
export function cost(argv, env) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    // The shell's own word on what its children took, grandchildren included.
    const shell = spawn('/bin/sh', ['-c', '"$@" >/dev/null; code=$?; times; exit $code', 'sh', ...argv], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    let wrong = '';
    let peakKb = 0;
    shell.stdout.on('data', (data) => {
      said += data;
    });
    shell.stderr.on('data', (data) => {
      wrong += data;
    });
    const timer = setInterval(() => {
      peakKb = Math.max(peakKb, peakOfChild(shell.pid));
    }, 20);
    shell.on('error', reject);
    shell.on('close', (code) => {
      clearInterval(timer);
      const wallS = (performance.now() - began) / 1000;
      if (code !== 0) return reject(new Error(`${argv.join(' ')} ended with ${code}: ${wrong.slice(-500)}`));
      const times = [...(said.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
      const cpuS = times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
      resolve({ cpuS, wallS, peakMb: peakKb / 1024 });
    });
  });
}

function peakOfChild(pid) {
  try {
    const child = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0];
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
