// One more thread for `replay`: takes one record after the other, and says what it has to say in pieces.
import { parentPort, workerData } from 'node:worker_threads';
import { type PartOptions, type ReplayJob, replayPart } from './part.ts';

const options = workerData as PartOptions;

parentPort?.on('message', async (job: ReplayJob) => {
  const done = await replayPart(job, options, (part) => parentPort?.postMessage({ part }));
  parentPort?.postMessage({ done });
});
